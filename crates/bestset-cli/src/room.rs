//! Where the address space is limited (`ulimit -v`), what threads set aside counts, whether they use it or not.

use std::ffi::OsString;

/// What the C library of Linux takes the number of its pools of memory from. Without it every thread has one of its own, and sets 64 MB
/// aside for it.
const POOLS: &str = "MALLOC_ARENA_MAX";

/// Whether there is a limit.
fn is_limited() -> bool {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let said = limits.lines().find_map(|line| line.strip_prefix("Max address space"));
    said.and_then(|said| said.split_whitespace().next()).is_some_and(|soft| soft != "unlimited")
}

/// Starts this program again, in place of itself, with one pool of memory for all threads, where the address space is limited. The C
/// library asks for it only when a program begins.
pub fn share_memory(words: &[OsString]) {
    if std::env::var_os(POOLS).is_some() || !is_limited() {
        return;
    }
    #[cfg(unix)]
    if let (Ok(program), Some((name, rest))) = (std::env::current_exe(), words.split_first()) {
        use std::os::unix::process::CommandExt;
        // Returns where it fails, and then the program goes on as it is.
        let _ = std::process::Command::new(program).arg0(name).args(rest).env(POOLS, "1").exec();
    }
    #[cfg(not(unix))]
    let _ = words;
}

/// Bytes of address space that the least of work takes beside the program itself: a thread or two, tables of features.
const LEAST: usize = 16 << 20;

/// Looks whether the limit on the address space leaves room to work; what to do where it does not.
pub fn check_room() -> Result<(), String> {
    let mut tried = Vec::<u8>::new();
    // Looked at afterwards: a reservation that nobody sees may be left out by the compiler.
    let is_enough = !is_limited() || tried.try_reserve_exact(LEAST).is_ok();
    if std::hint::black_box(&tried).capacity() >= LEAST || is_enough {
        return Ok(());
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let own = status.lines().find_map(|line| line.strip_prefix("VmSize:")?.split_whitespace().next()?.parse().ok());
    let (own, least) = (own.unwrap_or(0usize), LEAST >> 10);
    Err(format!(
        "the limit on the address space leaves no room to work: the program itself takes {own} kB and needs {least} kB beside; set \
         ulimit -v {} or more, and more for large data",
        (own + least).next_multiple_of(1000)
    ))
}

/// As many threads as can be started where the address space is limited; the caller's own where none can.
pub fn fit_threads() {
    if !is_limited() {
        return;
    }
    let builder = rayon::ThreadPoolBuilder::new;
    let mut count = std::thread::available_parallelism().map_or(1, usize::from);
    // What fails to become the pool of the program cannot be tried again: so it is tried out first.
    while count > 0 && builder().num_threads(count).build().is_err() {
        count /= 2;
    }
    let _ = match count {
        0 => builder().num_threads(1).use_current_thread().build_global(),
        count => builder().num_threads(count).build_global(),
    };
}
