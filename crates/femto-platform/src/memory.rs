//! The memory of this process.

/// Peak memory of processes so far, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeakMemory {
    /// This process.
    pub own: u64,
    /// The largest child process, such as a compiler, that has ended; 0 if there is none.
    pub children: u64,
}

/// Peak memory of this process and its children so far, if the system reports it.
#[cfg(target_os = "linux")]
pub fn peak() -> Option<PeakMemory> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let mut lines = status.lines();
    let line = lines.find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    // SAFETY: all zeros are a value of the structure, which the call fills.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage) == 0).then_some(usage)
    };
    let children = usage.map_or(0, |usage| u64::try_from(usage.ru_maxrss).unwrap_or(0));
    Some(PeakMemory {
        own: kibibytes * 1024,
        children: children * 1024,
    })
}

/// Peak memory of this process and its children so far, if the system reports it.
#[cfg(not(target_os = "linux"))]
pub fn peak() -> Option<PeakMemory> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn children_count_when_they_have_ended() {
        let before = peak().unwrap();
        assert!(before.own > 1 << 20);
        // A shell that holds 64 MB in a variable.
        let hold = "x=$(head -c 64000000 /dev/zero | tr '\\0' x); echo ${#x}";
        let output = Command::new("sh").args(["-c", hold]).output().unwrap();
        assert_eq!(output.stdout, b"64000000\n");
        let after = peak().unwrap();
        assert!(after.children > 60 << 20, "{after:?}");
    }
}
