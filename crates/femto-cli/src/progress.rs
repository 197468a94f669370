//! Progress on a terminal; nothing in a pipe.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};

/// Between redraws of the line at work.
const TICK: Duration = Duration::from_millis(100);

/// The stages of a long command: a line each once it is done, the one at work as a spinner. It also
/// keeps how long they took.
///
/// Drawn on the standard error, and only if that is a terminal.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    stage: Option<(String, Instant)>,
    done: Vec<(String, f64)>,
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
        Self {
            bar,
            stage: None,
            done: Vec::new(),
        }
    }

    /// Ends the stage at work, if any, and begins the next.
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

    /// Says how far the stage at work is. `detail` is only asked where somebody looks.
    pub fn detail(&self, detail: impl FnOnce() -> String) {
        if let Some((name, _)) = &self.stage
            && !self.bar.is_hidden()
        {
            self.bar.set_message(format!("{name}: {}", detail()));
        }
    }

    /// Leaves a line, where somebody looks.
    pub fn note(&self, note: impl FnOnce() -> String) {
        if !self.bar.is_hidden() {
            self.bar.println(format!("  {}", note()));
        }
    }

    /// Ends the stage at work, if any.
    pub fn end_stage(&mut self) {
        if let Some((name, start)) = self.stage.take() {
            let seconds = start.elapsed().as_secs_f64();
            self.bar.println(format!("  {name} ({seconds:.2} s)"));
            self.done.push((name, seconds));
        }
    }

    /// The stages that have ended, with their seconds.
    pub fn done(&self) -> &[(String, f64)] {
        &self.done
    }

    /// Ends the stage at work, if any, and clears the line.
    pub fn finish(&mut self) {
        self.end_stage();
        self.bar.finish_and_clear();
    }
}

impl Drop for Progress {
    /// A failed command leaves no spinner behind.
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
