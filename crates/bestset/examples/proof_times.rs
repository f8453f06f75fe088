//! Processor seconds of a search, of its proof without a file, and of the same into a file, apart: `proof_times DATA.csv TARGET LAMBDA2 K …`
//! (columns centred and of length one; one thread).

use bestset::design::Dense;
use bestset::proof::{ProofData, write_proof};
use bestset::{Method, Options, Penalty, Problem, solve};
use std::io::BufWriter;
use std::time::Instant;

/// The columns of a plain CSV file by name.
fn read(path: &str) -> Vec<(String, Vec<f64>)> {
    let text = std::fs::read_to_string(path).expect("the data can be read");
    let mut lines = text.lines();
    let names = lines.next().unwrap_or("").split(',').map(|name| name.trim_matches('"').to_owned());
    let mut columns: Vec<(String, Vec<f64>)> = names.map(|name| (name, Vec::new())).collect();
    for line in lines {
        line.split(',')
            .zip(&mut columns)
            .for_each(|(cell, column)| column.1.push(cell.trim().parse().expect("a number")));
    }
    columns
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [data, target, lambda2, sizes @ ..] = &words[..] else { return Err("DATA.csv TARGET LAMBDA2 K …".into()) };
    let (of_y, mut of_x): (Vec<_>, Vec<_>) = read(data).into_iter().partition(|column| column.0 == *target);
    for (_, column) in &mut of_x {
        let mean = column.iter().sum::<f64>() / column.len() as f64;
        column.iter_mut().for_each(|x| *x -= mean);
        let length = column.iter().map(|x| x * x).sum::<f64>().sqrt();
        column.iter_mut().for_each(|x| *x /= length);
    }
    let (y, names) = (of_y[0].1.clone(), of_x.iter().map(|c| c.0.clone()).collect::<Vec<_>>());
    let x = Dense::new(y.len(), of_x.len(), of_x.into_iter().flat_map(|c| c.1).collect())?;
    let penalty = Penalty::new(0.0, 0.0, lambda2.parse()?);
    let options = Options { threads: Some(1), ..Options::with_method(Method::Exact) };
    println!("| λ2 | k | search | proof, no file | proof into a file | bytes |\n|---|---|---|---|---|---|");
    for k in sizes {
        let problem = Problem::new(&x, y.clone(), penalty.clone())?.with_intercept(true).with_max_size(k.parse()?)?;
        let start = Instant::now();
        let solution = solve(&problem, &options)?;
        let searched = start.elapsed().as_secs_f64();
        let (weights, offset) = (String::new(), String::new());
        let named = ProofData { x: &x, scale: None, names: names.clone(), target: target.clone(), weights, offset };
        let start = Instant::now();
        let written = write_proof(&problem, &named, &solution, &options, &mut std::io::sink())?;
        let walked = start.elapsed().as_secs_f64();
        let path = std::env::temp_dir().join(format!("proof_times-{}.bsp", std::process::id()));
        let start = Instant::now();
        let mut file = BufWriter::with_capacity(1 << 16, std::fs::File::create(&path)?);
        write_proof(&problem, &named, &solution, &options, &mut file)?;
        drop(file);
        let filed = start.elapsed().as_secs_f64();
        std::fs::remove_file(&path)?;
        println!("| {lambda2} | {k} | {searched:.2} | {walked:.2} | {filed:.2} | {} |", written.bytes);
    }
    Ok(())
}
