//! A file that may be compressed, and what format it is.

use super::delimiter;
use crate::error::{FileError, Result};
use bytes::Bytes;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek};
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
            "csv" | "tsv" | "tab" | "txt" | "dat" | "data" | "raw" => Some(Self::Csv),
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

/// Bytes that are looked at to find out what a file is.
const START: u64 = 1 << 16;

/// A file, opened as often as needed.
pub struct Source {
    pub path: PathBuf,
    pub compression: Compression,
    /// Bytes on disk.
    pub size: u64,
    /// The first bytes, decompressed.
    start: Vec<u8>,
    /// All bytes, where they can be read once only: standard input, pipes.
    held: Option<Bytes>,
}

/// Bytes that are read from the middle.
pub trait Seekable: Read + Seek {}
impl<T: Read + Seek> Seekable for T {}

impl Source {
    /// Opens a file; `-` is standard input.
    pub fn new(path: &Path) -> Result<Self> {
        let failed = |e: io::Error| FileError::new(path, format!("cannot be read: {e}"));
        if path.as_os_str() == "-" {
            let mut bytes = Vec::new();
            io::stdin().lock().read_to_end(&mut bytes).map_err(failed)?;
            return Self::with("standard input".into(), bytes.len() as u64, Some(bytes.into()));
        }
        let mut file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(FileError::new(path, "is a directory, not a file").into());
        }
        if metadata.is_file() {
            return Self::with(path.to_owned(), metadata.len(), None);
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        Self::with(path.to_owned(), bytes.len() as u64, Some(bytes.into()))
    }

    fn with(path: PathBuf, size: u64, held: Option<Bytes>) -> Result<Self> {
        let mut source = Self { path, compression: Compression::None, size, start: Vec::new(), held };
        source.compression = Compression::of_bytes(&source.first(4)?);
        source.start = source.first(START)?;
        Ok(source)
    }

    fn first(&self, count: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open()?.take(count).read_to_end(&mut bytes).map_err(|e| self.failed(e))?;
        Ok(bytes)
    }

    /// The decompressed bytes from the beginning.
    pub fn open(&self) -> Result<Box<dyn BufRead + Send>> {
        let raw: Box<dyn BufRead + Send> = match &self.held {
            Some(bytes) => Box::new(Cursor::new(bytes.clone())),
            None => buffered(File::open(&self.path).map_err(|e| self.failed(e))?),
        };
        Ok(match self.compression {
            Compression::None => raw,
            #[cfg(feature = "tables")]
            Compression::Gzip => buffered(flate2::bufread::MultiGzDecoder::new(raw)),
            #[cfg(feature = "tables")]
            Compression::Bzip2 => buffered(bzip2::bufread::MultiBzDecoder::new(raw)),
            #[cfg(feature = "tables")]
            Compression::Zstd => buffered(zstd::stream::read::Decoder::with_buffer(raw).map_err(|e| self.failed(e))?),
            #[cfg(not(feature = "tables"))]
            _ => return Err(self.bad("is compressed: decompress it first").into()),
        })
    }

    /// All bytes where they are in memory, for formats that are read from the middle; else the file.
    pub fn whole(&self) -> Result<std::result::Result<Bytes, File>> {
        if self.compression != Compression::None {
            return Err(self.bad("must not be compressed: this format compresses its parts itself").into());
        }
        match &self.held {
            Some(bytes) => Ok(Ok(bytes.clone())),
            None => Ok(Err(File::open(&self.path).map_err(|e| self.failed(e))?)),
        }
    }

    /// The bytes, for formats that are read from the middle.
    pub fn seekable(&self) -> Result<Box<dyn Seekable>> {
        Ok(match self.whole()? {
            Ok(bytes) => Box::new(Cursor::new(bytes)),
            Err(file) => Box::new(BufReader::new(file)),
        })
    }

    /// By the first bytes, or else by the extension; text in columns is CSV whatever its name.
    pub fn guess_format(&self) -> Result<Format> {
        if let Some(advice) = foreign(&self.path, &self.start) {
            return Err(self.bad(advice).into());
        }
        let by_bytes = Format::of_bytes(&self.start);
        match by_bytes.or_else(|| Format::of_name(&self.path)) {
            Some(format) => Ok(format),
            None if self.start.trim_ascii().is_empty() => Err(self.bad("the file is empty").into()),
            None if delimiter::is_table(&self.start) => Ok(Format::Csv),
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

/// What to do with files that other programs write for themselves.
fn foreign(path: &Path, start: &[u8]) -> Option<&'static str> {
    const PLINK: &str = "is a file of PLINK: fit, path, cv, exact, subsets, report and predict read NAME.bed, NAME.bim and NAME.fam; for \
                         others `plink --bfile NAME --recode A` writes NAME.raw, which is read with --target PHENOTYPE --drop \
                         FID,IID,PAT,MAT,SEX";
    const SHEET: &str = "is a workbook, which is not read: save the sheet as CSV";
    const R: &str =
        "is a file of R, which is not read: write.csv(data, \"data.csv\", row.names = FALSE) makes one that is";
    const FRAME: &str = "is not read: write it as CSV or Parquet, in Python by to_csv or to_parquet";
    const WIDE: &str = "is UTF-16: save it as UTF-8, or convert it by iconv -f UTF-16 -t UTF-8";
    match start {
        [0x6c, 0x1b, 0x01, ..] => return Some(PLINK),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => return Some(WIDE),
        _ => {}
    }
    match extension(path).as_str() {
        "bed" | "bim" | "fam" | "pgen" => Some(PLINK),
        "xlsx" | "xls" | "xlsm" | "ods" => Some(SHEET),
        "rds" | "rda" | "rdata" => Some(R),
        "dta" | "sav" | "sas7bdat" | "feather" | "arrow" | "h5" | "hdf5" | "h5ad" | "pkl" => Some(FRAME),
        _ => None,
    }
}

fn buffered(reader: impl Read + Send + 'static) -> Box<dyn BufRead + Send> {
    Box::new(BufReader::with_capacity(1 << 18, reader))
}
