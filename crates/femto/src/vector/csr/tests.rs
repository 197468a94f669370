//! Products and transposes.

use super::*;
use femto_kernel::vector::random;

fn matrix(seed: u32, rows: usize, columns: usize) -> Csr {
    let entry = |row: usize, column: usize| random::entry(seed, (row * columns + column) as u32);
    Csr::by_rows((rows, columns), |row, entries| {
        let all = (0..columns).map(|column| (column as u32, entry(row, column)));
        entries.extend(all.filter(|&(_, value)| value > 0.7));
    })
}

fn dense(matrix: &Csr) -> Vec<Vec<f64>> {
    let row = |row| {
        let mut values = vec![0.0; matrix.columns()];
        matrix
            .row(row)
            .for_each(|(at, value)| values[at as usize] = value);
        values
    };
    (0..matrix.rows()).map(row).collect()
}

#[test]
fn products_and_transposes_are_those_of_dense_matrices() {
    let (a, b) = (matrix(1, 2100, 40), matrix(2, 40, 30));
    let (c, [da, db]) = (a.times(&b), [&a, &b].map(dense));
    for (row, found) in dense(&c).iter().enumerate() {
        for (column, found) in found.iter().enumerate() {
            let wanted: f64 = (0..40).map(|m| da[row][m] * db[m][column]).sum();
            assert!((found - wanted).abs() < 1e-13);
        }
        assert!(c.row_columns(row).is_sorted_by(|a, b| a < b));
    }
    let at = a.transposed();
    assert_eq!((at.rows(), at.columns()), (40, 2100));
    assert_eq!(at.transposed(), a);
    assert!(
        dense(&at)
            .iter()
            .enumerate()
            .all(|(i, row)| row[7] == da[7][i])
    );
}

/// Blocks of zeros and of all entries, more rows than a part has.
#[test]
fn products_by_blocks_are_those_of_entries() {
    let blocky = |seed: u32, nodes: [usize; 2], [height, width]: [usize; 2]| {
        let size = [nodes[0] * height, nodes[1] * width];
        Csr::by_rows((size[0], size[1]), |row, entries| {
            let node = row / height;
            let columns = (0..size[1]).filter(|column| {
                let pair = (node * nodes[1] + column / width) as u32;
                random::entry(seed, pair) > 0.6
            });
            let value = |column| random::entry(seed + 1, (row * size[1] + column) as u32);
            entries.extend(columns.map(|column| (column as u32, value(column))));
        })
    };
    let sizes = [
        [2, 2, 2],
        [2, 2, 3],
        [3, 2, 3],
        [3, 3, 3],
        [3, 3, 6],
        [6, 3, 6],
        [6, 6, 6],
        // By entries.
        [4, 5, 4],
    ];
    for blocks @ [height, middle, width] in sizes {
        let a = blocky(3, [900, 20], [height, middle]);
        let b = blocky(5, [20, 15], [middle, width]);
        let (found, wanted) = (a.times_by_blocks(&b, blocks), a.times(&b));
        assert!(found.positions() == wanted.positions(), "{blocks:?}");
        for row in 0..found.rows() {
            for (found, wanted) in found.row_values(row).iter().zip(wanted.row_values(row)) {
                assert!((found - wanted).abs() < 1e-14);
            }
        }
    }
}

#[test]
fn matrices_without_rows_columns_or_entries_are_fine() {
    for (rows, columns) in [(0, 5), (5, 0), (0, 0), (3, 4)] {
        let empty = Csr::<()>::by_rows((rows, columns), |_, _| ());
        let transposed = empty.transposed();
        assert_eq!((transposed.rows(), transposed.columns()), (columns, rows));
        assert_eq!(empty.times(&transposed).entries(), 0);
    }
}
