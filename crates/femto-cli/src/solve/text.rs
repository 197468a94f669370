//! A report in words: one line per subject.

use super::speed::Level;
use super::{Report, Solver, StageTime, Status, Times};
use femto::kernel::scalar::Precision;
use femto::operator::Explanation;
use femto::problem::{LevelMethod, Method, Reaction};
use std::fmt::{self, Display, Formatter};

/// With fewer unknowns than these bytes per unknown say nothing.
const FEW: usize = 10_000;

/// Number of warnings about corners of cells shown in full.
const WARNINGS: usize = 5;
/// Stages that take less than this fraction of the total are not shown.
const SHORT: f64 = 0.01;

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let device = &self.device;
        writeln!(f, "{}", self.title)?;
        let (degree, precision) = (self.operator.degree, self.operator.precision);
        writeln!(
            f,
            "problem     {} of degree {degree} in {precision}; {}: {}, {}, {}",
            self.form,
            device.kind,
            device.name,
            plural(device.threads, "thread"),
            device.simd
        )?;
        let mesh = &self.mesh;
        let (cells, nodes) = (count(mesh.cells), count(mesh.nodes));
        writeln!(
            f,
            "mesh        {}: {cells} {}, {nodes} nodes",
            mesh.source, mesh.shape
        )?;
        let (free, all) = (self.unknowns.free, self.unknowns.all);
        let given = count(all - free);
        writeln!(
            f,
            "unknowns    {}, and {given} boundary values",
            count(free)
        )?;
        if let Some(solver) = &self.solver {
            writeln!(
                f,
                "solver      {solver}{}",
                ending(self.status, solver.method)
            )?;
            if let Some(reason) = &solver.preconditioner_reason {
                writeln!(f, "chosen      {}: {reason}", solver.preconditioner)?;
            }
            if !solver.levels.is_empty() {
                let levels: Vec<String> = solver.named_levels().map(|(name, _)| name).collect();
                let in_double = |it: &Level| it.level.precision == Precision::Fp64;
                let precision = match solver.levels.iter().any(in_double) {
                    true => "; in fp64",
                    false => "",
                };
                writeln!(f, "levels      {}{precision}", levels.join(", "))?;
            }
        }
        if let Some(free) = &self.free {
            writeln!(f, "free        {free}")?;
        }
        if let Some(range) = self.solution {
            let lengths = if range.of_lengths { "lengths " } else { "" };
            let [min, max] = [range.min, range.max].map(number);
            let width = range.max - range.min;
            if min == max && width > 0.0 {
                writeln!(f, "solution    {lengths}{min}, varying by {width:.3e}")?;
            } else {
                writeln!(f, "solution    {lengths}from {min} to {max}")?;
            }
        }
        if let Some(errors) = &self.errors {
            write!(f, "errors      L2 {:.3e}", errors.l2)?;
            match errors.h1_seminorm {
                Some(h1) => writeln!(f, ", H1 seminorm {h1:.3e}")?,
                None => writeln!(f)?,
            }
        }
        for (i, Reaction { tag, sum }) in self.reactions.iter().enumerate() {
            let title = if i == 0 { "reactions" } else { "" };
            let sum: Vec<String> = sum.iter().map(|it| number(*it)).collect();
            writeln!(f, "{title:<11} `{tag}`: {}", sum.join(", "))?;
        }
        write!(f, "{}", self.times)?;
        self.memory(f)?;
        if let Some(output) = &self.output {
            let size = match output.bytes as f64 {
                bytes if bytes < 1e6 => format!("{:.1} kB", bytes * 1e-3),
                bytes => format!("{:.1} MB", bytes * 1e-6),
            };
            writeln!(f, "output      {} ({size})", output.file)?;
        }
        self.operator(f)?;
        self.warnings(f)
    }
}

impl Report {
    fn memory(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Some(memory) = &self.memory else {
            return Ok(());
        };
        let parts = [
            ("mesh", self.mesh.bytes),
            ("geometry", memory.geometry),
            ("space", memory.space),
            ("operator", memory.operator),
            ("vectors", memory.vectors),
        ];
        let total = self.mesh.bytes + memory.total();
        let megabytes = |bytes: u64| bytes as f64 * 1e-6;
        if self.unknowns.all < FEW {
            // Most of it is memory that each thread has.
            write!(f, "memory      {:.1} MB", megabytes(total as u64))?;
        } else {
            let per_unknown = |bytes: usize| bytes as f64 / self.unknowns.all as f64;
            let parts = parts.map(|(name, bytes)| format!("{name} {:.1}", per_unknown(bytes)));
            let (all, parts) = (per_unknown(total), parts.join(", "));
            write!(f, "memory      {all:.0} bytes per unknown: {parts}")?;
        }
        if let Some(peak) = self.peak_memory {
            write!(f, "; the process had {:.0} MB at most", megabytes(peak))?;
        }
        if let Some(peak) = self.peak_memory_of_children {
            write!(f, ", a compiler that it started {:.0} MB", megabytes(peak))?;
        }
        writeln!(f)
    }

    /// Bound, measured, fraction.
    fn operator(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Explanation {
            bound_seconds: Some(bound),
            limit: Some(limit),
            measured_seconds: Some(measured),
            fraction: Some(fraction),
            dofs,
            ..
        } = &self.operator
        else {
            return Ok(());
        };
        writeln!(
            f,
            "operator    bound {:.3} ms, set by {limit}; measured {:.3} ms, {:.0} MDOF/s: {:.0} % of the \
             bound",
            bound * 1e3,
            measured * 1e3,
            *dofs as f64 / measured * 1e-6,
            fraction * 1e2
        )?;
        if *fraction > 1.0 && limit == "memory" {
            let megabytes = self.operator.bytes_read as f64 * 1e-6;
            writeln!(
                f,
                "            (the bound is that of the memory: its {megabytes:.0} MB come from the caches, or the \
                 ceilings were measured while the machine was busy; `femto roofline` measures them again)"
            )?;
        }
        match &self.ceilings {
            Some(ceilings) => writeln!(f, "ceilings    {}", ceilings.origin),
            None => Ok(()),
        }
    }

    fn warnings(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let solver = self.solver.iter().flat_map(|solver| &solver.warnings);
        let output = self.output.iter().flat_map(|output| &output.warnings);
        for warning in self.operator.warnings.iter().chain(solver).chain(output) {
            writeln!(f, "warning     {warning}")?;
        }
        let more = self.mesh.corner_warnings.saturating_sub(WARNINGS);
        let shown = self.mesh.warnings.len().saturating_sub(more);
        for warning in &self.mesh.warnings[..shown] {
            writeln!(f, "warning     {warning}")?;
        }
        match more {
            0 => Ok(()),
            _ => writeln!(f, "warning     {more} more like this"),
        }
    }
}

impl Solver {
    /// The levels of multigrid in words: space, method where it is not the usual one, unknowns.
    fn named_levels(&self) -> impl Iterator<Item = (String, &Level)> {
        self.levels.iter().enumerate().map(|(i, own)| {
            let level = &own.level;
            let space = match level.degree {
                Some(degree) => format!("degree {degree:#}"),
                None => "aggregates".to_owned(),
            };
            let method = match level.method {
                Some(LevelMethod::Schwarz) => " by Schwarz",
                Some(LevelMethod::Lines) if i + 1 == self.levels.len() => {
                    ", only smoothed by lines"
                }
                Some(LevelMethod::Lines) => " by lines",
                Some(LevelMethod::Diagonal) if i + 1 == self.levels.len() => ", only smoothed",
                _ => "",
            };
            (format!("{space}{method}: {}", count(level.unknowns)), own)
        })
    }

    /// What each level of multigrid costs, a line each; nothing without multigrid.
    pub fn explain_levels(&self) -> String {
        let line = |(name, own): (String, &Level)| {
            let mut words = format!("{name}, {:.1} MB", own.level.bytes as f64 * 1e-6);
            if let Some(seconds) = own.level.set_up_seconds {
                words += &format!(", set up in {}", time(seconds));
            }
            if let Some(seconds) = own.cycle_seconds {
                words += &format!(", {} of a cycle", time(seconds));
            }
            format!("level       {words}\n")
        };
        self.named_levels().map(line).collect()
    }
}

impl Display for Solver {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            method,
            preconditioner,
            iterations,
            linear_iterations,
            relative_residual,
            true_relative_residual,
            reduction,
            tolerance,
            ..
        } = self;
        write!(
            f,
            "{method} with {preconditioner}: {}, relative residual {relative_residual:.1e} \
             of {tolerance:.1e}",
            plural(*iterations, "iteration")
        )?;
        if linear_iterations != iterations {
            let all = plural(*linear_iterations, "iteration");
            write!(f, "; {all} of its linear solver")?;
        }
        if *reduction != 0.0 && (relative_residual / reduction - 1.0).abs() > 0.01 {
            write!(f, ", {reduction:.1e} of the first")?;
        }
        match true_relative_residual {
            Some(norm) if norm != relative_residual => write!(f, "; that of b - A x is {norm:.1e}"),
            _ => Ok(()),
        }
    }
}

impl Display for Times {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let long = |stage: &&StageTime| stage.seconds >= SHORT * self.total;
        let stages: Vec<String> = self
            .stages
            .iter()
            .filter(long)
            .map(|stage| format!("{} {}", stage.name, time(stage.seconds)))
            .collect();
        write!(f, "times       {} in all", time(self.total))?;
        if let Some(seconds) = self.to_first_iteration {
            write!(f, "; {} from mesh to first iteration", time(seconds))?;
        }
        if let Some(seconds) = self.per_iteration {
            write!(f, ", {} per iteration", time(seconds))?;
        }
        writeln!(f, "\n            {}", stages.join(", "))
    }
}

fn ending(status: Status, method: &str) -> &'static str {
    match status {
        Status::Converged | Status::Counted => "",
        Status::NotConverged => ": not converged",
        Status::Interrupted => ": interrupted",
        Status::Stagnated if method == Method::Newton.name() => ": the precision is exhausted",
        Status::Stagnated => {
            "; the recurrence reached the tolerance, b - A x did not: the precision is exhausted"
        }
        Status::Failed => ": failed",
    }
}

fn plural(number: usize, thing: &str) -> String {
    match number {
        1 => format!("1 {thing}"),
        _ => format!("{} {thing}s", count(number)),
    }
}

/// Seconds or milliseconds, with about three digits.
fn time(seconds: f64) -> String {
    match seconds {
        1.0.. => format!("{seconds:.2} s"),
        0.01.. => format!("{:.0} ms", seconds * 1e3),
        _ => format!("{:.2} ms", seconds * 1e3),
    }
}

/// A whole number in groups of three digits.
fn count(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|group| std::str::from_utf8(group).unwrap_or_default())
        .collect();
    groups.join(" ")
}

/// A number with six digits, or five if it is less than one, in plain notation if that is short.
fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        1e-3..1e6 => {
            let exponent = value.abs().log10().floor() as i32;
            let after_zeros = if exponent < 0 { 4 } else { 5 };
            let decimals = (after_zeros - exponent).max(0) as usize;
            let text = format!("{value:.decimals$}");
            match text.contains('.') {
                true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
                false => text,
            }
        }
        _ => format!("{value:.5e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let numbers = [0.0, 90.0, 45.638_412, -1234.5678, 0.001_234_567, 1e-9, 3e8];
        let wanted = [
            "0",
            "90",
            "45.6384",
            "-1234.57",
            "0.0012346",
            "1.00000e-9",
            "3.00000e8",
        ];
        assert_eq!(numbers.map(number), wanted);
        assert_eq!(
            [7, 999, 1000, 1_234_567].map(count),
            ["7", "999", "1 000", "1 234 567"]
        );
        assert_eq!(
            [2.5, 0.25, 0.0025].map(time),
            ["2.50 s", "250 ms", "2.50 ms"]
        );
    }
}
