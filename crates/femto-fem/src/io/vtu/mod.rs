//! VTU files: unstructured grids of Lagrange cells, compressed.
//!
//! The format is VTK's XML `UnstructuredGrid` with raw appended data, UInt64 headers and zlib compression;
//! ParaView draws high-order cells as curved. Files are of version 1.0, which more programs read than 2.2
//! (meshio 5 among them); they differ in the order of nodes on hexahedra.
//!
//! ```text
//! grid + Fields ──check──► arrays ──compress──► XML header with offsets, then the bytes
//! ```

mod array;
mod grid;

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;

use array::Compressed;
pub use array::Values;
pub use grid::VtuGrid;

use super::IoError;
use super::atomic::write_atomically;

/// VTK's name of the array of cells' degrees along their axes.
const DEGREES: &str = "HigherOrderDegrees";

/// A named array over the points or the cells of a grid.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    /// The name shown by readers; unique among the point fields, and among the cell fields.
    pub name: &'a str,
    /// Components of one value: 1 for a scalar, 3 for a vector.
    pub components: usize,
    /// `[points or cells][components]`.
    pub values: Values<'a>,
}

impl<'a> Field<'a> {
    /// A field with one value per point or cell.
    pub fn scalar(name: &'a str, values: impl Into<Values<'a>>) -> Self {
        Self::new(name, 1, values)
    }

    /// A field with several values per point or cell.
    pub fn new(name: &'a str, components: usize, values: impl Into<Values<'a>>) -> Self {
        let values = values.into();
        Self {
            name,
            components,
            values,
        }
    }
}

/// Writes a grid and its fields to `path`, which is replaced only once everything is written.
///
/// # Errors
/// [`IoError`] if the file cannot be written, or if an array does not match the grid.
pub fn write_vtu(
    path: impl AsRef<Path>,
    grid: &VtuGrid<'_>,
    point_fields: &[Field<'_>],
    cell_fields: &[Field<'_>],
) -> Result<(), IoError> {
    write_atomically(path.as_ref(), |out| {
        write_vtu_to(out, grid, point_fields, cell_fields)
    })
}

/// Writes a grid and its fields to any stream, front to back.
///
/// Holds the compressed file in memory, besides the caller's arrays.
///
/// # Errors
/// [`IoError`] if the stream fails, or if an array does not match the grid.
pub fn write_vtu_to(
    out: &mut impl Write,
    grid: &VtuGrid<'_>,
    point_fields: &[Field<'_>],
    cell_fields: &[Field<'_>],
) -> Result<(), IoError> {
    let cells = grid.count()?;
    check_fields(point_fields, "points", grid.points.len())?;
    let degrees = grid.degrees();
    let degrees = degrees.as_ref().map(|it| Field::new(DEGREES, 3, &it[..]));
    // The attribute that tells readers what the array is.
    let attribute = match degrees {
        Some(_) => format!(" {DEGREES}=\"{DEGREES}\""),
        None => String::new(),
    };
    let of_cells: Vec<Field<'_>> = cell_fields.iter().copied().chain(degrees).collect();
    check_fields(&of_cells, "cells", cells)?;

    let (connectivity, offsets, types) = grid.arrays();
    let cell_arrays = [
        Field::scalar("connectivity", &connectivity[..]),
        Field::scalar("offsets", &offsets[..]),
        Field::scalar("types", Values::U8(&types)),
    ];
    let points = [Field::new("Points", 3, grid.points.as_flattened())];

    let mut appended = Appended::default();
    let sections = [
        (["PointData", ""], point_fields),
        (["CellData", &attribute], &of_cells),
        (["Points", ""], &points),
        (["Cells", ""], &cell_arrays),
    ]
    .into_iter()
    .map(|(element, fields)| appended.section(element, fields))
    .collect::<Result<String, _>>()?;

    write!(
        out,
        "<?xml version=\"1.0\"?>\n\
         <VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" \
         header_type=\"UInt64\" compressor=\"vtkZLibDataCompressor\">\n\
         <UnstructuredGrid>\n\
         <Piece NumberOfPoints=\"{}\" NumberOfCells=\"{cells}\">\n\
         {sections}\
         </Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_",
        grid.points.len(),
    )?;
    appended.write(out)?;
    out.write_all(b"\n</AppendedData>\n</VTKFile>\n")?;
    Ok(())
}

fn check_fields(fields: &[Field<'_>], location: &'static str, items: usize) -> Result<(), IoError> {
    let mut names = HashSet::new();
    for &Field {
        name,
        components,
        values,
    } in fields
    {
        let fault = if name.is_empty() {
            Some("has no name")
        } else if !names.insert(name) {
            Some("is given twice")
        } else if components == 0 {
            Some("has no components")
        } else {
            None
        };
        if let Some(fault) = fault {
            return Err(IoError::Field {
                name: name.to_owned(),
                fault,
            });
        }
        if values.len() != items * components {
            return Err(IoError::FieldLength {
                name: name.to_owned(),
                location,
                found: values.len(),
                items,
                components,
            });
        }
    }
    Ok(())
}

/// The compressed arrays that follow the XML, in the order of their offsets.
#[derive(Default)]
struct Appended {
    arrays: Vec<Compressed>,
    bytes: usize,
}

impl Appended {
    /// Compresses `fields` and returns the XML element that refers to them, given its name and attributes.
    fn section(
        &mut self,
        [name, attributes]: [&str; 2],
        fields: &[Field<'_>],
    ) -> Result<String, io::Error> {
        let mut xml = format!("<{name}{attributes}>\n");
        for field in fields {
            xml += &format!(
                "<DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" \
                 format=\"appended\" offset=\"{}\"/>\n",
                field.values.type_name(),
                escape(field.name),
                field.components,
                self.bytes,
            );
            let array = field.values.compress()?;
            self.bytes += array.len();
            self.arrays.push(array);
        }
        xml += &format!("</{name}>\n");
        Ok(xml)
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        self.arrays.iter().try_for_each(|array| array.write(out))
    }
}

/// A name as the value of an XML attribute.
fn escape(name: &str) -> String {
    name.chars()
        .map(|c| match c {
            '&' => "&amp;".into(),
            '<' => "&lt;".into(),
            '>' => "&gt;".into(),
            '"' => "&quot;".into(),
            c if c.is_control() => "_".into(),
            c => c.to_string(),
        })
        .collect()
}
