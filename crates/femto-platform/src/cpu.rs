//! What the operating system tells about the processor.

use crate::device::Cache;
use std::fs::read_to_string;
use std::path::Path;
use std::sync::LazyLock;

/// The processor, asked once per process.
pub(crate) static PROCESSOR: LazyLock<Processor> = LazyLock::new(Processor::detect);

/// The facts that reports and cache keys need.
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
            memory_bytes: memory_bytes(),
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

fn memory_bytes() -> Option<u64> {
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

#[cfg(target_arch = "x86_64")]
fn simd() -> &'static str {
    if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vbmi2") {
        "AVX-512"
    } else if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
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
    fn sizes_have_units() {
        assert_eq!(size("48K"), Some(48 << 10));
        assert_eq!(size("260M"), Some(260 << 20));
        assert_eq!(size("512"), Some(512));
        assert_eq!(size(""), None);
        assert_eq!(size("K"), None);
    }

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let text = "model\t\t: 207\nmodel name\t: Some: Processor\n";
        assert_eq!(field(text, "model name"), Some("Some: Processor"));
        assert_eq!(field(text, "name"), None);
    }

    #[test]
    fn the_processor_has_a_name_and_a_core() {
        assert!(!PROCESSOR.name.is_empty());
        assert!(PROCESSOR.cores >= 1);
    }
}
