//! Ctrl-C: the first ends the solve with its best answer, the second ends the program.

use crate::exit::Exit;
use anstream::eprintln;
use bestset::solver::CancelFlag;

/// A flag that Ctrl-C sets.
pub fn cancel_on_ctrl_c() -> CancelFlag {
    let flag = CancelFlag::default();
    let shared = flag.clone();
    let handler = move || {
        if shared.is_cancelled() {
            std::process::exit(Exit::Interrupted as i32);
        }
        shared.cancel();
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        eprintln!("warning: Ctrl-C will end the program without a result: {error}");
    }
    flag
}
