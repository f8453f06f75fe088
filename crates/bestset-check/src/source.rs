//! The bytes of a proof, one after the other. Nothing is allocated on the word of a count: lists grow as their entries are read.

use std::io::{ErrorKind, Read};

/// Bytes with their place in the file.
pub struct Source<R> {
    from: R,
    place: u64,
}

impl<R: Read> Source<R> {
    /// From the first byte.
    pub fn new(from: R) -> Self {
        Self { from, place: 0 }
    }

    /// The place of the next byte.
    pub fn place(&self) -> u64 {
        self.place
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let mut bytes = [0; N];
        self.from.read_exact(&mut bytes).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => format!("the file ends at byte {}, in the middle of a proof", self.place),
            _ => format!("byte {} cannot be read: {error}", self.place),
        })?;
        self.place += N as u64;
        Ok(bytes)
    }

    /// One byte.
    pub fn byte(&mut self) -> Result<u8, String> {
        Ok(self.bytes::<1>()?[0])
    }

    /// A byte that is 0 or 1.
    pub fn flag(&mut self) -> Result<bool, String> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(format!("byte {}: {other} where 0 or 1 is wanted", self.place - 1)),
        }
    }

    /// So many bytes.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        self.bytes()
    }

    /// A whole number, seven bits a byte, the lowest first, at most 2⁴⁰.
    pub fn whole(&mut self) -> Result<usize, String> {
        let mut value = 0u64;
        for shift in (0..42).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 && value <= 1 << 40 {
                return Ok(value as usize);
            }
        }
        Err(format!("byte {}: a whole number of more than 2^40", self.place))
    }

    /// A feature: a whole number below p.
    pub fn feature(&mut self, p: usize) -> Result<usize, String> {
        match self.whole()? {
            j if j < p => Ok(j),
            j => Err(format!("byte {}: feature {j} of {p}", self.place)),
        }
    }

    /// A number that is not NaN.
    pub fn real(&mut self) -> Result<f64, String> {
        match f64::from_le_bytes(self.bytes()?) {
            x if x.is_nan() => Err(format!("byte {}: not a number", self.place - 8)),
            x => Ok(x),
        }
    }

    /// A finite number that sums can be bounded of.
    pub fn usable(&mut self) -> Result<f64, String> {
        match self.real()? {
            x if crate::round::is_usable(x) => Ok(x),
            x => Err(format!("byte {}: {x:e} is neither 0 nor between 1e-60 and 1e60 in size", self.place - 8)),
        }
    }

    /// A text: its length in bytes, and these.
    pub fn text(&mut self) -> Result<String, String> {
        let length = self.whole()?;
        let mut bytes = Vec::new();
        for _ in 0..length {
            bytes.push(self.byte()?);
        }
        String::from_utf8(bytes).map_err(|_| format!("byte {}: a name that is no UTF-8 text", self.place))
    }

    /// Ascending features below p: their number, the first, and what each exceeds the one before by.
    pub fn features(&mut self, p: usize) -> Result<Vec<usize>, String> {
        let count = self.whole()?;
        let mut list: Vec<usize> = Vec::new();
        for _ in 0..count {
            let by = self.whole()?;
            let next = match list.last() {
                None => by,
                Some(last) if by > 0 => last + by,
                Some(last) => return Err(format!("byte {}: feature {last} is listed twice", self.place)),
            };
            if next >= p {
                return Err(format!("byte {}: feature {next} of {p}", self.place));
            }
            list.push(next);
        }
        Ok(list)
    }

    /// Whether there is no byte left.
    pub fn is_at_end(&mut self) -> bool {
        self.byte().is_err()
    }
}
