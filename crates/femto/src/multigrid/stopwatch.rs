//! Times of the set-up of levels, by the caller's clock: the library has none.

/// Seconds since any moment.
pub type Clock = fn() -> f64;

/// Adds up the times of levels.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stopwatch {
    clock: Option<Clock>,
    start: f64,
    seconds: Vec<f64>,
}

impl Stopwatch {
    pub(crate) fn new(clock: Option<Clock>) -> Self {
        let mut watch = Self {
            clock,
            ..Self::default()
        };
        watch.start();
        watch
    }

    /// What is done from now on counts for the level of the next [`lap`](Self::lap).
    pub(crate) fn start(&mut self) {
        self.start = self.clock.map_or(0.0, |clock| clock());
    }

    /// What was done since the last call counts for a level, 0 the finest.
    pub(crate) fn lap(&mut self, level: usize) {
        let start = self.start;
        self.start();
        if self.seconds.len() <= level {
            self.seconds.resize(level + 1, 0.0);
        }
        self.seconds[level] += self.start - start;
    }

    /// The time of a level; `None` without a clock.
    pub(crate) fn seconds(&self, level: usize) -> Option<f64> {
        self.clock?;
        self.seconds.get(level).copied()
    }
}
