//! Kernels that count their accesses to memory.
//!
//! What compilers make of a text decides how often it accesses memory: they keep numbers in registers, and read neighbours
//! at once. So accesses are counted in PTX: [`with_counters`] adds the functions of `counting.c` to a CUDA text;
//! [`counted`] lets its kernels call these before each access. A kernel then counts the wavefronts of the L1 data path
//! ([`crate::roofline::Wavefronts`]) on the caller's own mesh, with results as before. What the assembler changes is
//! not seen: it, too, reads neighbours at once and keeps registers in memory. Nor are functions that are not inlined.

use core::fmt::Write;

/// The kernel that moves the counts to an array of doubles, wavefronts of shared memory, of global memory and of
/// reductions: one block of [`COUNTS`] threads.
pub const TAKE_COUNTS: &str = "take_counts";
/// Number of counts.
pub const COUNTS: usize = 3;

/// A CUDA text, with the functions that count.
pub fn with_counters(text: &str) -> String {
    let counters = include_str!("counting.c");
    format!("{text}\n#line 1 \"dialect/counting.c\"\n{counters}")
}

/// An instruction that may access memory, in a form that is not known here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the PTX accesses memory in an unknown way: {text}")]
pub struct UnknownAccess {
    /// Counted from one.
    pub line: usize,
    /// The line.
    pub text: String,
}

/// The PTX of such a text, with a call before each access of its kernels.
///
/// # Errors
/// An access that cannot be read.
pub fn counted(ptx: &str) -> Result<String, UnknownAccess> {
    let mut all = String::with_capacity(2 * ptx.len());
    let (mut in_kernel, mut depth) = (false, 0);
    for (number, line) in ptx.lines().enumerate() {
        if let Some((_, name)) = line.split_once(".entry ") {
            (in_kernel, depth) = (!name.starts_with(TAKE_COUNTS), 0);
        }
        let access = match in_kernel && depth > 0 {
            true => Access::parse(line).map_err(|Unknown| UnknownAccess {
                line: number + 1,
                text: line.trim().to_owned(),
            })?,
            false => None,
        };
        if let Some(access) = access {
            access.write_call(number, &mut all);
        }
        let before = depth;
        depth += line.matches('{').count();
        depth = depth.saturating_sub(line.matches('}').count());
        in_kernel &= depth > 0 || before == 0;
        all.push_str(line);
        all.push('\n');
    }
    Ok(all)
}

/// A state space of PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StateSpace {
    Shared,
    Global,
    Local,
    Generic,
}

/// An address: a register or symbol, and what is added to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Address<'a> {
    space: StateSpace,
    base: &'a str,
    offset: &'a str,
}

/// An instruction that accesses memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Access<'a> {
    /// The predicate that decides whether it is executed, such as `%p1` or `!%p1`.
    guard: Option<&'a str>,
    address: Address<'a>,
    /// Of a copy.
    source: Option<Address<'a>>,
    bytes: u32,
    reduces: bool,
}

/// An access that cannot be read.
#[derive(Debug, PartialEq, Eq)]
struct Unknown;

impl<'a> Access<'a> {
    /// The access of an instruction, if it has one that passes the L1 data path.
    fn parse(line: &'a str) -> Result<Option<Self>, Unknown> {
        let mut rest = line.trim();
        let mut guard = None;
        if let Some(guarded) = rest.strip_prefix('@') {
            let (name, instruction) = guarded.split_once(char::is_whitespace).ok_or(Unknown)?;
            (guard, rest) = (Some(name), instruction.trim_start());
        }
        let Some((name, operands)) = rest.split_once(char::is_whitespace) else {
            return Ok(None);
        };
        let words = || {
            name.split('.')
                .map(|word| word.split("::").next().unwrap_or(word))
        };
        let has = |wanted: &str| words().any(|word| word == wanted);
        let kind = words().next().unwrap_or_default();
        match kind {
            "ld" | "st" | "red" | "atom" if has("param") || has("const") => return Ok(None),
            "ld" | "st" | "red" | "atom" => {}
            "cp" if has("wait_group") || has("commit_group") => return Ok(None),
            "cp" if !has("bulk") => {}
            "ldu" | "ldmatrix" | "stmatrix" | "multimem" | "cp" => return Err(Unknown),
            _ => return Ok(None),
        }
        // One instruction a line.
        let operands = operands.trim().strip_suffix(';').ok_or(Unknown)?;
        if operands.contains(';') {
            return Err(Unknown);
        }
        let mut texts = operands.split('[').skip(1);
        let mut address = |space| {
            let text = texts.next().and_then(|it| it.split(']').next());
            text.map(|it| Address::parse(space, it)).ok_or(Unknown)
        };
        if kind == "cp" {
            let address = (address(StateSpace::Shared)?, address(StateSpace::Global)?);
            let size = operands.rsplit(']').next().unwrap_or_default();
            let size = size.split(',').nth(1).ok_or(Unknown)?;
            return Ok(Some(Self {
                guard,
                address: address.0,
                source: Some(address.1),
                bytes: size.trim().parse().map_err(|_| Unknown)?,
                reduces: false,
            }));
        }
        let space = match () {
            () if has("shared") => StateSpace::Shared,
            () if has("global") => StateSpace::Global,
            () if has("local") => StateSpace::Local,
            () => StateSpace::Generic,
        };
        let vector = words().find_map(|word| word.strip_prefix('v')?.parse().ok());
        Ok(Some(Self {
            guard,
            address: address(space)?,
            source: None,
            bytes: bytes(words().next_back()).ok_or(Unknown)? * vector.unwrap_or(1),
            reduces: matches!(kind, "red" | "atom"),
        }))
    }

    /// A call that notes the access, if it is executed, as that of a `site` of its own.
    fn write_call(&self, site: usize, to: &mut String) {
        if let Some(guard) = self.guard {
            let opposite = match guard.strip_prefix('!') {
                Some(name) => name.to_owned(),
                None => format!("!{guard}"),
            };
            _ = writeln!(to, "@{opposite} bra $NOTED_{site};");
        }
        to.push_str("{\n.reg .b64 %place;\n.reg .b32 %number;\n");
        to.push_str(".param .b64 noted0, noted1;\n.param .b32 noted2, noted3, noted4;\n");
        let mut number = |parameter: &str, value: usize| {
            _ = writeln!(to, "st.param.b32 [{parameter}], {value};");
        };
        number("noted2", self.bytes as usize);
        number("noted3", site);
        number("noted4", self.reduces.into());
        self.address.write("noted0", to);
        match self.source {
            Some(source) => {
                source.write("noted1", to);
                to.push_str("call note_copy, (noted0, noted1, noted2, noted3);\n");
            }
            None => to.push_str("call note_access, (noted0, noted2, noted3, noted4);\n"),
        }
        to.push_str("}\n");
        if self.guard.is_some() {
            _ = writeln!(to, "$NOTED_{site}:");
        }
    }
}

impl<'a> Address<'a> {
    fn parse(space: StateSpace, text: &'a str) -> Self {
        let (base, offset) = text.split_once('+').unwrap_or((text, "0"));
        Self {
            space,
            base: base.trim(),
            offset: offset.trim(),
        }
    }

    /// Writes the generic address to a parameter.
    fn write(&self, parameter: &str, to: &mut String) {
        let (base, offset) = (self.base, self.offset);
        if base.starts_with("%r") && !base.starts_with("%rd") {
            // Short addresses wrap around.
            _ = writeln!(to, "add.s32 %number, {base}, {offset};");
            to.push_str("cvt.u64.u32 %place, %number;\n");
        } else {
            _ = writeln!(to, "mov.u64 %place, {base};");
            _ = writeln!(to, "add.s64 %place, %place, {offset};");
        }
        let space = match self.space {
            StateSpace::Shared => Some("shared"),
            StateSpace::Global => Some("global"),
            StateSpace::Local => Some("local"),
            StateSpace::Generic => None,
        };
        if let Some(space) = space {
            _ = writeln!(to, "cvta.{space}.u64 %place, %place;");
        }
        _ = writeln!(to, "st.param.b64 [{parameter}], %place;");
    }
}

/// Bytes of a type, such as `f64`, `b128` or `f16x2`.
fn bytes(name: Option<&str>) -> Option<u32> {
    let bits = name?.get(1..)?;
    let (bits, count) = bits.split_once('x').unwrap_or((bits, "1"));
    Some(bits.parse::<u32>().ok()? / 8 * count.parse::<u32>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(space: StateSpace, base: &'static str, offset: &'static str) -> Address<'static> {
        Address {
            space,
            base,
            offset,
        }
    }

    #[test]
    fn accesses_are_read_from_ptx() {
        let access = |address, bytes| Access {
            guard: None,
            address,
            source: None,
            bytes,
            reduces: false,
        };
        let shared = |base, offset| at(StateSpace::Shared, base, offset);
        let global = |base| at(StateSpace::Global, base, "0");
        let reduction = |address, bytes| Access {
            reduces: true,
            ..access(address, bytes)
        };
        let copy = Access {
            source: Some(global("%rd2")),
            ..access(shared("%r1", "0"), 16)
        };
        let guarded = Access {
            guard: Some("!%p3"),
            ..access(at(StateSpace::Local, "%rd5", "-4"), 4)
        };
        for (line, expected) in [
            (
                "\tld.shared.f64 \t%fd13, [%r32+16];",
                access(shared("%r32", "16"), 8),
            ),
            (
                "ld.volatile.shared::cta.v2.f64 {%fd1, %fd2}, [s_memory+8];",
                access(shared("s_memory", "8"), 16),
            ),
            (
                "ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd5];",
                access(global("%rd5"), 16),
            ),
            ("@!%p3 st.local.u32 [%rd5+-4], %r1;", guarded),
            (
                "atom.global.add.f64 %fd390, [%rd33], %fd1;",
                reduction(global("%rd33"), 8),
            ),
            (
                "red.relaxed.gpu.global.add.noftz.f16x2 [%rd1], %r1;",
                reduction(global("%rd1"), 4),
            ),
            ("cp.async.ca.shared.global [%r1], [%rd2], 16;", copy),
            (
                "cp.async.cg.shared::cta.global [%r1], [%rd2], 16, %r9;",
                copy,
            ),
            (
                "ld.u16 %rs1, [%rd1];",
                access(at(StateSpace::Generic, "%rd1", "0"), 2),
            ),
        ] {
            assert_eq!(Access::parse(line), Ok(Some(expected)), "{line}");
        }
        for line in [
            "ld.param.u64 %rd1, [apply_param_0];",
            "st.param::func.b32 [param0], %r1;",
            "ld.const.f64 %fd1, [c_points+8];",
            "cp.async.wait_all;",
            "mov.u64 %rd1, s_memory;",
            "{",
            "",
        ] {
            assert_eq!(Access::parse(line), Ok(None), "{line}");
        }
        for line in [
            "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r5];",
            "cp.async.bulk.shared::cluster.global.mbarrier [%r1], [%rd1], 16, [%r2];",
            "ld.global.f64 %fd1, [%rd1]; ld.global.f64 %fd2, [%rd2];",
            "ld.global.pred %p1, [%rd1];",
        ] {
            assert_eq!(Access::parse(line), Err(Unknown), "{line}");
        }
    }

    #[test]
    fn only_kernels_of_the_text_are_counted() {
        let access = "ld.global.f64 %fd1, [%rd1];";
        let text = format!(
            ".func note_access(\n)\n{{\n{access}\n}}\n.visible .entry apply(\n)\n{{\n{{\n}}\n@%p1 {access}\n}}\n\
             .visible .entry take_counts(\n)\n{{\n{access}\n}}\n"
        );
        let counted = counted(&text).unwrap();
        assert_eq!(counted.matches("call note_access").count(), 1);
        let (before, after) = counted.split_once("call note_access").unwrap();
        assert!(before.contains(".entry apply") && before.contains("@!%p1 bra $NOTED_10;"));
        assert!(after.contains("$NOTED_10:\n@%p1 ld.global"));
    }

    #[test]
    fn an_unknown_access_is_an_error_with_its_line() {
        let text = ".visible .entry apply(\n)\n{\n  ldu.global.f64 %fd1, [%rd1];\n}\n";
        let error = counted(text).unwrap_err();
        assert_eq!((error.line, &error.text[..4]), (4, "ldu."));
    }
}
