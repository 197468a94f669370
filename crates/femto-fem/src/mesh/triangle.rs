//! Files of Triangle: positions in `.node`, triangles in `.ele`, boundary edges in an optional `.edge`.
//!
//! J. R. Shewchuk, "Triangle: Engineering a 2D Quality Mesh Generator", 1996, and the program's page on file formats.
//! Comments start with `#`; vertices are numbered from the number of the first one, 0 or 1. An attribute of triangles
//! becomes the number of their group, a boundary marker of edges that is not zero that of theirs.

use super::{CellBlock, CellNodes, Mesh, MeshError, PhysicalGroup};
use femto_element::CellType;
use std::path::Path;

/// A mistake in a file of Triangle.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TriangleError {
    /// The file ends too early.
    #[error("the file ends after {found} of {wanted} rows")]
    Short {
        /// Rows found.
        found: usize,
        /// Rows announced by the first line.
        wanted: usize,
    },
    /// The file goes on.
    #[error("{found} rows, where the first line has {wanted}")]
    Long {
        /// Rows found.
        found: usize,
        /// Rows announced by the first line.
        wanted: usize,
    },
    /// A row with too few numbers.
    #[error("a row of {found} numbers, where {wanted} are needed")]
    Row {
        /// Numbers found.
        found: usize,
        /// Numbers needed.
        wanted: usize,
    },
    /// A word that is no number, or none that fits.
    #[error("`{found}` is not {wanted}")]
    Number {
        /// The word.
        found: String,
        /// What is expected.
        wanted: &'static str,
    },
}

/// A file's name, for messages, and its text.
pub type NamedText<'a> = (&'a str, &'a str);

/// Extensions of the files of a mesh: nodes, triangles and, if it is there, edges.
pub(super) const FILES: [&str; 3] = ["node", "ele", "edge"];

/// Reads the mesh with this `.ele` or `.node` file, and the other ones beside it.
pub(super) fn read(path: &Path) -> Result<Mesh, MeshError> {
    let text = |extension: &str| {
        let file = path.with_extension(extension);
        let name = file.display().to_string();
        match std::fs::read_to_string(&file) {
            Ok(text) => Ok((name, text)),
            Err(source) => Err(MeshError::Io { file: name, source }),
        }
    };
    let [nodes, triangles, edges] = FILES;
    let is_there = path.with_extension(edges).exists();
    let edges = is_there.then(|| text(edges)).transpose()?;
    let (nodes, triangles) = (text(nodes)?, text(triangles)?);
    fn named((name, text): &(String, String)) -> NamedText<'_> {
        (name, text)
    }
    parse(named(&nodes), named(&triangles), edges.as_ref().map(named))
}

/// The mesh of a `.node` and a `.ele` file, and of a `.edge` file if there is one.
///
/// # Errors
/// The file, line and word of a mistake.
pub fn parse(
    nodes: NamedText,
    triangles: NamedText,
    edges: Option<NamedText>,
) -> Result<Mesh, MeshError> {
    let nodes = Table::new(nodes);
    let first = nodes.first_number()?;
    if nodes.header(1)? != 2 {
        let found = nodes.word(0, 1)?.to_owned();
        return Err(nodes.wrong(0, found, "2, the dimension"));
    }
    let mut coordinates = Vec::new();
    for row in nodes.rows(3, first)? {
        coordinates.push([nodes.real(row, 1)?, nodes.real(row, 2)?, 0.0]);
    }
    let count = coordinates.len();
    let mut mesh = Mesh {
        coordinates: coordinates.into(),
        ..Mesh::default()
    };
    let triangles = Table::new(triangles);
    let corners = triangles.header(1)?;
    let cell_type = match corners {
        3 => CellType::TRI3,
        6 => CellType::TRI6,
        found => return Err(triangles.wrong(0, found.to_string(), "3 or 6 nodes a triangle")),
    };
    let has_groups = triangles.header(2)? > 0;
    let mut block = CellBlock {
        cell_type,
        nodes: CellNodes::default(),
        tags: Vec::new(),
    };
    // Triangle's nodes 4 to 6 are opposite to vertices 1 to 3; Gmsh's lie between 1 and 2, 2 and 3, 3 and 1.
    const ORDER: [usize; 6] = [0, 1, 2, 5, 3, 4];
    for row in triangles.rows(1 + corners + usize::from(has_groups), first)? {
        for place in &ORDER[..corners] {
            let node = triangles.node(row, 1 + place, (first, count))?;
            block.nodes.to_mut().push(node);
        }
        block.tags.push(match has_groups {
            true => triangles.group(row, 1 + corners)?,
            false => 0,
        });
    }
    mesh.blocks.push(block);
    if let Some(edges) = edges.map(Table::new) {
        let mut block = CellBlock {
            cell_type: CellType::LINE2,
            nodes: CellNodes::default(),
            tags: Vec::new(),
        };
        if edges.header(1)? > 0 {
            for row in edges.rows(4, first)? {
                let marker = edges.group(row, 3)?;
                if marker != 0 {
                    for place in 1..3 {
                        let node = edges.node(row, place, (first, count))?;
                        block.nodes.to_mut().push(node);
                    }
                    block.tags.push(marker);
                }
            }
        }
        mesh.blocks.push(block);
    }
    for (block, dimension) in mesh.blocks.iter().zip([2, 1]) {
        let mut numbers: Vec<i32> = block.tags.iter().copied().filter(|&tag| tag != 0).collect();
        numbers.sort_unstable();
        numbers.dedup();
        mesh.groups
            .extend(numbers.into_iter().map(|number| PhysicalGroup {
                dimension,
                number,
                name: String::new(),
            }));
    }
    Ok(mesh)
}

/// The rows of a file, without comments.
struct Table {
    file: String,
    /// Line numbers, from 1, with their words; the first has the sizes.
    lines: Vec<(usize, Vec<String>)>,
}

/// A row: its place among the lines.
type Row = usize;

impl Table {
    fn new((file, text): NamedText) -> Self {
        let words = |line: &str| -> Vec<String> {
            let code = line.split('#').next().unwrap_or_default();
            code.split_whitespace().map(str::to_owned).collect()
        };
        let lines = (1..).zip(text.lines().map(words));
        Self {
            file: file.to_owned(),
            lines: lines.filter(|(_, words)| !words.is_empty()).collect(),
        }
    }

    fn error(&self, row: Row, problem: TriangleError) -> MeshError {
        MeshError::Triangle {
            file: self.file.clone(),
            line: self
                .lines
                .get(row)
                .or(self.lines.last())
                .map_or(1, |it| it.0),
            problem,
        }
    }

    fn wrong(&self, row: Row, found: String, wanted: &'static str) -> MeshError {
        self.error(row, TriangleError::Number { found, wanted })
    }

    fn word(&self, row: Row, place: usize) -> Result<&str, MeshError> {
        let words = self.lines.get(row).map_or(&[][..], |(_, words)| &words[..]);
        let short = TriangleError::Row {
            found: words.len(),
            wanted: place + 1,
        };
        words
            .get(place)
            .map(|word| &word[..])
            .ok_or_else(|| self.error(row, short))
    }

    /// A size in the first line.
    fn header(&self, place: usize) -> Result<usize, MeshError> {
        let word = self.word(0, place)?;
        word.parse()
            .map_err(|_| self.wrong(0, word.to_owned(), "a size"))
    }

    /// The number of the first row.
    fn first_number(&self) -> Result<u64, MeshError> {
        let word = match self.lines.get(1) {
            Some(_) => self.word(1, 0)?,
            None => "1",
        };
        match word.parse() {
            Ok(number @ 0..=1) => Ok(number),
            _ => Err(self.wrong(1, word.to_owned(), "the number 0 or 1 of the first vertex")),
        }
    }

    /// All rows, which have at least this many words and are numbered one after the other.
    fn rows(&self, words: usize, first: u64) -> Result<core::ops::RangeInclusive<Row>, MeshError> {
        let (wanted, found) = (self.header(0)?, self.lines.len().saturating_sub(1));
        if found < wanted {
            return Err(self.error(found, TriangleError::Short { found, wanted }));
        }
        if found > wanted {
            return Err(self.error(wanted + 1, TriangleError::Long { found, wanted }));
        }
        for (row, number) in (1..=wanted).zip(first..) {
            self.word(row, words - 1)?;
            let word = self.word(row, 0)?;
            if word.parse() != Ok(number) {
                return Err(self.wrong(
                    row,
                    word.to_owned(),
                    "the number after that of the row before",
                ));
            }
        }
        Ok(1..=wanted)
    }

    /// The number of a group, or 0.
    fn group(&self, row: Row, place: usize) -> Result<i32, MeshError> {
        let number = self.real(row, place)?;
        let word = || self.word(row, place).unwrap_or_default().to_owned();
        // Attributes are written like `7.0` by some.
        match number as i32 {
            group if f64::from(group) == number => Ok(group),
            _ => Err(self.wrong(row, word(), "a whole number of 32 bits, as a group has")),
        }
    }

    fn real(&self, row: Row, place: usize) -> Result<f64, MeshError> {
        let word = self.word(row, place)?;
        let number: Option<f64> = word.parse().ok().filter(|number: &f64| number.is_finite());
        number.ok_or_else(|| self.wrong(row, word.to_owned(), "a finite number"))
    }

    /// A vertex, counted from 0.
    fn node(&self, row: Row, place: usize, (first, count): (u64, usize)) -> Result<u32, MeshError> {
        let word = self.word(row, place)?;
        let number = word
            .parse::<u64>()
            .ok()
            .and_then(|number| number.checked_sub(first));
        let node = number.filter(|&number| number < count as u64);
        let node = node.and_then(|number| u32::try_from(number).ok());
        node.ok_or_else(|| self.wrong(row, word.to_owned(), "the number of a vertex"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("femto-triangle-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for (extension, text) in files {
            fs::write(folder.join("plane").with_extension(extension), text).unwrap();
        }
        folder.join("plane.ele")
    }

    const NODES: &str = "# the unit square\n4 2 0 1\n1 0 0 1\n2 1 0 1\n3 1 1 1\n4 0 1 1 # last\n";
    const TRIANGLES: &str = "2 3 1\n1 1 2 3 7\n2 1 3 4 8\n";

    #[test]
    fn vertices_triangles_and_edges_are_read() {
        let edges = "5 1\n1 1 2 3\n2 2 3 3\n3 3 4 0\n4 4 1 5\n5 1 3 0\n";
        let path = folder(
            "good",
            &[("node", NODES), ("ele", TRIANGLES), ("edge", edges)],
        );
        let mesh = Mesh::read(&path).unwrap();
        assert_eq!(mesh, Mesh::read(path.with_extension("node")).unwrap());
        assert_eq!(mesh.coordinates.at(2), [1.0, 1.0, 0.0]);
        assert_eq!(mesh.blocks[0].nodes, vec![0, 1, 2, 0, 2, 3].into());
        assert_eq!(mesh.blocks[0].tags, [7, 8]);
        assert_eq!(
            (&mesh.blocks[1].nodes, &mesh.blocks[1].tags[..]),
            (&vec![0, 1, 1, 2, 3, 0].into(), &[3, 3, 5][..])
        );
        assert_eq!(mesh.group(1, "5").unwrap(), 5);
        let _ = fs::remove_dir_all(path.parent().unwrap());
    }

    #[test]
    fn mistakes_have_a_line() {
        let error = |name: &str, nodes: &str, triangles: &str| {
            let path = folder(name, &[("node", nodes), ("ele", triangles)]);
            let error = Mesh::read(&path).unwrap_err().to_string();
            let _ = fs::remove_dir_all(path.parent().unwrap());
            error
        };
        let missing = error("missing", NODES, "1 3 0\n1 1 2 5\n");
        assert!(
            missing.contains("line 2") && missing.contains("`5` is not"),
            "{missing}"
        );
        let short = error("short", NODES, "3 3 0\n1 1 2 3\n");
        assert!(short.contains("after 1 of 3 rows"), "{short}");
        let word = error("word", &NODES.replace("1 1 1\n4", "1 x 1\n4"), TRIANGLES);
        assert!(
            word.contains("line 5") && word.contains("`x` is not a finite number"),
            "{word}"
        );
        let shape = error("shape", NODES, "1 4 0\n1 1 2 3 4\n");
        assert!(shape.contains("3 or 6 nodes"), "{shape}");
        assert!(error("row", NODES, "1 3 0\n1 1 2\n").contains("3 numbers, where 4"));
        let long = error("long", NODES, "1 3 0\n1 1 2 3\n2 1 3 4\n");
        assert!(
            long.contains("line 3") && long.contains("2 rows, where"),
            "{long}"
        );
        let order = error("order", NODES, "2 3 0\n2 1 2 3\n1 1 3 4\n");
        assert!(
            order.contains("line 2") && order.contains("`2` is not"),
            "{order}"
        );
        let group = error("group", NODES, "1 3 1\n1 1 2 3 1.5\n");
        assert!(group.contains("`1.5` is not a whole number"), "{group}");
        let solid = error("solid", &NODES.replace("4 2 0 1", "4 3 0 1"), TRIANGLES);
        assert!(solid.contains("`3` is not 2, the dimension"), "{solid}");
    }
}
