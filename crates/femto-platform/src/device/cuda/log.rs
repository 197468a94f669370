//! Registers and spills, read from the log of NVIDIA's assembler.

/// Resources of a kernel, as reported by `--ptxas-options=-v`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryUsage {
    /// The name of the kernel.
    pub entry: String,
    /// 32-bit registers per thread.
    pub registers: u32,
    /// Bytes of stack per thread, including spilled registers.
    pub stack_bytes: u32,
    /// Bytes stored per thread for lack of registers.
    pub spill_stores: u32,
    /// Bytes loaded again per thread.
    pub spill_loads: u32,
    /// Bytes of shared memory of a block, as fixed by the text.
    pub shared_bytes: u32,
}

/// The kernels of a log, in its order.
///
/// Its format, in which other lines may be interspersed:
/// ```text
/// ptxas info    : Compiling entry function 'axpy' for 'sm_90'
/// ptxas info    : Function properties for axpy
///     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
/// ptxas info    : Used 12 registers, used 0 barriers, 1024 bytes smem, 400 bytes cmem[0]
/// ```
pub(super) fn entry_usage(log: &str) -> Vec<EntryUsage> {
    let mut entries: Vec<EntryUsage> = Vec::new();
    // Properties are also reported for functions that are not inlined.
    let mut of_entry = false;
    for line in log.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            let entry = rest.split('\'').next().unwrap_or_default().to_owned();
            entries.push(EntryUsage {
                entry,
                ..EntryUsage::default()
            });
        }
        let Some(last) = entries.last_mut() else {
            continue;
        };
        if let Some((_, function)) = line.split_once("Function properties for ") {
            of_entry = function.trim() == last.entry;
        }
        if of_entry && let Some(bytes) = before(line, " bytes stack frame") {
            last.stack_bytes = bytes;
            last.spill_stores = before(line, " bytes spill stores").unwrap_or(0);
            last.spill_loads = before(line, " bytes spill loads").unwrap_or(0);
        }
        if line.contains("Used ")
            && let Some(registers) = before(line, " registers")
        {
            last.registers = registers;
            last.shared_bytes = before(line, " bytes smem").unwrap_or(0);
        }
    }
    entries
}

/// The number right before `unit`.
fn before(line: &str, unit: &str) -> Option<u32> {
    let (start, _) = line.split_once(unit)?;
    let digits = start.rsplit(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read() {
        let log = "\
ptxas info    : 0 bytes gmem, 512 bytes cmem[3]
ptxas info    : Compiling entry function 'apply' for 'sm_90'
ptxas info    : Function properties for apply
    152 bytes stack frame, 148 bytes spill stores, 160 bytes spill loads
ptxas info    : Function properties for helper
    8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 128 registers, used 1 barriers, 152 bytes cumulative stack size, 4096 bytes smem
ptxas info    : Compile time = 12.345 ms
ptxas info    : Compiling entry function 'zero' for 'sm_90'
ptxas info    : Function properties for zero
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers, 536 bytes cmem[0]
";
        let apply = EntryUsage {
            entry: "apply".to_owned(),
            registers: 128,
            stack_bytes: 152,
            spill_stores: 148,
            spill_loads: 160,
            shared_bytes: 4096,
        };
        let zero = EntryUsage {
            entry: "zero".to_owned(),
            registers: 8,
            ..EntryUsage::default()
        };
        assert_eq!(entry_usage(log), [apply, zero]);
        assert_eq!(entry_usage("nothing of this kind"), []);
    }
}
