//! Whether the user has asked to stop: the one place where R is called without savvy.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

extern "C" {
    fn R_CheckUserInterrupt();
    fn R_ToplevelExec(body: extern "C" fn(*mut c_void), data: *mut c_void) -> c_int;
}

extern "C" fn look(_: *mut c_void) {
    // SAFETY: `pending` runs this as the body of R_ToplevelExec, on R's own thread; the jump of an interrupt ends there, and this frame
    // has nothing to drop.
    unsafe { R_CheckUserInterrupt() }
}

/// Whether Ctrl-C was pressed since the last look. To be asked on R's own thread alone.
pub fn pending() -> bool {
    // SAFETY: both are functions of R's interface; R_ToplevelExec returns, 0 after a jump, and keeps none of its arguments.
    unsafe { R_ToplevelExec(look, null_mut()) == 0 }
}
