//! Numbers in a file, ASCII or binary.

use super::cursor::{Cursor, Parsed, fault};
use super::error::{GmshError, Place};

/// The encoding of numbers in the sections of a file.
#[derive(Clone, Copy, Debug)]
enum Coding {
    /// Decimal, separated by white space.
    Ascii,
    /// Integers of 4 bytes, counts and identifiers of 4 or 8, floats of 8.
    Binary { big_endian: bool, widths: Widths },
}

/// Bytes of non-negative numbers in binary files.
#[derive(Clone, Copy, Debug)]
pub(super) struct Widths {
    pub(super) count: usize,
    /// Of node and element numbers.
    pub(super) id: usize,
}

/// The numbers of an item in the file, to bound a count of items by the remaining bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Item {
    pub(super) ints: usize,
    pub(super) counts: usize,
    /// Node and element numbers.
    pub(super) ids: usize,
    pub(super) floats: usize,
}

/// Reads numbers front to back in either encoding, so that each version of the format is written only once.
#[derive(Debug)]
pub(super) struct Numbers<'a> {
    /// The text and bytes underneath.
    pub(super) text: Cursor<'a>,
    coding: Coding,
}

impl<'a> Numbers<'a> {
    /// Starts in ASCII.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            text: Cursor::new(bytes),
            coding: Coding::Ascii,
        }
    }

    /// Switches to binary, in the byte order in which the next four bytes are a 1.
    pub(super) fn switch_to_binary(&mut self, widths: Widths) -> Parsed<()> {
        let at = self.text.at();
        let mark = self.text.take("the byte-order mark")?;
        let big_endian = match mark {
            [1, 0, 0, 0] => false,
            [0, 0, 0, 1] => true,
            _ => return Err(fault(at, GmshError::ByteOrder(mark))),
        };
        self.coding = Coding::Binary { big_endian, widths };
        Ok(())
    }

    pub(super) fn is_binary(&self) -> bool {
        matches!(self.coding, Coding::Binary { .. })
    }

    /// The same position, reading numbers as text.
    pub(super) fn as_text(&self) -> Self {
        Self {
            text: self.text.clone(),
            coding: Coding::Ascii,
        }
    }

    /// Skips a count if it is below zero.
    pub(super) fn skip_negative(&mut self, what: &'static str) -> Parsed<bool> {
        let before = self.text.clone();
        let Coding::Binary { big_endian, .. } = self.coding else {
            return Ok(false);
        };
        let bytes: [u8; 8] = self.text.take(what)?;
        let is_negative = bytes[if big_endian { 0 } else { 7 }] > 127;
        if !is_negative {
            self.text = before;
        }
        Ok(is_negative)
    }

    /// A byte offset as named in errors.
    pub(super) fn place(&self, at: usize) -> Place {
        match self.coding {
            Coding::Ascii => Place::Line(self.text.line(at)),
            Coding::Binary { .. } => Place::Byte(at),
        }
    }

    /// The byte offset of the next number.
    #[inline]
    pub(super) fn at(&mut self) -> usize {
        match self.coding {
            Coding::Ascii => self.text.skip_space(),
            Coding::Binary { .. } => self.text.at(),
        }
    }

    /// A signed integer of 32 bits.
    #[inline]
    pub(super) fn int(&mut self, what: &'static str) -> Parsed<i32> {
        let at = self.at();
        match self.coding {
            Coding::Ascii => {
                let value = self.text.integer(what)?;
                i32::try_from(value).map_err(|_| range(at, what, value, "a 32-bit integer"))
            }
            Coding::Binary { big_endian, .. } => {
                let bytes = self.text.take(what)?;
                Ok(if big_endian {
                    i32::from_be_bytes(bytes)
                } else {
                    i32::from_le_bytes(bytes)
                })
            }
        }
    }

    /// A non-negative count.
    #[inline]
    pub(super) fn size(&mut self, what: &'static str) -> Parsed<u64> {
        self.natural(what, |widths| widths.count)
    }

    /// A non-negative number of the given width in binary files.
    #[inline]
    fn natural(&mut self, what: &'static str, width: fn(Widths) -> usize) -> Parsed<u64> {
        let at = self.at();
        let value = match self.coding {
            Coding::Ascii => self.text.integer(what)?,
            Coding::Binary { widths, .. } if width(widths) == 4 => self.int(what)?.into(),
            Coding::Binary { big_endian, .. } => {
                let bytes = self.text.take(what)?;
                if big_endian {
                    i64::from_be_bytes(bytes)
                } else {
                    i64::from_le_bytes(bytes)
                }
            }
        };
        u64::try_from(value).map_err(|_| range(at, what, value, "0 or more"))
    }

    /// The number of a node or an element.
    #[inline]
    pub(super) fn id(&mut self, what: &'static str) -> Parsed<u64> {
        let at = self.at();
        match self.natural(what, |widths| widths.id)? {
            0 => Err(range(at, what, 0, "1 or more")),
            id => Ok(id),
        }
    }

    /// A floating-point number, not necessarily finite.
    #[inline]
    pub(super) fn float(&mut self, what: &'static str) -> Parsed<f64> {
        match self.coding {
            Coding::Ascii => self.text.float(what),
            Coding::Binary { big_endian, .. } => {
                let bytes = self.text.take(what)?;
                Ok(if big_endian {
                    f64::from_be_bytes(bytes)
                } else {
                    f64::from_le_bytes(bytes)
                })
            }
        }
    }

    /// Three coordinates.
    #[inline]
    pub(super) fn point(&mut self) -> Parsed<[f64; 3]> {
        Ok([
            self.float("an x coordinate")?,
            self.float("a y coordinate")?,
            self.float("a z coordinate")?,
        ])
    }

    /// A count of items that follow.
    pub(super) fn count(&mut self, what: &'static str, item: Item) -> Parsed<u64> {
        let at = self.at();
        let count = self.size(what)?;
        self.bounded(at, what, count, item)
    }

    /// A count that is text even in binary files, alone on its line.
    pub(super) fn text_count(&mut self, what: &'static str, item: Item) -> Parsed<u64> {
        let at = self.text.skip_space();
        let count = self.text.integer(what)?;
        let count = u64::try_from(count).map_err(|_| range(at, what, count, "0 or more"))?;
        self.text.end_of_line()?;
        self.bounded(at, what, count, item)
    }

    /// The count, if the rest of the file can hold that many items, which bounds allocations by the size of
    /// the file.
    fn bounded(&self, at: usize, what: &'static str, count: u64, item: Item) -> Parsed<u64> {
        let bytes = match self.coding {
            // A digit and a separator.
            Coding::Ascii => 2 * (item.ints + item.counts + item.ids + item.floats),
            Coding::Binary { widths, .. } => {
                let naturals = widths.count * item.counts + widths.id * item.ids;
                4 * item.ints + naturals + 8 * item.floats
            }
        };
        let needed = u128::from(count) * bytes as u128;
        let left = self.text.rest().len();
        if needed > left as u128 {
            let problem = GmshError::Count {
                what,
                count,
                needed,
                left,
            };
            return Err(fault(at, problem));
        }
        Ok(count)
    }
}

/// A number outside its range.
#[cold]
pub(super) fn range(
    at: usize,
    what: &'static str,
    found: impl ToString,
    supported: &'static str,
) -> Box<super::cursor::Fault> {
    let found = found.to_string();
    fault(
        at,
        GmshError::Range {
            what,
            found,
            supported,
        },
    )
}
