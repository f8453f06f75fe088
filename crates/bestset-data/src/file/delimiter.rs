//! What divides the fields of a text, by its first bytes.

/// Delimiters that are known by sight, those that occur as often as another last.
const KNOWN: [u8; 4] = [b'|', b'\t', b';', b','];

/// Whether text has columns.
pub fn is_table(start: &[u8]) -> bool {
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    !text.contains(&0)
        && memchr::memchr2(b'\n', b'\r', text).is_some_and(|end| end + 1 < text.len())
        && seen(text).is_some()
}

/// The delimiter that the beginning of a file shows.
pub fn seen(start: &[u8]) -> Option<u8> {
    let mut lines = start.split_inclusive(|b| matches!(b, b'\n' | b'\r')).filter(|line| line.len() > 1);
    let first = lines.next()?;
    let mut quotes = false;
    let mut counts = [0usize; KNOWN.len()];
    for byte in first {
        quotes ^= *byte == b'"';
        if let Some(k) = KNOWN.iter().position(|d| d == byte && !quotes) {
            counts[k] += 1;
        }
    }
    let best = (0..KNOWN.len()).max_by_key(|&k| counts[k]).unwrap_or_default();
    if counts[best] > 0 {
        return Some(KNOWN[best]);
    }
    // A row may have a name of its own, which the line of names has not; a line without an end may be cut.
    let width = words(first);
    let whole = |line: &[u8]| matches!(line.last(), Some(b'\n' | b'\r'));
    let like = |line: &[u8]| words(line) == width || words(line) == width + 1 || (!whole(line) && words(line) <= width);
    (width > 1 && (!whole(first) || lines.next().is_none_or(like))).then_some(b' ')
}

/// Words of a line; what is quoted is one.
fn words(line: &[u8]) -> usize {
    let (mut count, mut quotes, mut inside) = (0, false, false);
    for byte in line {
        quotes ^= *byte == b'"';
        let blank = !quotes && matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        count += usize::from(!blank && !inside);
        inside = !blank;
    }
    count
}
