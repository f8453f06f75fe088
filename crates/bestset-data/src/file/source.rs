//! A file that may be compressed, and what format it is.

use crate::error::{FileError, Result};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Formats that are read and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Lines of fields with a delimiter between them.
    Csv,
    /// Apache Parquet.
    Parquet,
    /// `label index:value …`, as LIBSVM and svmlight have it.
    Libsvm,
    /// One NumPy array.
    Npy,
    /// Several NumPy arrays: `X` and `y`, or a sparse matrix of SciPy.
    Npz,
    /// Matrix Market, coordinate or array.
    Market,
}

/// How a file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// gzip.
    Gzip,
    /// bzip2.
    Bzip2,
    /// Zstandard.
    Zstd,
}

impl Compression {
    /// By the last extension of a name.
    pub fn of_name(path: &Path) -> Self {
        match extension(path).as_str() {
            "gz" | "gzip" => Self::Gzip,
            "bz2" => Self::Bzip2,
            "zst" | "zstd" => Self::Zstd,
            _ => Self::None,
        }
    }

    fn of_bytes(bytes: &[u8]) -> Self {
        match bytes {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [b'B', b'Z', b'h', ..] => Self::Bzip2,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            _ => Self::None,
        }
    }
}

impl Format {
    /// By the extension of a name, before that of a compression.
    pub fn of_name(path: &Path) -> Option<Self> {
        let inner = match Compression::of_name(path) {
            Compression::None => path.to_owned(),
            _ => path.with_extension(""),
        };
        match extension(&inner).as_str() {
            "csv" | "tsv" | "tab" | "txt" => Some(Self::Csv),
            "parquet" | "pq" => Some(Self::Parquet),
            "libsvm" | "svmlight" | "svm" => Some(Self::Libsvm),
            "npy" => Some(Self::Npy),
            "npz" => Some(Self::Npz),
            "mtx" | "mm" => Some(Self::Market),
            _ => None,
        }
    }

    fn of_bytes(bytes: &[u8]) -> Option<Self> {
        if bytes.starts_with(b"PAR1") {
            Some(Self::Parquet)
        } else if bytes.starts_with(b"\x93NUMPY") {
            Some(Self::Npy)
        } else if bytes.starts_with(b"PK\x03\x04") {
            Some(Self::Npz)
        } else if bytes.starts_with(b"%%MatrixMarket") {
            Some(Self::Market)
        } else {
            let end = memchr::memchr(b'\n', bytes).unwrap_or(bytes.len());
            let line = std::str::from_utf8(&bytes[..end]).ok()?;
            let mut tokens = line.split_ascii_whitespace();
            let label = tokens.next()?.parse::<f64>().is_ok();
            // A long line may be cut within its last token.
            let pair = |token: &str| token.split_once(':').is_some_and(|(k, _)| k == "qid" || k.parse::<u64>().is_ok());
            (label && tokens.next().is_some_and(pair)).then_some(Self::Libsvm)
        }
    }
}

fn extension(path: &Path) -> String {
    path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase()
}

/// A file, opened as often as needed.
pub struct Source {
    pub path: PathBuf,
    pub compression: Compression,
    /// Bytes on disk.
    pub size: u64,
    /// The first bytes, decompressed.
    start: Vec<u8>,
}

impl Source {
    pub fn new(path: &Path) -> Result<Self> {
        let failed = |e: io::Error| FileError::new(path, format!("cannot be read: {e}"));
        let mut file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(FileError::new(path, "is a directory, not a file").into());
        }
        let mut magic = Vec::new();
        file.by_ref().take(4).read_to_end(&mut magic).map_err(failed)?;
        let (compression, size) = (Compression::of_bytes(&magic), metadata.len());
        let mut source = Self { path: path.to_owned(), compression, size, start: Vec::new() };
        let mut start = Vec::new();
        source.open()?.take(1 << 12).read_to_end(&mut start).map_err(|e| source.failed(e))?;
        source.start = start;
        Ok(source)
    }

    /// The decompressed bytes from the beginning.
    pub fn open(&self) -> Result<Box<dyn BufRead + Send>> {
        let file = File::open(&self.path).map_err(|e| self.failed(e))?;
        let file = BufReader::with_capacity(1 << 18, file);
        Ok(match self.compression {
            Compression::None => Box::new(file),
            Compression::Gzip => buffered(flate2::bufread::MultiGzDecoder::new(file)),
            Compression::Bzip2 => buffered(bzip2::bufread::MultiBzDecoder::new(file)),
            Compression::Zstd => buffered(zstd::stream::read::Decoder::with_buffer(file).map_err(|e| self.failed(e))?),
        })
    }

    /// The file itself, for formats that are read from the middle.
    pub fn seekable(&self) -> Result<File> {
        if self.compression != Compression::None {
            return Err(self.bad("must not be compressed: this format compresses its parts itself").into());
        }
        Ok(File::open(&self.path).map_err(|e| self.failed(e))?)
    }

    /// By the extension, or else by the first bytes.
    pub fn guess_format(&self) -> Result<Format> {
        let by_bytes = Format::of_bytes(&self.start);
        match by_bytes.or_else(|| Format::of_name(&self.path)) {
            Some(format) => Ok(format),
            None if self.start.is_empty() => Err(self.bad("the file is empty").into()),
            None => Err(self.bad("the format is not known by name or first bytes; give it with --format").into()),
        }
    }

    /// The name without compression ends so.
    pub fn is_tab_separated(&self) -> bool {
        let name = self.path.file_name().and_then(|n| n.to_str()).unwrap_or_default().to_ascii_lowercase();
        [".tsv", ".tab"].iter().any(|end| name.contains(end))
    }

    /// The first bytes, decompressed.
    pub fn start(&self) -> &[u8] {
        &self.start
    }

    pub fn bad(&self, problem: impl Into<String>) -> FileError {
        FileError::new(&self.path, problem)
    }

    pub fn failed(&self, error: io::Error) -> FileError {
        let what =
            if self.compression == Compression::None { "cannot be read" } else { "cannot be decompressed or read" };
        self.bad(format!("{what}: {error}"))
    }
}

fn buffered(reader: impl Read + Send + 'static) -> Box<dyn BufRead + Send> {
    Box::new(BufReader::with_capacity(1 << 18, reader))
}
