//! Products with sparse matrices.

use super::Bench;
use crate::kernels::Number;
use anyhow::{Result, ensure};
use femto_kernel::vector::source;
use femto_kernel::vector::sparse::{NO_COLUMN, SLICE};
use femto_platform::device::Device;
use femto_platform::device::accelerator::{AcceleratorBuffer, Argument};

/// The row of a lane: those beyond the last row are their own.
fn row_of(lane: usize, rows: usize, in_order: bool) -> usize {
    match in_order || lane >= rows {
        true => lane,
        false => rows - 1 - lane,
    }
}

impl<T: Number> Bench<'_, T> {
    /// Products with the rows of the matrix in order, then last before first.
    pub(super) fn multiply_sparse(&self) -> Result<()> {
        self.multiply_slices(true)?;
        self.multiply_slices(false)
    }

    /// The matrix with 2 on its diagonal, and the next entry's value beside it, in slices of two entries per row; then
    /// ones in the same places, a third of the rows with the first alone.
    fn multiply_slices(&self, in_order: bool) -> Result<()> {
        let rows = self.inputs[0].len();
        let row_of = |lane| row_of(lane, rows, in_order);
        let order: Vec<u32> = (0..rows).map(|lane| row_of(lane) as u32).collect();
        let order = self.device.upload(&order)?;
        let next = |row: usize| (row + 1) % rows;
        let slices = rows.div_ceil(SLICE);
        let offsets: Vec<u32> = (0..=slices)
            .map(|slice| (slice * 2 * SLICE) as u32)
            .collect();
        let row_at = |k: usize| row_of(k / (2 * SLICE) * SLICE + k % SLICE);
        let entries = (0..slices * 2 * SLICE).map(|k| (row_at(k), k / SLICE % 2));
        let entries = entries.map(|(row, which)| match (row < rows, which) {
            (false, _) => (0, 0.0),
            (true, 0) => (row as u32, 2.0),
            (true, _) => (next(row) as u32, self.inputs[3][next(row)].to_f64()),
        });
        let (columns, values): (Vec<u32>, Vec<f64>) = entries.unzip();
        let is_short = |row: usize| row.is_multiple_of(3);
        let ones = columns.iter().enumerate().map(|(k, &column)| {
            let row = row_at(k);
            let is_beyond = row >= rows || is_short(row) && k / SLICE % 2 == 1;
            if is_beyond { NO_COLUMN } else { column }
        });
        let ones = self.device.upload(&ones.collect::<Vec<u32>>())?;
        let values: Vec<T> = values.into_iter().map(T::from_f64).collect();
        let [offsets, columns] = [self.device.upload(&offsets)?, self.device.upload(&columns)?];
        let values = self.device.upload(&values)?;
        let x: Vec<f64> = self.inputs[0].iter().map(|&x| x.to_f64()).collect();
        let d: Vec<f64> = self.inputs[3].iter().map(|&d| d.to_f64()).collect();
        for (add, has_values) in [(0, 1), (1, 1), (0, 0), (1, 0)] {
            let [g_x, mut y, ..] = self.upload()?;
            let arguments = [
                self.len(),
                Argument::I32(add),
                Argument::I32(has_values),
                Argument::I32(in_order.into()),
                Argument::input(&order),
                Argument::input(&offsets),
                Argument::input(if has_values == 1 { &columns } else { &ones }),
                Argument::input(&values),
                Argument::input(&g_x),
                Argument::output(&mut y),
            ];
            self.launch("multiply_sparse", source::entry_blocks(rows), &arguments)?;
            self.expect_entries("multiply_sparse", &y, |row, [_, y, ..]| {
                let product = match (has_values, is_short(row)) {
                    (1, _) => 2.0 * x[row] + d[next(row)] * x[next(row)],
                    (_, false) => x[row] + x[next(row)],
                    (_, true) => x[row],
                };
                f64::from(add) * y + product
            })?;
        }
        self.multiply_blocks((in_order, &order), [&offsets, &columns], (&x, &d))?;
        // x, and twice as much in the second component.
        let both = x.iter().flat_map(|&x| [x, 2.0 * x].map(T::from_f64));
        let both: Vec<T> = both.collect();
        let [g_x, mut y] = [self.device.upload(&both)?, self.device.upload(&both)?];
        let [components, node, component] = [2, 2, 1].map(Argument::U32);
        let arguments = [
            self.len(),
            Argument::I32(0),
            components,
            node,
            component,
            Argument::I32(in_order.into()),
            Argument::input(&order),
            Argument::input(&offsets),
            Argument::input(&columns),
            Argument::input(&values),
            Argument::input(&g_x),
            Argument::output(&mut y),
        ];
        let entry = "multiply_sparse_components";
        self.launch(entry, source::entry_blocks(rows), &arguments)?;
        let mut found = both;
        self.device.read(&y, &mut found)?;
        for (row, found) in found.chunks_exact(2).enumerate() {
            let wanted = 2.0 * x[row] + d[next(row)] * x[next(row)];
            for (c, &found) in found.iter().enumerate() {
                let error = (found.to_f64() - (c + 1) as f64 * wanted).abs();
                ensure!(
                    error <= 16.0 * self.tolerance,
                    "{entry}: {error} in row {row}"
                );
            }
        }
        Ok(())
    }

    /// The same slices, of blocks whose first column is that of an entry: value c of a block in a row is d of the row over c + 1.
    fn multiply_blocks(
        &self,
        (in_order, order): (bool, &AcceleratorBuffer<u32>),
        [offsets, columns]: [&AcceleratorBuffer<u32>; 2],
        (x, d): (&[f64], &[f64]),
    ) -> Result<()> {
        let rows = x.len();
        for width in [2, 3, 6] {
            let slots = 0..rows.div_ceil(SLICE) * 2 * width * SLICE;
            let value = |k: usize| {
                let (lane, n) = (
                    k / (2 * width * SLICE) * SLICE + k % SLICE,
                    k / SLICE % width,
                );
                let row = row_of(lane, rows, in_order);
                T::from_f64(d.get(row).map_or(0.0, |d| d / (n + 1) as f64))
            };
            let values = self.device.upload(&slots.map(value).collect::<Vec<T>>())?;
            // Blocks of the last columns reach beyond x.
            let longer = (0..rows + width).map(|n| T::from_f64(x[n % rows]));
            let g_x = self.device.upload(&longer.collect::<Vec<T>>())?;
            let [_, mut y, ..] = self.upload()?;
            let arguments = [
                self.len(),
                Argument::I32(1),
                Argument::U32(width as u32),
                Argument::I32(in_order.into()),
                Argument::input(order),
                Argument::input(offsets),
                Argument::input(columns),
                Argument::input(&values),
                Argument::input(&g_x),
                Argument::output(&mut y),
            ];
            let entry = "multiply_sparse_blocks";
            self.launch(entry, source::entry_blocks(rows), &arguments)?;
            self.expect_entries(entry, &y, |row, [_, y, ..]| {
                let firsts = [row, (row + 1) % rows];
                let pairs = firsts
                    .into_iter()
                    .flat_map(|first| (0..width).map(move |c| (first, c)));
                let terms = pairs.map(|(first, c)| d[row] / (c + 1) as f64 * x[(first + c) % rows]);
                y + terms.sum::<f64>()
            })?;
        }
        Ok(())
    }
}
