//! How much memory a solve may take besides the data, and how much of it one structure may.
//!
//! What grows with the square of a number of features, or copies columns of X, is asked for here before it is taken; where that is
//! refused the caller goes a slower way that needs less, or ends with what it has.

use std::sync::{Arc, OnceLock};

/// What is smaller than this is not worth asking for.
const SMALL: usize = 1 << 20;

/// With no limit given, what is smaller than this is granted without a look at the machine.
const MODEST: usize = 64 << 20;

/// Taken for what there is where the system does not say.
const UNKNOWN: usize = 8 << 30;

/// A limit in bytes: the one given, or half of what the machine has to spare when something large is first asked for. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    given: Option<usize>,
    machine: Arc<OnceLock<usize>>,
}

impl Memory {
    /// With the limit of the options, if they have one.
    pub fn new(given: Option<usize>) -> Self {
        Self { given, machine: Arc::default() }
    }

    /// The limit.
    pub fn limit(&self) -> usize {
        self.given.unwrap_or_else(|| *self.machine.get_or_init(|| available().unwrap_or(UNKNOWN) / 2))
    }

    /// Whether a structure of so many bytes may be taken, if all that its kind takes is a `share`-th of the limit.
    pub fn allows(&self, bytes: f64, share: usize) -> bool {
        let modest = if self.given.is_some() { SMALL } else { MODEST };
        bytes <= modest as f64 || bytes <= self.limit() as f64 / share as f64
    }

    /// The most items for which `bytes`, which grows with their number, is allowed: at least `least`, at most `most`.
    pub fn most(&self, share: usize, (least, most): (usize, usize), bytes: impl Fn(f64) -> f64) -> usize {
        if self.allows(bytes(most as f64), share) {
            return most;
        }
        let (mut low, mut high) = (least, most);
        while low + 1 < high {
            let middle = low + (high - low) / 2;
            if self.allows(bytes(middle as f64), share) { low = middle } else { high = middle }
        }
        low
    }
}

/// Bytes that can still be taken: of the machine, of the limits of this process (`ulimit -v`) and of the groups it is in. All of them
/// are files on Linux; elsewhere nothing is known.
fn available() -> Option<usize> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let machine = read("/proc/meminfo").and_then(|text| kilobytes(&text, "MemAvailable:"));
    let used = read("/proc/self/status").and_then(|text| kilobytes(&text, "VmSize:")).unwrap_or(0);
    let own = read("/proc/self/limits").and_then(|text| address_space(&text)).map(|most| most.saturating_sub(used));
    let groups = read("/proc/self/cgroup").and_then(|text| group_room(&text, &read));
    [machine, own, groups].into_iter().flatten().min()
}

/// The number after a label, in bytes.
fn kilobytes(text: &str, label: &str) -> Option<usize> {
    let line = text.lines().find_map(|line| line.strip_prefix(label))?;
    line.split_whitespace().next()?.parse::<usize>().ok()?.checked_mul(1024)
}

/// The soft limit on the address space, `None` where there is none.
fn address_space(text: &str) -> Option<usize> {
    text.lines().find_map(|line| line.strip_prefix("Max address space"))?.split_whitespace().next()?.parse().ok()
}

/// The least room of the control groups that hold this process, of either version.
fn group_room(text: &str, read: &dyn Fn(&str) -> Option<String>) -> Option<usize> {
    let mut least: Option<usize> = None;
    for line in text.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(kind), Some(path)) = (fields.next(), fields.next()) else { continue };
        let (root, names) = match kind {
            "" => ("/sys/fs/cgroup", ["memory.max", "memory.current"]),
            "memory" => ("/sys/fs/cgroup/memory", ["memory.limit_in_bytes", "memory.usage_in_bytes"]),
            _ => continue,
        };
        // A group is limited by those above it as well; in a container the path may be that of the host.
        let mut path = path.trim_end_matches('/');
        loop {
            let number = |name: &str| read(&format!("{root}{path}/{name}"))?.trim().parse::<usize>().ok();
            if let (Some(most), Some(used)) = (number(names[0]), number(names[1])) {
                let room = most.saturating_sub(used);
                least = Some(least.map_or(room, |l| l.min(room)));
            }
            let Some((above, _)) = path.rsplit_once('/') else { break };
            path = above;
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_systems_say_is_read() {
        let text = "MemTotal:       100 kB\nMemAvailable:    40 kB\n";
        assert_eq!((kilobytes(text, "MemAvailable:"), kilobytes(text, "Swap:")), (Some(40 * 1024), None));
        let limits =
            |n: &str| format!("Limit  Soft  Hard  Units\nMax address space         {n}    unlimited   bytes\n");
        assert_eq!((address_space(&limits("8192000")), address_space(&limits("unlimited"))), (Some(8_192_000), None));
        let files = |path: &str| match path {
            "/sys/fs/cgroup/a/b/memory.max" => Some("max\n".to_owned()),
            "/sys/fs/cgroup/a/memory.max" => Some("1000\n".to_owned()),
            "/sys/fs/cgroup/a/memory.current" => Some("300\n".to_owned()),
            "/sys/fs/cgroup/memory/memory.limit_in_bytes" => Some("500".to_owned()),
            "/sys/fs/cgroup/memory/memory.usage_in_bytes" => Some("600".to_owned()),
            _ => None,
        };
        assert_eq!(group_room("0::/a/b\n", &files), Some(700));
        assert_eq!(group_room("4:memory:/x\n0::/a/b\n", &files), Some(0));
        assert_eq!(group_room("0::/\n3:cpu:/\n", &files), None);
    }

    #[test]
    fn a_given_limit_is_kept_and_small_structures_are_not_counted() {
        let memory = Memory::new(Some(64 << 20));
        assert!(memory.allows(8e6, 8) && !memory.allows(9e6, 8) && memory.allows(1e6, 1000));
        assert_eq!(memory.most(4, (10, 100_000), |m| 8.0 * m * m), 1448);
        assert_eq!(memory.most(4, (3000, 100_000), |m| 8.0 * m * m), 3000);
        assert_eq!(memory.most(4, (10, 500), |m| 8.0 * m * m), 500);
        assert!(Memory::default().allows(6e7, 8), "nothing is looked up for this");
        assert!(Memory::default().limit() > 0);
    }
}
