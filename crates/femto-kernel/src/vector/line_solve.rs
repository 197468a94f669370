//! Banded systems along lines of entries, factored as L D Lᵀ.
//!
//! A row is coupled with at most `band` rows before it. A slice is [`SLICE`] lines, all as long as its longest one: row r of
//! line `lane` of a slice is at `offsets[slice] + r * SLICE + lane`, so that the threads of neighbouring lines read
//! neighbouring numbers.

use super::sparse::{NO_COLUMN, SLICE};
use super::vectorized;
use crate::dialect::{BlockShape, KernelFile, Language, SourceBuilder, text};
use crate::roofline::Work;
use crate::scalar::{Precision, Real, SimdLevel};

const TEXT: KernelFile = text!("vector/line_solve.c");

/// The block of the kernel: a slice, so that few lines are spread over many multiprocessors.
pub const BLOCK: BlockShape = BlockShape::row(SLICE as u32);

/// The widest band that [`solve`] takes.
pub const MOST_BAND: usize = 15;

/// Lines of factors.
#[derive(Clone, Copy, Debug)]
pub struct LineFactors<'a, T> {
    /// Rows before a row that it is coupled with, at most; 1 to [`MOST_BAND`].
    pub band: usize,
    /// Start of each slice, and the end of the last, `[slices + 1]`.
    pub offsets: &'a [u32],
    /// The entry of the input of each row, [`NO_COLUMN`] beyond the end of a line: `[slice][row][lane]`.
    pub entries: &'a [u32],
    /// 1/D and L at the distances 1 to `band`, zero beyond the ends of a line: `[slice][row][1 + band][lane]`.
    pub factors: &'a [T],
}

/// The work for this many rows, those beyond the ends of lines included. The factors count twice.
pub fn work<T: Real>(band: usize, rows: usize) -> Work {
    let (numbers, places) = (rows * (2 * band + 1 + 2), rows + rows.div_ceil(SLICE));
    Work {
        bytes_read: (numbers * T::BYTES + places * size_of::<u32>()) as u64,
        bytes_written: (2 * rows * T::BYTES) as u64,
        flops: (rows * (4 * band + 2)) as u64,
        ..Work::default()
    }
}

/// The text for a band; its kernel is `solve_lines`, with arguments given in `line_solve.c`.
pub fn source(language: Language, precision: Precision, band: usize) -> String {
    let mut source = SourceBuilder::new(language, precision, BLOCK);
    source.define("BAND", band);
    source.define("SLICE", SLICE);
    source.define("NO_COLUMN", format!("{NO_COLUMN}u"));
    source.include(TEXT);
    source.finish()
}

/// e = (L D Lᵀ)⁻¹ x on the slices from `first` on whose rows `e` has, `[slice][row][lane]`.
pub fn solve<T: Real>(
    level: SimdLevel,
    lines: LineFactors<'_, T>,
    x: &[T],
    (first, e): (usize, &mut [T]),
) {
    let LineFactors { band, .. } = lines;
    assert!((1..=MOST_BAND).contains(&band), "a band of {band}");
    let mut e = e;
    for ends in lines.offsets[first..].windows(2) {
        let range = ends[0] as usize..ends[1] as usize;
        if e.len() < range.len() {
            return;
        }
        let (own, rest) = e.split_at_mut(range.len());
        e = rest;
        let (entries, _) = lines.entries[range.clone()].as_chunks::<SLICE>();
        let factors = &lines.factors[range.start * (1 + band)..range.end * (1 + band)];
        let (factors, _) = factors.as_chunks::<SLICE>();
        let (own, _) = own.as_chunks_mut::<SLICE>();
        vectorized(
            level,
            #[inline(always)]
            || slice(band, (entries, factors), x, own),
        );
    }
}

/// Solves a slice: `entries` and `e` are `[row]`, `factors` is `[row][1 + band]`.
#[inline(always)]
fn slice<T: Real>(
    band: usize,
    (entries, factors): (&[[u32; SLICE]], &[[T; SLICE]]),
    x: &[T],
    e: &mut [[T; SLICE]],
) {
    // The number of row r is at r % band.
    let mut window = [[T::default(); SLICE]; MOST_BAND];
    let rows = entries.iter().zip(factors.chunks_exact(1 + band));
    let mut at = 0;
    for ((entries, factors), e) in rows.zip(e.iter_mut()) {
        let mut sum = [T::default(); SLICE];
        for lane in 0..SLICE {
            let value = x.get(entries[lane] as usize);
            sum[lane] = value.copied().unwrap_or_default();
        }
        let mut before = at;
        for factors in &factors[1..] {
            before = if before == 0 { band - 1 } else { before - 1 };
            let known = &window[before];
            for lane in 0..SLICE {
                sum[lane] -= factors[lane] * known[lane];
            }
        }
        for lane in 0..SLICE {
            e[lane] = factors[0][lane] * sum[lane];
        }
        window[at] = sum;
        at = if at + 1 == band { 0 } else { at + 1 };
    }
    // Of row r the sum of what the rows after it take from it.
    window = [[T::default(); SLICE]; MOST_BAND];
    let rows = factors.chunks_exact(1 + band).zip(e.iter_mut());
    for (factors, e) in rows.rev() {
        at = if at == 0 { band - 1 } else { at - 1 };
        for lane in 0..SLICE {
            e[lane] -= window[at][lane];
        }
        window[at] = [T::default(); SLICE];
        let mut before = at;
        for factors in &factors[1..] {
            before = if before == 0 { band - 1 } else { before - 1 };
            let sum = &mut window[before];
            for lane in 0..SLICE {
                sum[lane] += factors[lane] * e[lane];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::random;

    /// Random lines of several lengths, some rows held at zero, against substitution line by line.
    fn check<T: Real>(level: SimdLevel, band: usize, tolerance: f64) {
        let (len, lines) = (1500, 2 * SLICE + 5);
        let length = |line: usize| 1 + line / SLICE * 7 + line % 3;
        let number = |seed: u32, at: usize| random::entry(seed, at as u32);
        let (mut offsets, mut entries, mut factors) = (vec![0], Vec::new(), Vec::<T>::new());
        for slice in 0..lines.div_ceil(SLICE) {
            let own = |lane: usize| Some(slice * SLICE + lane).filter(|&line| line < lines);
            let lengths = (0..SLICE).map(|lane| own(lane).map_or(0, length));
            for row in 0..lengths.max().unwrap() {
                let is_row = |lane| own(lane).is_some_and(|line| row < length(line));
                for lane in 0..SLICE {
                    let entry = (entries.len() * 7 % len) as u32;
                    entries.push(if is_row(lane) { entry } else { NO_COLUMN });
                }
                for (k, lane) in (0..=band).flat_map(|k| (0..SLICE).map(move |lane| (k, lane))) {
                    let factor = number(1, factors.len()) * if k == 0 { 1.0 } else { 0.3 };
                    let is_held = (row + lane) % 11 == 4;
                    let counts = is_row(lane) && k <= row && !is_held;
                    factors.push(T::from_f64(if counts { factor } else { 0.0 }));
                }
            }
            offsets.push(entries.len() as u32);
        }
        let x: Vec<T> = (0..len).map(|at| T::from_f64(number(2, at))).collect();
        let given = LineFactors {
            band,
            offsets: &offsets,
            entries: &entries,
            factors: &factors,
        };
        let mut e = vec![T::from_f64(f64::NAN); entries.len()];
        let (before, after) = e.split_at_mut(offsets[1] as usize);
        solve(level, given, &x, (0, before));
        solve(level, given, &x, (1, after));
        for line in 0..lines {
            let (slice, lane) = (line / SLICE, line % SLICE);
            let (first, rows) = (offsets[slice] as usize, length(line));
            let place = |row: usize| first + row * SLICE + lane;
            let factor = |row: usize, k: usize| {
                let of_row = (first / SLICE + row) * (1 + band);
                factors[(of_row + k) * SLICE + lane].to_f64()
            };
            let mut y: Vec<f64> = (0..rows)
                .map(|row| x[entries[place(row)] as usize].to_f64())
                .collect();
            for row in 0..rows {
                for k in 1..=band.min(row) {
                    y[row] -= factor(row, k) * y[row - k];
                }
            }
            (0..rows).for_each(|row| y[row] *= factor(row, 0));
            for row in (0..rows).rev() {
                for k in 1..=band.min(row) {
                    y[row - k] -= factor(row, k) * y[row];
                }
            }
            for (row, wanted) in y.into_iter().enumerate() {
                let found = e[place(row)].to_f64();
                let error = (found - wanted).abs();
                assert!(
                    error < tolerance * wanted.abs().max(1.0),
                    "band {band}, line {line}, row {row}: {found}, not {wanted}"
                );
            }
        }
    }

    #[test]
    fn lines_are_solved_by_substitution() {
        for &level in SimdLevel::available() {
            for band in [1, 2, 4, 7, MOST_BAND] {
                check::<f64>(level, band, 1e-12);
                check::<f32>(level, band, 1e-4);
            }
        }
    }
}
