//! NumPy arrays as they lie in a file: the header, and where the numbers are.

use crate::design::stored::names::numpy_type;
use crate::design::stored::source::{Source, bad};
use crate::error::Result;
use pulp::bytemuck::{Pod, cast_slice_mut};

/// Most bytes of a header: that of an array of numbers has about a hundred.
const LONGEST_HEADER: usize = 1 << 20;

/// A number as a file stores it, its lowest byte first.
pub(super) trait StoredNumber: Pod {
    /// The number that was read as if the machine stored its lowest byte first as well.
    fn in_order(self) -> Self;
}

macro_rules! stored {
    ($($kind:ty),*) => {$(
        impl StoredNumber for $kind {
            #[inline(always)]
            fn in_order(self) -> Self {
                Self::from_le_bytes(self.to_ne_bytes())
            }
        }
    )*};
}
stored!(f64, f32, i8, u32, i64);

/// So many numbers of an array that begins at `start`, in place of what is in `out`.
pub(super) fn read_numbers<T: StoredNumber>(
    file: &Source,
    start: u64,
    first: usize,
    count: usize,
    out: &mut Vec<T>,
) -> Result<()> {
    resize(file, out, count, T::zeroed())?;
    file.read(start + (first * size_of::<T>()) as u64, cast_slice_mut(out))?;
    if cfg!(target_endian = "big") {
        out.iter_mut().for_each(|x| *x = x.in_order());
    }
    Ok(())
}

/// Makes a buffer so long, or says that there is no memory for it.
pub(super) fn resize<T: Copy>(file: &Source, buffer: &mut Vec<T>, count: usize, zero: T) -> Result<()> {
    if buffer.try_reserve_exact(count.saturating_sub(buffer.len())).is_err() {
        let reason = format!("there is no memory for a block of {} bytes", count.saturating_mul(size_of::<T>()));
        return Err(bad(file.path(), "a block of columns", reason));
    }
    buffer.resize(count, zero);
    Ok(())
}

/// What a header says.
pub(super) struct NpyHeader {
    /// The type, as in `<f8`.
    pub(super) kind: String,
    pub(super) by_columns: bool,
    pub(super) shape: Vec<u64>,
    /// Where the numbers begin.
    pub(super) start: u64,
}

impl NpyHeader {
    /// Of an array in a file, which must hold as many numbers as it promises, and no more: a digit lost from the shape would leave
    /// a smaller array to be answered for.
    pub(super) fn read(source: &Source) -> Result<Self> {
        let wrong = |reason: String| bad(source.path(), "the header", reason);
        let not_numpy = || wrong("this is no NumPy array (.npy)".into());
        let mut start = [0; 12];
        let known = source.len().min(12) as usize;
        source.read(0, &mut start[..known])?;
        if known < 10 || &start[..6] != b"\x93NUMPY" {
            return Err(not_numpy());
        }
        let (length, from) = match start[6] {
            1 => (usize::from(u16::from_le_bytes([start[8], start[9]])), 10),
            _ => (u32::from_le_bytes([start[8], start[9], start[10], start[11]]) as usize, 12),
        };
        if length > LONGEST_HEADER || from + length as u64 > source.len() {
            return Err(wrong(format!("its length is said to be {length} bytes, in a file of {}", source.len())));
        }
        let mut text = vec![0; length];
        source.read(from, &mut text)?;
        let text = String::from_utf8_lossy(&text);
        let header = Self::parse(&text, from + length as u64).ok_or_else(not_numpy)?;
        // Others are not as long as their sizes say.
        if !header.kind.contains(['f', 'i', 'u', 'c', 'b']) || header.kind.contains(char::is_uppercase) {
            let found = numpy_type(&header.kind);
            return Err(wrong(format!(
                "its entries are of dtype {found}, no numbers; make them some: numpy.save(file, x.astype('float64'))"
            )));
        }
        let entries = header.shape.iter().try_fold(1u64, |product, &k| product.checked_mul(k));
        let bytes = entries.and_then(|entries| entries.checked_mul(header.width()));
        let (shape, held) = (&header.shape, source.len());
        match bytes.and_then(|bytes| bytes.checked_add(header.start)) {
            Some(end) if end == held => Ok(header),
            Some(end) if end < held => {
                Err(wrong(format!("it promises an array of {shape:?}, {} bytes less than the file has", held - end)))
            }
            _ => Err(wrong(format!("it promises an array of {shape:?}, more than {held} bytes hold"))),
        }
    }

    fn parse(text: &str, start: u64) -> Option<Self> {
        let after = |key: &str| Some(text.split_once(key)?.1.split_once(':')?.1.trim_start());
        let kind = match after("'descr'")? {
            // A list of fields: records.
            records if records.starts_with('[') => "V".to_owned(),
            plain => plain.strip_prefix('\'')?.split_once('\'')?.0.to_owned(),
        };
        let by_columns = after("'fortran_order'")?.starts_with("True");
        let sizes = after("'shape'")?.strip_prefix('(')?.split_once(')')?.0;
        let sizes = sizes.split(',').map(str::trim).filter(|word| !word.is_empty());
        let shape = sizes.map(|word| word.trim_end_matches('L').parse().ok()).collect::<Option<Vec<u64>>>()?;
        Some(Self { kind, by_columns, shape, start })
    }

    /// Bytes of one number.
    pub(super) fn width(&self) -> u64 {
        self.kind.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(8).max(1)
    }
}
