//! Signals that stop a command early: Ctrl-C, and those sent by batch systems and closing terminals.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize};

/// SIGHUP; systems without it refuse the handler.
const HANGUP: i32 = 1;

/// What the first signal sets; the second one ends the program.
pub(super) struct Interrupt {
    /// Whether there was one.
    pub(super) flag: Arc<AtomicBool>,
    /// Its number, or 0.
    pub(super) signal: Arc<AtomicUsize>,
}

impl Interrupt {
    pub(super) fn listen() -> Self {
        let it = Self {
            flag: Arc::default(),
            signal: Arc::default(),
        };
        let hangup = (!ignores_hangup()).then_some(HANGUP);
        for signal in [SIGINT, SIGTERM].into_iter().chain(hangup) {
            // In this order, so that the first one does not end the program. On systems without handlers the
            // signals end it, as usual.
            let _ = flag::register_conditional_shutdown(signal, 1, Arc::clone(&it.flag));
            let _ = flag::register_usize(signal, Arc::clone(&it.signal), signal as usize);
            let _ = flag::register(signal, Arc::clone(&it.flag));
        }
        it
    }
}

/// Whether the program was started to ignore SIGHUP, as by `nohup`, if the system tells.
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (HANGUP - 1) & 1 == 1)
}
