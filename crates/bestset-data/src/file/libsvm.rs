//! LIBSVM and svmlight: one thread decompresses, the others parse blocks of lines.

use super::source::Source;
use super::{ReadOptions, SparseSurvey, check_memory};
use crate::error::{FileError, Result, quoted};
use crate::matrix::{Matrix, Names};
use crate::table::{Label, Table};
use rayon::prelude::*;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::{Mutex, PoisonError, mpsc};

/// Bytes of a block; it ends with a line.
const BLOCK: usize = 1 << 20;

/// Blocks read ahead of the parsers.
const AHEAD: usize = 8;

/// The largest index: a matrix is as wide as its largest index, and a slip of the pen must not fill the memory.
const LARGEST: u64 = 100_000_000;

/// Rows of a block of lines.
#[derive(Default)]
struct Block {
    number: usize,
    lines: u64,
    labels: Vec<f64>,
    /// Where each row ends in `indices` and `values`.
    ends: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
    /// What is wrong on which line of the block.
    bad: Option<(u64, String)>,
}

pub fn read(source: &Source, options: &ReadOptions) -> Result<Table> {
    assemble(source, blocks(source, &|_| {})?, options)
}

/// How many entries each column has, and the labels: what is read of a file that memory cannot hold.
pub fn survey(source: &Source) -> Result<SparseSurvey> {
    let tally = Mutex::new((u32::MAX, Vec::<u64>::new()));
    let found = blocks(source, &|block| {
        let (smallest, counts) = &mut *tally.lock().unwrap_or_else(PoisonError::into_inner);
        for (&k, &value) in block.indices.iter().zip(&block.values) {
            *smallest = k.min(*smallest);
            if counts.len() <= k as usize {
                counts.resize(k as usize + 1, 0);
            }
            counts[k as usize] += u64::from(value != 0.0);
        }
        (block.indices, block.values, block.ends) = (Vec::new(), Vec::new(), Vec::new());
    })?;
    let (smallest, mut counts) = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
    if counts.is_empty() {
        return Err(source.bad("no row has a feature").into());
    }
    let first = usize::from(smallest != 0);
    counts.drain(..first);
    let label: Vec<f64> = found.into_iter().flat_map(|block| block.labels).collect();
    Ok(SparseSurvey { rows: label.len(), first, counts, label: Some(label) })
}

/// The entries of some columns, from the place of the first: column, row and value.
pub fn entries(source: &Source, survey: &SparseSurvey, columns: Range<usize>) -> Result<Vec<(u32, u32, f64)>> {
    let wanted = columns.start + survey.first..columns.end + survey.first;
    let found = blocks(source, &|block| {
        let (mut from, mut kept) = (0, (Vec::new(), Vec::new()));
        for end in &mut block.ends {
            let own = (from..*end).filter(|&k| wanted.contains(&(block.indices[k] as usize)) && block.values[k] != 0.0);
            own.for_each(|k| {
                kept.0.push(block.indices[k]);
                kept.1.push(block.values[k]);
            });
            (from, *end) = (*end, kept.0.len());
        }
        (block.indices, block.values, block.labels) = (kept.0, kept.1, Vec::new());
    })?;
    let (mut entries, mut row) = (Vec::new(), 0);
    for block in found {
        let mut from = 0;
        for end in block.ends {
            let own = (from..end).map(|k| (block.indices[k] - wanted.start as u32, row, block.values[k]));
            entries.extend(own);
            (from, row) = (end, row + 1);
        }
    }
    Ok(entries)
}

/// The lines of a file in blocks, in order; each is thinned before it is kept.
fn blocks(source: &Source, thin: &(dyn Fn(&mut Block) + Sync)) -> Result<Vec<Block>> {
    let (sender, receiver) = mpsc::sync_channel::<io::Result<(usize, Vec<u8>)>>(AHEAD);
    let reader = source.open()?;
    let parsed: io::Result<Vec<Block>> = std::thread::scope(|scope| {
        scope.spawn(move || split(reader, &sender));
        let parse = |(number, bytes): (usize, Vec<u8>)| {
            let mut block = parse(number, &bytes);
            thin(&mut block);
            block
        };
        receiver.into_iter().par_bridge().map(|block| block.map(parse)).collect()
    });
    let mut blocks = parsed.map_err(|e| source.failed(e))?;
    blocks.sort_unstable_by_key(|b| b.number);
    let mut before = 0;
    for block in &blocks {
        if let Some((line, problem)) = &block.bad {
            return Err(source.bad(problem).at_line(before + line).into());
        }
        before += block.lines;
    }
    let rows: usize = blocks.iter().map(|b| b.ends.len().max(b.labels.len())).sum();
    if u32::try_from(rows).is_err() {
        return Err(FileError::new(&source.path, format!("{rows} rows are more than can be counted")).into());
    }
    Ok(blocks)
}

/// Sends blocks that end with a line.
fn split(mut reader: impl Read, sender: &mpsc::SyncSender<io::Result<(usize, Vec<u8>)>>) {
    let mut rest = Vec::new();
    for number in 0.. {
        let mut block = std::mem::take(&mut rest);
        // A line longer than a block makes the block longer.
        let end = loop {
            let wanted = BLOCK as u64;
            match reader.by_ref().take(wanted).read_to_end(&mut block) {
                Ok(0) => break block.len(),
                Ok(_) => match memchr::memrchr(b'\n', &block) {
                    Some(end) => break end + 1,
                    None => continue,
                },
                Err(error) => return drop(sender.send(Err(error))),
            }
        };
        rest.extend_from_slice(&block[end..]);
        block.truncate(end);
        if block.is_empty() || sender.send(Ok((number, block))).is_err() {
            return;
        }
    }
}

fn parse(number: usize, bytes: &[u8]) -> Block {
    let mut block = Block { number, ..Block::default() };
    let mut pairs = Vec::new();
    let text = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    for line in text.split(|b| *b == b'\n') {
        block.lines += 1;
        if let Err(problem) = parse_line(line, &mut block, &mut pairs) {
            block.bad = Some((block.lines, problem));
            break;
        }
    }
    block
}

fn parse_line(line: &[u8], block: &mut Block, pairs: &mut Vec<(u32, f64)>) -> std::result::Result<(), String> {
    let line = &line[..memchr::memchr(b'#', line).unwrap_or(line.len())];
    let line = std::str::from_utf8(line).map_err(|_| "the line is not text".to_owned())?;
    let mut tokens = line.split_ascii_whitespace();
    let Some(label) = tokens.next() else { return Ok(()) };
    let number = |text: &str| text.parse::<f64>().ok().filter(|x| x.is_finite());
    let label = number(label).ok_or_else(|| format!("the label {} is not a finite number", quoted(label)))?;
    pairs.clear();
    let mut sorted = true;
    for token in tokens {
        let Some((index, value)) = token.split_once(':') else {
            return Err(format!("{} is not index:value", quoted(token)));
        };
        if index == "qid" {
            continue;
        }
        let index: u64 = index.parse().map_err(|_| format!("the index of {} is not a whole number", quoted(token)))?;
        if index > LARGEST {
            return Err(format!("the index {index} is larger than {LARGEST}"));
        }
        let value = number(value).ok_or_else(|| format!("the value of {} is not a finite number", quoted(token)))?;
        sorted &= pairs.last().is_none_or(|last| last.0 < index as u32);
        pairs.push((index as u32, value));
    }
    if !sorted {
        pairs.sort_unstable_by_key(|p| p.0);
        if let Some(twice) = pairs.windows(2).find(|w| w[0].0 == w[1].0) {
            return Err(format!("the index {} comes twice", twice[0].0));
        }
    }
    // Indices of zeros count for the width of the matrix.
    block.indices.extend(pairs.iter().map(|p| p.0));
    block.values.extend(pairs.iter().map(|p| p.1));
    block.labels.push(label);
    block.ends.push(block.indices.len());
    Ok(())
}

/// Rows to columns: entries are counted, then put in order of rows.
fn assemble(source: &Source, blocks: Vec<Block>, options: &ReadOptions) -> Result<Table> {
    let rows: usize = blocks.iter().map(|b| b.labels.len()).sum();
    let all = || blocks.iter().flat_map(|b| &b.indices);
    let (smallest, largest) = all().fold((u32::MAX, 0), |(low, high), &k| (low.min(k), high.max(k)));
    // Indices count from one, except in files where a zero shows that they do not.
    let base = u32::from(smallest != 0);
    let columns = if smallest == u32::MAX { 0 } else { (largest - base + 1) as usize };
    if columns == 0 {
        return Err(source.bad("no row has a feature").into());
    }
    let entries: usize = blocks.iter().map(|b| b.values.iter().filter(|v| **v != 0.0).count()).sum();
    check_memory(&source.path, 12 * entries as u128 + 8 * columns as u128, options)?;
    let mut starts = vec![0usize; columns + 2];
    for block in &blocks {
        let stored = block.indices.iter().zip(&block.values).filter(|e| *e.1 != 0.0);
        stored.for_each(|(k, _)| starts[(k - base) as usize + 2] += 1);
    }
    (2..starts.len()).for_each(|j| starts[j] += starts[j - 1]);
    let (mut indices, mut values) = (vec![0u32; entries], vec![0.0; entries]);
    let mut label = Vec::with_capacity(rows);
    for block in blocks {
        let mut from = 0;
        for (end, y) in block.ends.iter().zip(&block.labels) {
            for k in (from..*end).filter(|&k| block.values[k] != 0.0) {
                let place = &mut starts[(block.indices[k] - base) as usize + 1];
                (indices[*place], values[*place]) = (label.len() as u32, block.values[k]);
                *place += 1;
            }
            from = *end;
            label.push(*y);
        }
    }
    starts.pop();
    let matrix = Matrix::Sparse { rows, starts, indices, values };
    let label = Label { name: "y".to_owned(), values: label };
    Ok(Table::of_numbers(source.path.clone(), matrix, Names::Numbered { first: base as usize }, Some(label)))
}
