//! What every solver is given: [options](Options), limits and a trace ([`Monitor`]), a limit on [memory](Memory), threads.

mod memory;
mod monitor;
mod options;
mod threads;

pub use memory::Memory;
pub use monitor::{CancelFlag, Observer};
pub use monitor::{Limits, Monitor, SoFar};
pub use options::{Method, Options, Published, Step, Stop, Thresholds};
pub(crate) use threads::on_threads;
