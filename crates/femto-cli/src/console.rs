//! The console: results to the standard output, as text or JSON; errors to the
//! standard error, and in JSON mode, where there is no report, also to the standard output.

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

    /// Prints the result of a command in the form that was asked for.
    ///
    /// # Errors
    /// The standard output cannot be written to. A reader that has gone away is no error.
    pub fn report(self, text: impl Display, json: impl FnOnce() -> Value) -> Result<(), Failure> {
        let printed = match self.json {
            true => print(&format_args!("{:#}", json())),
            false => print(&text),
        };
        printed.map_err(Failure::Print)
    }

    /// Prints why a command failed.
    pub fn fail(self, failure: &Failure) {
        // Where even this cannot be printed, the exit code is all that is left to say.
        _ = writeln!(io::stderr(), "error: {failure}");
        if self.json && !failure.is_reported() {
            let error = json!({ "message": failure.to_string(), "exit_code": failure.exit_code() });
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
