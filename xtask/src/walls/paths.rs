//! Paths in the documents must exist, so that the documents cannot go stale.

use anyhow::Result;

/// Made by commands, so missing in a fresh clone.
const MADE: [&str; 2] = [".cache/", "target/"];

const DOCUMENTS: &[&str] = &["ARCHITECTURE.md", "README.md", "CONTRIBUTING.md"];

pub(super) fn faults() -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for document in DOCUMENTS {
        let Ok(text) = crate::read(document) else {
            faults.push(format!("{document} is missing"));
            continue;
        };
        for (index, line) in text.lines().enumerate() {
            let missing = paths(line).filter(|path| !crate::root().join(path).exists());
            faults.extend(
                missing.map(|path| format!("{document}:{}: there is no {path}", index + 1)),
            );
        }
    }
    Ok(faults)
}

/// Text that looks like a path of this repository: `in/backticks` or a [link](to/it).
fn paths(line: &str) -> impl Iterator<Item = &str> {
    let quoted = line
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|text| text.contains('/'));
    let linked = line
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split([')', '#']).next());
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    let outside = |text: &str| text.starts_with(['/', '-']) || text.starts_with("..");
    let made = |text: &str| MADE.iter().any(|folder| text.starts_with(folder));
    quoted.chain(linked).filter(move |text| {
        !text.is_empty() && text.chars().all(plain) && !outside(text) && !made(text)
    })
}
