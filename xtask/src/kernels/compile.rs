//! Compiling texts with NVIDIA's compilers.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context, Result};
use femto_kernel::dialect::Language;
use femto_kernel::dialect::counting::{counted, with_counters};
use femto_kernel::family::Limits;
use femto_platform::device::accelerator::KernelText;
use femto_platform::device::cuda::nvrtc::Compiler;

use super::golden::{Figures, Golden};
use super::{Case, Selection, Share, Wanted};

/// Ampere, Hopper, Blackwell, all with matrix units for doubles.
const ARCHITECTURES: [&str; 3] = ["sm_80", "sm_90", "sm_100"];

/// The architecture for which texts are also compiled to count their accesses.
const COUNTED: &str = "sm_90";

/// A text, as shared by threads.
type Text<'a> = (&'a str, &'a str);

/// Compiles the cases and compares the figures with the recorded ones, or records them. In the full set,
/// and when recording, each case is compiled with every compiler for every architecture; in the bounded set,
/// unless only some are wanted, with one compiler for one architecture in turn, as time permits on two cores.
pub(super) fn compile(wanted: Wanted<'_>, bless: bool) -> Result<()> {
    let limits = Limits {
        matrix_units: true,
        ..Limits::default()
    };
    let cases = super::cases(wanted, Language::Cuda, &limits);
    let texts: Vec<Text> = cases
        .iter()
        .map(|Case { name, text, .. }| (&**name, &**text))
        .collect();
    let libraries = crate::nvrtc::libraries()?;
    let turns = match wanted.selection {
        Selection::Bounded if !bless && wanted.part.is_empty() => {
            libraries.len() * ARCHITECTURES.len()
        }
        _ => 1,
    };
    let mut found = Golden::default();
    for (first, library) in libraries.into_iter().enumerate() {
        let version = Compiler::open(&library)?.version();
        for (turn, architecture) in ARCHITECTURES.into_iter().enumerate() {
            let column = format!("{version} {architecture}");
            let skipped = (first * ARCHITECTURES.len() + turn) % turns;
            let own: Vec<Text> = texts.iter().skip(skipped).step_by(turns).copied().collect();
            for (row, figures) in compile_all(&library, architecture, &own)? {
                found.insert(&row, &column, figures);
            }
        }
    }
    println!("   {} texts, {} figures", texts.len(), found.len());
    let mut golden = Golden::read()?;
    if bless {
        golden.update(found, &others(&texts, &limits));
        return golden.write();
    }
    let (missing, changes) = golden.compare(&found);
    if missing > 0 {
        println!("   {missing} figures are not recorded (--bless records them)");
    }
    crate::all_well(
        "registers or spills changed (--bless records them)",
        &changes,
    )
}

/// The names of all texts there are, but for those that were compiled.
fn others(compiled: &[Text], limits: &Limits) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for selection in [Selection::Bounded, Selection::All] {
        let every = Wanted {
            selection,
            part: "",
            share: Share::WHOLE,
        };
        names.extend(super::named(every, Language::Cuda, limits).map(|case| case.name));
    }
    for (name, _) in compiled {
        names.remove(*name);
    }
    names
}

/// The figures of every kernel of every text, on all processors.
fn compile_all(
    library: &Path,
    architecture: &str,
    texts: &[Text],
) -> Result<Vec<(String, Figures)>> {
    let next = AtomicUsize::new(0);
    let work = || -> Result<Vec<(String, Figures)>> {
        let compiler = Compiler::open(library)?;
        let mut rows = Vec::new();
        while let Some(&(name, text)) = texts.get(next.fetch_add(1, Ordering::Relaxed)) {
            let compiled = compiler.compile(&KernelText::new(name, text), architecture);
            let compiled = compiled.with_context(|| format!("{name} for {architecture}"))?;
            if architecture == COUNTED {
                let text = with_counters(text);
                let ptx = compiler.ptx(&KernelText::new(name, &text), architecture);
                let ptx = ptx.with_context(|| format!("{name} with counters"))?;
                counted(&ptx).with_context(|| format!("{name} with counters"))?;
            }
            rows.extend(compiled.entries.into_iter().map(|usage| {
                let figures = Figures {
                    registers: usage.registers,
                    spilled_bytes: usage.spill_stores,
                };
                (format!("{name}\t{}", usage.entry), figures)
            }));
        }
        Ok(rows)
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let mut rows = Vec::new();
        for worker in workers {
            let found = worker.join();
            rows.extend(found.map_err(|_| anyhow::anyhow!("a compiler's thread panicked"))??);
        }
        Ok(rows)
    })
}
