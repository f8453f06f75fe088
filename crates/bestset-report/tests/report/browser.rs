//! The page in a browser: `web/check` opens what this writes.
//!
//! Needs Node.js, `npm ci` in `web/` and Chromium; without them it says so and passes. `BESTSET_BROWSER=required` makes
//! their absence a failure.

use crate::common;
use bestset_report::Report;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is missing, if anything.
fn missing(web: &Path) -> Option<&'static str> {
    let answers = |program: &str| Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success());
    if !answers("node") {
        return Some("node is not installed");
    }
    if !web.join("node_modules/playwright-core").exists() {
        return Some("run `npm ci` in crates/bestset-report/web first");
    }
    (!browser().exists()).then_some("chromium is not installed (set CHROMIUM to its path)")
}

fn browser() -> PathBuf {
    std::env::var_os("CHROMIUM").map_or_else(|| PathBuf::from("/usr/bin/chromium"), PathBuf::from)
}

#[test]
fn pages_work_in_a_browser() {
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("web");
    if let Some(reason) = missing(&web) {
        assert!(std::env::var_os("BESTSET_BROWSER").is_none(), "{reason}");
        eprintln!("skipped: {reason}");
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, report) in common::all() {
        std::fs::write(folder.join(format!("{name}.html")), Report::html(&report)).unwrap();
    }
    let done = Command::new("node")
        .args(["--test", "--test-reporter=spec"])
        .arg(web.join("check/page.test.mjs"))
        .env("PAGES", &folder)
        .env("CHROMIUM", browser())
        .current_dir(&web)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{text}\n{}", String::from_utf8_lossy(&done.stderr));
    println!("{text}");
}
