//! The processor's name, cores and limits, as reported by the operating system.

use crate::device::Cache;
use std::fs::read_to_string;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The processor, asked once per process.
pub(crate) static PROCESSOR: LazyLock<Processor> = LazyLock::new(Processor::detect);

/// The facts needed by reports and cache keys.
#[derive(Debug)]
pub(crate) struct Processor {
    pub(crate) name: String,
    pub(crate) cores: usize,
    pub(crate) simd: &'static str,
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) caches: Vec<Cache>,
}

impl Processor {
    fn detect() -> Self {
        Self {
            name: name(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            simd: simd(),
            memory_bytes: allowed_memory(),
            caches: caches(),
        }
    }
}

fn name() -> String {
    let model = read_to_string("/proc/cpuinfo")
        .ok()
        .and_then(|text| field(&text, "model name").map(str::to_owned));
    model.unwrap_or_else(|| format!("{} processor", std::env::consts::ARCH))
}

/// The memory that this process may use: the machine's, or less if its control group says so.
fn allowed_memory() -> Option<u64> {
    let groups = read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = cgroup_limits(&groups, Path::new("/sys/fs/cgroup"));
    let limits = limits.iter().filter_map(|file| read_to_string(file).ok());
    smallest(machine_memory(), limits)
}

/// The minimum of `memory` and the numeric limits; others read `max`.
fn smallest(memory: Option<u64>, limits: impl Iterator<Item = String>) -> Option<u64> {
    let limits = limits.filter_map(|limit| limit.trim().parse().ok());
    memory.into_iter().chain(limits).min()
}

/// Files that may hold the memory limit of a process whose /proc/self/cgroup reads `groups`: those of its
/// own control group and of all groups above, each of which may limit it.
///
/// Lines are `0::/path` in version 2 and `number:controllers:/path` in version 1 (cgroups(7)).
fn cgroup_limits(groups: &str, root: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else {
            continue;
        };
        let (top, file) = match controllers {
            "" => (root.to_owned(), "memory.max"),
            v1 if v1.split(',').any(|name| name == "memory") => {
                (root.join("memory"), "memory.limit_in_bytes")
            }
            _ => continue,
        };
        let group = top.join(path.trim_start_matches('/'));
        let groups = group
            .ancestors()
            .take_while(|folder| folder.starts_with(&top));
        files.extend(groups.map(|folder| folder.join(file)));
    }
    files
}

fn machine_memory() -> Option<u64> {
    let text = read_to_string("/proc/meminfo").ok()?;
    let kibibytes: u64 = field(&text, "MemTotal")?
        .split_whitespace()
        .next()?
        .parse()
        .ok()?;
    kibibytes.checked_mul(1024)
}

/// The value of the first `key : value` line.
fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(found, _)| found.trim() == key)
        .map(|(_, value)| value.trim())
}

fn caches() -> Vec<Cache> {
    let root = Path::new("/sys/devices/system/cpu/cpu0/cache");
    (0..8)
        .map_while(|index| cache(&root.join(format!("index{index}"))))
        .flatten()
        .collect()
}

/// `None` past the last cache; `Some(None)` for one that holds no data.
fn cache(folder: &Path) -> Option<Option<Cache>> {
    let read = |file| read_to_string(folder.join(file)).ok();
    let kind = read("type")?;
    let level = read("level")?.trim().parse().ok()?;
    let bytes = size(read("size")?.trim())?;
    Some((kind.trim() != "Instruction").then_some(Cache { level, bytes }))
}

/// `48K`, `260M` or a plain number in bytes.
fn size(text: &str) -> Option<u64> {
    let (digits, factor) = match text.as_bytes().last()? {
        b'K' => (&text[..text.len() - 1], 1 << 10),
        b'M' => (&text[..text.len() - 1], 1 << 20),
        b'G' => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// Whether the processor has all of these.
#[cfg(target_arch = "x86_64")]
macro_rules! has {
    ($($feature:tt)*) => { $(is_x86_feature_detected!($feature))&&* };
}

/// The vector instructions of the host's loops. They are dispatched by `fearless_simd`, whose levels
/// `Avx512` (Ice Lake) and `Avx2` require exactly these features; a test of the crate `femto` compares the
/// two.
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
fn simd() -> &'static str {
    if has!(
        "adx" "aes" "avx512bitalg" "avx512bw" "avx512cd" "avx512dq" "avx512f" "avx512ifma"
        "avx512vbmi" "avx512vbmi2" "avx512vl" "avx512vnni" "avx512vpopcntdq" "bmi1" "bmi2"
        "cmpxchg16b" "fma" "fxsr" "gfni" "lzcnt" "movbe" "pclmulqdq" "popcnt" "rdrand" "rdseed"
        "sha" "vaes" "vpclmulqdq" "xsave" "xsavec" "xsaveopt" "xsaves"
    ) {
        "AVX-512"
    } else if has!(
        "avx2" "bmi1" "bmi2" "cmpxchg16b" "f16c" "fma" "fxsr" "lzcnt" "movbe" "popcnt" "xsave"
    ) {
        "AVX2"
    } else {
        "SSE2"
    }
}

#[cfg(target_arch = "aarch64")]
fn simd() -> &'static str {
    "NEON"
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn simd() -> &'static str {
    "scalar"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let text = "model\t\t: 207\nmodel name\t: Some: Processor\n";
        assert_eq!(field(text, "model name"), Some("Some: Processor"));
        assert_eq!(field(text, "name"), None);
    }

    #[test]
    fn the_least_limit_counts() {
        let limits = |texts: &[&str]| smallest(Some(100), texts.iter().map(|&t| t.to_owned()));
        assert_eq!(limits(&[]), Some(100));
        assert_eq!(limits(&["max\n", "70\n", "80\n"]), Some(70));
        assert_eq!(limits(&["9223372036854771712\n"]), Some(100));
        assert_eq!(smallest(None, ["7".to_owned()].into_iter()), Some(7));
    }

    #[test]
    fn control_groups_and_those_above_limit_the_memory() {
        let files = |groups| -> Vec<String> {
            let files = cgroup_limits(groups, Path::new("/c"));
            files
                .iter()
                .map(|file| file.display().to_string())
                .collect()
        };
        assert_eq!(files("0::/\n"), ["/c/memory.max"]);
        assert_eq!(
            files("0::/a/b.scope\n"),
            [
                "/c/a/b.scope/memory.max",
                "/c/a/memory.max",
                "/c/memory.max"
            ]
        );
        assert_eq!(
            files("9:cpu,cpuacct:/x\n4:hugetlb,memory:/job\n"),
            [
                "/c/memory/job/memory.limit_in_bytes",
                "/c/memory/memory.limit_in_bytes"
            ]
        );
        assert!(files("").is_empty() && files("garbage\n1:2\n").is_empty());
    }
}
