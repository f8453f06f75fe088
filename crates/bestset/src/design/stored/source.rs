//! One file read by position: what was asked for, or an error that names the file and the place. No memory maps: a file that shrinks is
//! an error, not a signal, and no page of it counts against a limit on memory.

use crate::error::{Error, Result};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// Places of the file whose bytes are held against those at the beginning, besides its start and its end.
const SAMPLES: u64 = 6;

/// Bytes at each of them.
const SAMPLE: u64 = 512;

/// A file, and what it was when it was opened.
pub(super) struct Source {
    path: PathBuf,
    file: File,
    length: u64,
    modified: Option<SystemTime>,
    sampled: u64,
    /// Bytes read so far.
    pub(super) bytes: AtomicU64,
}

impl Source {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let failed = |e: std::io::Error| bad(path, "the beginning", e.to_string());
        let file = File::open(path).map_err(failed)?;
        let facts = file.metadata().map_err(failed)?;
        if !facts.is_file() {
            return Err(bad(path, "the beginning", "it is no regular file, and cannot be read by position".into()));
        }
        let (length, modified, bytes) = (facts.len(), facts.modified().ok(), AtomicU64::new(0));
        let mut source = Self { path: path.to_owned(), file, length, modified, sampled: 0, bytes };
        source.sampled = source.sample()?;
        Ok(source)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn len(&self) -> u64 {
        self.length
    }

    /// Fills the buffer with the bytes from `from` on.
    pub(super) fn read(&self, from: u64, buffer: &mut [u8]) -> Result<()> {
        let mut done = 0;
        while done < buffer.len() {
            let at = from + done as u64;
            let place = || format!("byte {at} of {}", self.length);
            match read_at(&self.file, &mut buffer[done..], at) {
                Ok(0) => return Err(bad(&self.path, &place(), "the file ends there: it has shrunk".into())),
                Ok(count) => done += count,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(bad(&self.path, &place(), e.to_string())),
            }
        }
        self.bytes.fetch_add(buffer.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    /// An error where the file is not what it was when it was opened: its length, the time of its last change, or bytes here and there.
    pub(super) fn check(&self) -> Result<()> {
        let changed = |reason: &str| Err(bad(&self.path, "its facts", reason.into()));
        let facts = self.file.metadata().map_err(|e| bad(&self.path, "its facts", e.to_string()))?;
        if facts.len() != self.length {
            let (now, before) = (facts.len(), self.length);
            return changed(&format!("it has {now} bytes and had {before} when it was opened; open it again"));
        }
        if facts.modified().ok() != self.modified || self.sample()? != self.sampled {
            return changed("it has been changed since it was opened; open it again");
        }
        Ok(())
    }

    /// Length, time of the last change in seconds and nanoseconds, and the hash of bytes here and there.
    pub(super) fn fingerprint(&self) -> [u64; 4] {
        let since = self.modified.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok()).unwrap_or_default();
        [self.length, since.as_secs(), u64::from(since.subsec_nanos()), self.sampled]
    }

    /// A hash of bytes at the start, at the end, and evenly between.
    fn sample(&self) -> Result<u64> {
        let (mut hash, mut buffer) = (0xcbf2_9ce4_8422_2325u64, vec![0; SAMPLE.min(self.length) as usize]);
        let last = self.length - buffer.len() as u64;
        for k in 0..=SAMPLES {
            self.read(last / SAMPLES * k, &mut buffer)?;
            for byte in &buffer {
                hash = (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
            }
        }
        Ok(hash)
    }
}

/// An error of reading, with its place.
pub(super) fn bad(path: &Path, place: &str, reason: String) -> Error {
    Error::Read { what: path.display().to_string(), place: place.to_owned(), reason }
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], at: u64) -> std::io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, at)
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], at: u64) -> std::io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, at)
}
