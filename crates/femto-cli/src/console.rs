//! The console: results go to standard output, as text or JSON; errors go to standard error and, in JSON
//! mode without a report, also to standard output.

use crate::failure::Failure;
use serde_json::{Value, json};
use std::fmt::Display;
use std::io::{self, ErrorKind, Write};

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Console {
    json: bool,
}

impl Console {
    /// A console that prints JSON, or text for people.
    pub fn new(json: bool) -> Self {
        Self { json }
    }

    /// Whether results are printed as JSON.
    pub fn is_json(self) -> bool {
        self.json
    }

    /// Prints the result of a command in the requested form.
    ///
    /// # Errors
    /// Standard output cannot be written. A closed pipe is not an error.
    pub fn report(self, text: impl Display, json: impl FnOnce() -> Value) -> Result<(), Failure> {
        let printed = match self.json {
            true => print(&format_args!("{:#}", json())),
            false => print(&text),
        };
        printed.map_err(Failure::Print)
    }

    /// Prints why a command failed.
    pub fn fail(self, failure: &Failure) {
        // If even this cannot be printed, only the exit code is left.
        _ = writeln!(io::stderr(), "error: {failure}");
        if !failure.is_reported() {
            self.error(failure.to_string(), failure.exit_code());
        }
    }

    /// Prints an error as JSON, if that is requested.
    pub fn error(self, message: String, exit_code: u8) {
        if self.json {
            let error = json!({ "message": message, "exit_code": exit_code });
            _ = print(&format_args!("{:#}", json!({ "error": error })));
        }
    }
}

fn print(text: &impl Display) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        printed => printed,
    }
}
