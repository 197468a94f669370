//! Recorded registers and spills: a table with a row for each kernel and a column for each compiler
//! and architecture.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;

use anyhow::{Context, Result, bail};

const PATH: &str = "xtask/golden/kernels.tsv";

/// Resources of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Figures {
    /// Registers per thread.
    pub(super) registers: u32,
    /// Bytes stored per thread for lack of registers.
    pub(super) spilled_bytes: u32,
}

impl fmt::Display for Figures {
    /// `128`, or `255+24` with 24 bytes spilled.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.registers)?;
        if self.spilled_bytes > 0 {
            write!(f, "+{}", self.spilled_bytes)?;
        }
        Ok(())
    }
}

impl Figures {
    /// Whether the difference is within NVRTC's variation from run to run: its register allocation depends
    /// on addresses in its memory (up to 4 registers seen).
    fn like(self, other: Self) -> bool {
        let spilled = self.spilled_bytes.max(other.spilled_bytes);
        self.registers.abs_diff(other.registers) <= 8
            && self.spilled_bytes.abs_diff(other.spilled_bytes) <= 32 + spilled / 8
    }

    fn parse(text: &str) -> Result<Self> {
        let (registers, spilled) = text.split_once('+').unwrap_or((text, "0"));
        Ok(Self {
            registers: registers.parse()?,
            spilled_bytes: spilled.parse()?,
        })
    }
}

/// The table: row ("name, tab, entry") and column to figures.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Golden(BTreeMap<(String, String), Figures>);

impl Golden {
    /// The recorded table; empty if there is none.
    pub(super) fn read() -> Result<Self> {
        if !crate::root().join(PATH).exists() {
            return Ok(Self::default());
        }
        Self::parse(&crate::read(PATH)?).with_context(|| format!("{PATH} is damaged"))
    }

    /// Writes the table.
    pub(super) fn write(&self) -> Result<()> {
        fs::write(crate::root().join(PATH), self.to_string())
            .with_context(|| format!("cannot write {PATH}"))
    }

    pub(super) fn insert(&mut self, row: &str, column: &str, figures: Figures) {
        self.0.insert((row.to_owned(), column.to_owned()), figures);
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Replaces old figures by new ones, if there are any. Of the old ones, those of `others` remain, the texts that
    /// were not compiled; those of compilers no longer present are dropped.
    pub(super) fn update(&mut self, found: Self, others: &BTreeSet<String>) {
        if found.0.is_empty() {
            return;
        }
        let columns: BTreeSet<String> = found.0.keys().map(|(_, column)| column.clone()).collect();
        self.0.retain(|(row, column), _| {
            let name = row.split_once('\t').map_or(&**row, |(name, _)| name);
            columns.contains(column) && others.contains(name)
        });
        self.0.extend(found.0);
    }

    /// The number of figures that are not recorded, and those that differ from the record.
    pub(super) fn compare(&self, found: &Self) -> (usize, Vec<String>) {
        let mut missing = 0;
        let mut changes = Vec::new();
        for (key, figures) in &found.0 {
            match self.0.get(key) {
                None => missing += 1,
                Some(recorded) if recorded.like(*figures) => {}
                Some(recorded) => {
                    let row = key.0.replace('\t', ", ");
                    changes.push(format!("{row}, {}: {figures}, was {recorded}", key.1));
                }
            }
        }
        (missing, changes)
    }

    fn parse(text: &str) -> Result<Self> {
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        let head = lines.next().context("a line of columns is missing")?;
        let columns: Vec<&str> = head.split('\t').skip(2).collect();
        let mut table = Self::default();
        for line in lines {
            let mut fields = line.split('\t');
            let (Some(name), Some(entry)) = (fields.next(), fields.next()) else {
                bail!("\"{line}\" has no name and entry");
            };
            for (column, field) in columns.iter().zip(fields) {
                if field != "-" {
                    table.insert(&format!("{name}\t{entry}"), column, Figures::parse(field)?);
                }
            }
        }
        Ok(table)
    }
}

impl fmt::Display for Golden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "# Registers of a thread, and + bytes that it spills; written by cargo xtask kernels --bless"
        )?;
        let columns: BTreeSet<&str> = self.0.keys().map(|(_, column)| &**column).collect();
        let rows: BTreeSet<&str> = self.0.keys().map(|(row, _)| &**row).collect();
        write!(f, "text\tkernel")?;
        for column in &columns {
            write!(f, "\t{column}")?;
        }
        for row in rows {
            write!(f, "\n{row}")?;
            for &column in &columns {
                match self.0.get(&(row.to_owned(), column.to_owned())) {
                    Some(figures) => write!(f, "\t{figures}")?,
                    None => write!(f, "\t-")?,
                }
            }
        }
        writeln!(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(entries: &[(&str, &str, &str)]) -> Golden {
        let mut table = Golden::default();
        for (row, column, figures) in entries {
            table.insert(row, column, Figures::parse(figures).unwrap());
        }
        table
    }

    #[test]
    fn changes_and_gaps_are_told_apart() {
        let mut recorded = table(&[
            ("a\tf", "X", "40"),
            ("b\tf", "X", "50"),
            ("a\tf", "W", "1"),
            ("a\tno longer a kernel", "X", "2"),
            ("other\tf", "X", "3"),
            ("other\tf", "W", "4"),
            ("no longer a text\tf", "X", "5"),
        ]);
        let found = table(&[
            ("a\tf", "X", "49"),
            ("b\tf", "X", "52+8"),
            ("c\tf", "X", "7"),
        ]);
        let (missing, changes) = recorded.compare(&found);
        assert_eq!(
            (missing, changes),
            (1, vec!["a, f, X: 49, was 40".to_owned()])
        );
        let others = BTreeSet::from(["other".to_owned()]);
        recorded.update(found, &others);
        let wanted = [
            ("a\tf", "X", "49"),
            ("b\tf", "X", "52+8"),
            ("c\tf", "X", "7"),
            ("other\tf", "X", "3"),
        ];
        assert_eq!(recorded, table(&wanted));
        recorded.update(Golden::default(), &others);
        assert_eq!(recorded, table(&wanted));
    }
}
