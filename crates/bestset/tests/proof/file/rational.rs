//! The checker against the one in exact fractions: what the first accepts, the second does.

use super::mutation::{mutated, written};
use crate::common::rng;
use bestset_check::check;
use std::path::Path;
use std::process::Command;

fn csv(one: &super::mutation::Written) -> String {
    let columns = one.table.columns();
    let numbers: Vec<Vec<f64>> = (0..columns).map(|k| one.table.numbers(k).unwrap()).collect();
    let mut text = one.table.names().join(",") + "\n";
    for i in 0..one.table.rows() {
        let row: Vec<String> = numbers.iter().map(|c| format!("{:e}", c[i])).collect();
        text += &(row.join(",") + "\n");
    }
    text
}

mod long {
    use super::*;

    #[test]
    fn what_the_checker_accepts_holds_in_exact_fractions() {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/tools/check_proof.py");
        if Command::new("python3").arg("--version").output().is_err() {
            eprintln!("skipped: there is no python3");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let mut accepted = Vec::new();
        for seed in 0..50 {
            let Some(one) = written(seed) else { continue };
            let (mut rng, text) = (rng(seed), csv(&one));
            for trial in 0..8 {
                let bytes = if trial == 0 { one.bytes.clone() } else { mutated(&one, &mut rng) };
                let name = format!("{seed}-{trial}");
                std::fs::write(folder.path().join(format!("{name}.csv")), &text).unwrap();
                std::fs::write(folder.path().join(format!("{name}.bsp")), &bytes).unwrap();
                if check(&one.table, None, &bytes[..]).is_ok() {
                    accepted.push(name);
                }
            }
        }
        let output = Command::new("python3").arg(script).arg("--many").arg(folder.path()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        for name in &accepted {
            assert!(text.lines().any(|line| line == format!("{name} 1")), "{name}");
        }
        assert!(accepted.len() > 40 && text.lines().any(|line| line.ends_with(" 0")), "{}", accepted.len());
    }
}
