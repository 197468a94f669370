//! Kernels that count their accesses to memory.
//!
//! What compilers make of a text decides how often it accesses memory: they keep numbers in registers, and read neighbours
//! at once. So accesses are counted in the assembly, PTX: [`with_counters`] adds the functions of `counting.c` to a
//! text; [`counted`] lets its kernels call these before each access. A kernel then counts the wavefronts of the L1
//! data path ([`crate::roofline::Wavefronts`]) on the caller's own data, with results as before. What the assembler changes is
//! not seen: it, too, reads neighbours at once and keeps registers in memory.

use core::fmt::Write;

/// The kernel that moves the counts to an array of doubles, wavefronts of shared memory, of global memory and of reductions:
/// one block of [`COUNTS`] threads.
pub const TAKE_COUNTS: &str = "take_counts";
/// Number of counts.
pub const COUNTS: usize = 3;

/// A CUDA text, with the functions that count.
pub fn with_counters(text: &str) -> String {
    let counters = include_str!("counting.c");
    format!("{text}\n#line 1 \"dialect/counting.c\"\n{counters}")
}

/// The assembly of such a text, with a call before each access of its kernels.
pub fn counted(assembly: &str) -> String {
    let mut all = String::with_capacity(2 * assembly.len());
    let mut in_kernel = false;
    for (site, line) in assembly.lines().enumerate() {
        if let Some((_, name)) = line.split_once(".entry ") {
            in_kernel = !name.starts_with(TAKE_COUNTS);
        } else if line.starts_with('}') {
            in_kernel = false;
        }
        if let Some(access) = in_kernel.then(|| Access::parse(line)).flatten() {
            access.write_call(site, &mut all);
        }
        all.push_str(line);
        all.push('\n');
    }
    all
}

/// A state space of PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Space {
    Shared,
    Global,
    Local,
    Generic,
}

/// An address: a register or symbol, and what is added to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Address<'a> {
    space: Space,
    base: &'a str,
    offset: &'a str,
}

/// An instruction that accesses memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Access<'a> {
    /// The predicate that decides whether it is executed, such as `%p1` or `!%p1`.
    guard: Option<&'a str>,
    place: Address<'a>,
    /// Of a copy.
    source: Option<Address<'a>>,
    bytes: u32,
    reduces: bool,
}

impl<'a> Access<'a> {
    /// The access of an instruction, if it has one that passes the L1 data path.
    fn parse(line: &'a str) -> Option<Self> {
        let mut rest = line.trim();
        let mut guard = None;
        if let Some(guarded) = rest.strip_prefix('@') {
            let (name, instruction) = guarded.split_once(char::is_whitespace)?;
            (guard, rest) = (Some(name), instruction.trim_start());
        }
        let (name, operands) = rest.split_once(char::is_whitespace)?;
        let mut words = name.split('.');
        let kind = words.next()?;
        let has = |word: &str| name.split('.').any(|it| it == word);
        let mut addresses = operands.split('[').skip(1);
        let mut address = |space| Some(Address::parse(space, addresses.next()?.split(']').next()?));
        if kind == "cp" && has("shared") && has("global") {
            let (place, source) = (address(Space::Shared)?, address(Space::Global)?);
            let bytes = operands.rsplit(',').next()?.trim().trim_end_matches(';');
            return Some(Self {
                guard,
                place,
                source: Some(source),
                bytes: bytes.parse().ok()?,
                reduces: false,
            });
        }
        let reduces = matches!(kind, "red" | "atom");
        if !(reduces || matches!(kind, "ld" | "st")) || has("param") || has("const") {
            return None;
        }
        let space = match () {
            () if has("shared") => Space::Shared,
            () if has("global") => Space::Global,
            () if has("local") => Space::Local,
            () => Space::Generic,
        };
        let number = |word: &str| word.get(1..)?.parse::<u32>().ok();
        let bits = number(words.clone().next_back()?)?;
        let vector = words.find(|word| word.starts_with('v')).and_then(number);
        Some(Self {
            guard,
            place: address(space)?,
            source: None,
            bytes: bits / 8 * vector.unwrap_or(1),
            reduces,
        })
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
            _ = writeln!(to, "mov.u32 %number, {value};");
            _ = writeln!(to, "st.param.b32 [{parameter}], %number;");
        };
        number("noted2", self.bytes as usize);
        number("noted3", site);
        number("noted4", self.reduces.into());
        self.place.write("noted0", to);
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
    fn parse(space: Space, text: &'a str) -> Self {
        let (base, offset) = text.split_once('+').unwrap_or((text, "0"));
        Self {
            space,
            base: base.trim(),
            offset: offset.trim(),
        }
    }

    /// Writes the generic address to a parameter.
    fn write(&self, parameter: &str, to: &mut String) {
        let is_short = self.base.starts_with("%r") && !self.base.starts_with("%rd");
        let copy = if is_short { "cvt.u64.u32" } else { "mov.u64" };
        _ = writeln!(to, "{copy} %place, {};", self.base);
        _ = writeln!(to, "add.s64 %place, %place, {};", self.offset);
        let space = match self.space {
            Space::Shared => Some("shared"),
            Space::Global => Some("global"),
            Space::Local => Some("local"),
            Space::Generic => None,
        };
        if let Some(space) = space {
            _ = writeln!(to, "cvta.{space}.u64 %place, %place;");
        }
        _ = writeln!(to, "st.param.b64 [{parameter}], %place;");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(space: Space, base: &'static str, offset: &'static str) -> Address<'static> {
        Address {
            space,
            base,
            offset,
        }
    }

    #[test]
    fn accesses_are_read_from_assembly() {
        let access = |place, bytes| Access {
            guard: None,
            place,
            source: None,
            bytes,
            reduces: false,
        };
        let known = [
            (
                "\tld.shared.f64 \t%fd13, [%r32+16];",
                access(at(Space::Shared, "%r32", "16"), 8),
            ),
            (
                "ld.global.nc.v2.f64 {%fd1, %fd2}, [%rd5];",
                access(at(Space::Global, "%rd5", "0"), 16),
            ),
            (
                "@!%p3 st.local.u32 [%rd5+-4], %r1;",
                Access {
                    guard: Some("!%p3"),
                    ..access(at(Space::Local, "%rd5", "-4"), 4)
                },
            ),
            (
                "atom.global.add.f64 %fd390, [%rd33], %fd1;",
                Access {
                    reduces: true,
                    ..access(at(Space::Global, "%rd33", "0"), 8)
                },
            ),
            (
                "cp.async.ca.shared.global [%r1], [%rd2], 16;",
                Access {
                    source: Some(at(Space::Global, "%rd2", "0")),
                    ..access(at(Space::Shared, "%r1", "0"), 16)
                },
            ),
            (
                "ld.u16 %rs1, [%rd1];",
                access(at(Space::Generic, "%rd1", "0"), 2),
            ),
        ];
        for (line, expected) in known {
            assert_eq!(Access::parse(line), Some(expected), "{line}");
        }
        for line in [
            "ld.param.u64 %rd1, [apply_param_0];",
            "ld.const.f64 %fd1, [c_points+8];",
            "cp.async.wait_all;",
            "mov.u64 %rd1, s_memory;",
            "{",
            "",
        ] {
            assert_eq!(Access::parse(line), None, "{line}");
        }
    }

    #[test]
    fn only_kernels_of_the_text_are_counted() {
        let access = "ld.global.f64 %fd1, [%rd1];";
        let text = format!(
            ".func note_access(\n)\n{{\n{access}\n}}\n.visible .entry apply(\n)\n{{\n@%p1 {access}\n}}\n\
             .visible .entry take_counts(\n)\n{{\n{access}\n}}\n"
        );
        let counted = counted(&text);
        assert_eq!(counted.matches("call note_access").count(), 1);
        let (before, after) = counted.split_once("call note_access").unwrap();
        assert!(before.contains(".entry apply") && before.contains("@!%p1 bra $NOTED_8;"));
        assert!(after.contains("$NOTED_8:\n@%p1 ld.global"));
    }
}
