//! Progress on a terminal; nothing in a pipe.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};

/// Time between redraws of the current line.
const TICK: Duration = Duration::from_millis(100);

/// The stages of a long command: one line for each finished stage, a spinner for the current one. Also
/// records the stages' times.
///
/// Drawn on standard error, and only if that is a terminal.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    stage: Option<(String, Instant)>,
    done: Vec<(String, f64)>,
}

impl Progress {
    /// Progress shown if `wanted` and on a terminal.
    pub fn new(wanted: bool) -> Self {
        let target = match wanted {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
            bar.set_style(style);
        }
        Self {
            bar,
            stage: None,
            done: Vec::new(),
        }
    }

    /// Ends the current stage, if any, and begins the next.
    #[expect(
        clippy::disallowed_methods,
        reason = "people want to know how long it took"
    )]
    pub fn stage(&mut self, name: impl Into<String>) {
        self.end_stage();
        let name = name.into();
        if !self.bar.is_hidden() {
            self.bar.set_message(name.clone());
            self.bar.enable_steady_tick(TICK);
        }
        self.stage = Some((name, Instant::now()));
    }

    /// Shows the current stage's progress. `detail` is only called if it is displayed.
    pub fn detail(&self, detail: impl FnOnce() -> String) {
        if let Some((name, _)) = &self.stage
            && !self.bar.is_hidden()
        {
            self.bar.set_message(format!("{name}: {}", detail()));
        }
    }

    /// Prints a permanent line, if displayed.
    pub fn note(&self, note: impl FnOnce() -> String) {
        if !self.bar.is_hidden() {
            self.bar.println(format!("  {}", note()));
        }
    }

    /// Ends the current stage, if any.
    pub fn end_stage(&mut self) {
        if let Some((name, start)) = self.stage.take() {
            let seconds = start.elapsed().as_secs_f64();
            self.bar.println(format!("  {name} ({seconds:.2} s)"));
            self.done.push((name, seconds));
        }
    }

    /// The finished stages, with their seconds.
    pub fn done(&self) -> &[(String, f64)] {
        &self.done
    }

    /// Ends the current stage, if any, and clears the line.
    pub fn finish(&mut self) {
        self.end_stage();
        self.bar.finish_and_clear();
    }
}

impl Drop for Progress {
    /// A failed command must leave no spinner behind.
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
