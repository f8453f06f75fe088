//! Files and tables; one program, so that the crates of the formats are linked once.

mod convert;
mod formats;
mod hostile;
mod plink;
mod roundtrip;
mod simulation;

/// How many problems a test draws that draws so many: a fifth of them, and all with CHECK=yes, as CI has it.
fn share(all: usize) -> usize {
    let every = std::env::var_os("CHECK").is_some_and(|text| !text.is_empty());
    if every { all } else { all.div_ceil(5) }
}
