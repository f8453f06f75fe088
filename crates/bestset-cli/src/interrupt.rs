//! Ctrl-C, or a request to terminate: the first ends the solve with its best answer, another one later ends the program.

use crate::exit::Exit;
use anstream::eprintln;
use bestset::CancelFlag;
use std::time::{Duration, Instant};

/// A second signal within this time is the first once more: `timeout` sends one to the program and one to its group.
const SAME: Duration = Duration::from_secs(1);

/// A flag that Ctrl-C sets.
pub fn cancel_on_ctrl_c() -> CancelFlag {
    let flag = CancelFlag::default();
    let (shared, mut first) = (flag.clone(), None::<Instant>);
    let handler = move || {
        if first.is_some_and(|at| at.elapsed() > SAME) {
            std::process::exit(Exit::Interrupted as i32);
        }
        first.get_or_insert_with(Instant::now);
        shared.cancel();
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        eprintln!("warning: Ctrl-C will end the program without a result: {error}");
    }
    flag
}
