//! What is going on, on a terminal; nothing in a pipe.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};

/// Between redraws of the line at work.
const TICK: Duration = Duration::from_millis(100);

/// The stages of a long command: a line each once it is done, the one at work as a spinner.
///
/// Drawn on the standard error, and only if that is a terminal.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    stage: Option<(String, Instant)>,
}

impl Progress {
    /// Progress that is shown, if `wanted`, where there is a terminal.
    pub fn new(wanted: bool) -> Self {
        let target = match wanted {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
            bar.set_style(style);
        }
        Self { bar, stage: None }
    }

    /// Ends the stage at work, if any, and begins the next.
    #[expect(
        clippy::disallowed_methods,
        reason = "people want to know how long it took"
    )]
    pub fn stage(&mut self, name: impl Into<String>) {
        self.end_stage();
        let name = name.into();
        self.bar.set_message(name.clone());
        self.bar.enable_steady_tick(TICK);
        self.stage = Some((name, Instant::now()));
    }

    /// Says how far the stage at work is.
    pub fn detail(&self, detail: &str) {
        if let Some((name, _)) = &self.stage {
            self.bar.set_message(format!("{name}: {detail}"));
        }
    }

    /// Ends the stage at work, if any, and clears the line.
    pub fn finish(&mut self) {
        self.end_stage();
        self.bar.finish_and_clear();
    }

    fn end_stage(&mut self) {
        if let Some((name, start)) = self.stage.take() {
            self.bar
                .println(format!("  {name} ({:.2} s)", start.elapsed().as_secs_f64()));
        }
    }
}

impl Drop for Progress {
    /// A failed command leaves no spinner behind.
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
