//! Runs a kernel's text on one block with `counting.h` in place of a dialect's words.

use femto_kernel::family::KernelSource;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Reads and writes of an array by a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) reads: u64,
    pub(crate) writes: u64,
}

/// The reads of an array by the first thread.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    pub(crate) reads: u64,
    /// When the first and the last took place, in its events.
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// From the place of its first read to that of the second, in numbers.
    pub(crate) stride: i64,
}

/// What a block did.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    arrays: BTreeMap<String, (Access, Times)>,
    /// Of the first thread.
    pub(crate) barriers: u64,
    /// Whether the text takes `const` away.
    pub(crate) unconst: bool,
    /// Whether the loop over columns is unrolled.
    pub(crate) unrolled: bool,
}

impl Counts {
    /// The accesses of an array, if the text has it.
    pub(crate) fn get(&self, name: &str) -> Option<Access> {
        self.arrays.get(name).map(|it| it.0)
    }

    pub(crate) fn of(&self, name: &str) -> Access {
        self.get(name).unwrap_or_else(|| panic!("no {name}"))
    }

    pub(crate) fn times(&self, name: &str) -> Times {
        self.arrays
            .get(name)
            .unwrap_or_else(|| panic!("no {name}"))
            .1
    }

    fn parse(text: &str) -> Self {
        let mut counts = Self::default();
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let number = |at: usize| words[at].parse().unwrap();
            if words[0] == "barriers" {
                counts.barriers = number(1);
                continue;
            }
            let access = Access {
                reads: number(1),
                writes: number(2),
            };
            let times = Times {
                reads: number(3),
                first: number(4),
                last: number(5),
                stride: words[6].parse().unwrap(),
            };
            // Each kernel of a text has its own shared memory.
            let found = counts.arrays.entry(words[0].to_owned());
            let all = &mut found.or_insert((Access::default(), times)).0;
            all.reads += access.reads;
            all.writes += access.writes;
        }
        counts
    }
}

/// A text to run.
pub(crate) struct Text<'a> {
    pub(crate) text: &'a str,
    /// Parameters of its kernels, as in C; arrays begin with `g_`.
    pub(crate) parameters: &'a str,
    /// Kernels to run one after the other, and the threads of a block.
    pub(crate) launches: Vec<(&'a str, [u32; 3])>,
    /// Elements of a block.
    pub(crate) elements: u32,
}

/// Counts the accesses of one full block; `None` and a note without a compiler.
pub(crate) fn count(source: &KernelSource) -> Option<Counts> {
    let mut lines = source.text.lines();
    let arguments = |line: &'_ str| line.starts_with("#define KERNEL_ARGUMENTS ");
    let parameters = lines.find(|line| arguments(line)).unwrap();
    count_text(&Text {
        text: &source.text,
        parameters: &parameters["#define KERNEL_ARGUMENTS ".len()..],
        launches: vec![(source.entry, source.block.threads)],
        elements: source.elements_per_block,
    })
}

/// As [`count`].
pub(crate) fn count_text(text: &Text<'_>) -> Option<Counts> {
    let program = program(text);
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join(format!("count-{:x}", fingerprint(&program)));
    if !compile(&program, &file) {
        return None;
    }
    let output = Command::new(&file).output().unwrap();
    std::fs::remove_file(&file).unwrap();
    assert!(output.status.success(), "{output:?}");
    Some(Counts {
        unconst: program.contains("#define CONST_INPUTS 0\n"),
        unrolled: program.contains("#define COLUMN_LOOP UNROLL\n"),
        ..Counts::parse(std::str::from_utf8(&output.stdout).unwrap())
    })
}

/// The text with counting words, and a function `main` that runs a block's threads one after the other.
fn program(text: &Text<'_>) -> String {
    let words = text.text.find("#line 1 \"dialect/").unwrap();
    let rest = text.text.find("#line 1 \"tables\"").unwrap();
    let (mut arrays, mut arguments) = (String::new(), Vec::new());
    for parameter in text.parameters.split(", ") {
        let name = parameter.rsplit([' ', '*']).next().unwrap();
        arguments.push(name);
        let of = match parameter.contains("uint") {
            true => "uint",
            false => "real",
        };
        arrays += &match name.starts_with("g_") {
            true => format!("    {of} *{name} = array_named<{of}>(\"{name}\");\n"),
            false => format!("    {of} {name} = {};\n", text.elements),
        };
    }
    let arguments = arguments.join(", ");
    let mut launches = String::new();
    for (entry, [x, y, z]) in &text.launches {
        launches += &format!(
            "    for (thread_index[2] = 0; thread_index[2] < {z}; ++thread_index[2])
    for (thread_index[1] = 0; thread_index[1] < {y}; ++thread_index[1])
    for (thread_index[0] = 0; thread_index[0] < {x}; ++thread_index[0]) {entry}({arguments});
"
        );
    }
    let (definitions, counting) = (&text.text[..words], include_str!("counting.h"));
    let kernels = &text.text[rest..];
    format!(
        "{definitions}{counting}{kernels}\nint main()\n{{\n{arrays}{launches}    print_counts();\n}}\n"
    )
}

/// Compiles a program; false and a note without a compiler.
fn compile(program: &str, to: &Path) -> bool {
    let compiler = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
    let mut command = Command::new(&compiler);
    command.args(["-std=c++17", "-O0", "-w", "-x", "c++", "-", "-o"]);
    let child = command.arg(to).stdin(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        let required = std::env::var("FEMTO_REQUIRE").is_ok_and(|kinds| kinds.contains("c++"));
        assert!(!required, "no C++ compiler {}", compiler.display());
        eprintln!("left out: no C++ compiler {}", compiler.display());
        return false;
    };
    let mut input = child.stdin.take().unwrap();
    input.write_all(program.as_bytes()).unwrap();
    drop(input);
    assert!(
        child.wait().unwrap().success(),
        "does not compile:\n{program}"
    );
    true
}

/// Tells programs apart that are compiled at the same time.
fn fingerprint(program: &str) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    program.hash(&mut hasher);
    hasher.finish()
}
