//! Files and tables; one program, so that the crates of the formats are linked once.

mod convert;
mod formats;
mod hostile;
mod plink;
mod roundtrip;
mod simulation;
