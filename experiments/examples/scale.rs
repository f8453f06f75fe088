//! A matrix larger than memory, and what a pass, a solve and a path over it take beside what the disk and the memory give.
//!
//!     cargo run --release -p bestset-experiments --example scale -- write big.npy 3000 100000 f8 1
//!     cargo run --release -p bestset-experiments --example scale -- pass big.npy
//!     cargo run --release -p bestset-experiments --example scale -- solve big.npy 0.05 [exact]
//!     cargo run --release -p bestset-experiments --example scale -- path big.npy 100 0.01
//!     cargo run --release -p bestset-experiments --example scale -- memory 1000 1000000 0.05 [exact]
//!
//! Entries are even in −1..1; twenty features, evenly spread, have coefficients of ±1, and half of the variance of the target is noise. The
//! target is written beside the matrix. A price is a share of λ0_max.

use bestset::design::{Dense, Design, Standardized, Stored};
use bestset::path::{Grid, PathOptions, path};
use bestset::{Method, Options, Penalty, Problem, solve};
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::Path;
use std::time::Instant;

type Done = Result<(), Box<dyn Error>>;

const CAUSAL: usize = 20;
/// λ2 beside columns of norm one.
const RIDGE: f64 = 0.05;

struct Numbers(u64);

impl Numbers {
    /// Even in −1..1, with the digits of single precision.
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }
}

/// Columns one after the other, and the target that they make.
fn columns(n: usize, p: usize, seed: u64, mut take: impl FnMut(&[f32]) -> Done) -> Result<Vec<f64>, Box<dyn Error>> {
    let (mut numbers, mut column, mut y) = (Numbers(seed), vec![0.0f32; n], vec![0.0; n]);
    for j in 0..p {
        column.iter_mut().for_each(|x| *x = numbers.next());
        take(&column)?;
        if j % p.div_ceil(CAUSAL) == p / (2 * CAUSAL) {
            let sign = if j % 2 == 0 { 1.0 } else { -1.0 };
            y.iter_mut().zip(&column).for_each(|(y, x)| *y += sign * f64::from(*x));
        }
    }
    // Noise of the same variance: 20/3, of which the sum of 20 even numbers has as much.
    y.iter_mut().for_each(|y| *y += (0..CAUSAL).map(|_| f64::from(numbers.next())).sum::<f64>());
    Ok(y)
}

fn array(path: &Path, kind: &str, shape: &str) -> Result<BufWriter<File>, Box<dyn Error>> {
    let mut header = format!("{{'descr': '{kind}', 'fortran_order': True, 'shape': ({shape}), }}");
    header.push_str(&" ".repeat(63 - (10 + header.len()) % 64));
    let mut file = BufWriter::with_capacity(1 << 22, File::create(path)?);
    file.write_all(b"\x93NUMPY\x01\x00")?;
    file.write_all(&(header.len() as u16 + 1).to_le_bytes())?;
    writeln!(file, "{header}")?;
    Ok(file)
}

fn write(file: &Path, n: usize, p: usize, kind: &str, seed: u64) -> Done {
    let name = match kind {
        "f8" | "f4" => format!("<{kind}"),
        "i1" => "|i1".to_owned(),
        _ => return Err("the kind is f8, f4 or i1".into()),
    };
    let mut out = array(file, &name, &format!("{n}, {p}"))?;
    let y = columns(n, p, seed, |column| {
        let bytes: Vec<u8> = match kind {
            "f8" => column.iter().flat_map(|x| f64::from(*x).to_le_bytes()).collect(),
            "f4" => column.iter().flat_map(|x| x.to_le_bytes()).collect(),
            _ => column.iter().map(|x| (127.0 * x) as i8 as u8).collect(),
        };
        Ok(out.write_all(&bytes)?)
    })?;
    out.flush()?;
    let mut out = array(&file.with_extension("y.npy"), "<f8", &format!("{n},"))?;
    y.iter().try_for_each(|y| out.write_all(&y.to_le_bytes()))?;
    Ok(out.flush()?)
}

fn target(file: &Path) -> Result<Vec<f64>, Box<dyn Error>> {
    let bytes = std::fs::read(file.with_extension("y.npy"))?;
    let &[low, high] = bytes.get(8..10).ok_or("the target is cut off")? else { return Err("no array".into()) };
    let numbers = bytes.get(10 + u16::from_le_bytes([low, high]) as usize..).ok_or("the target is cut off")?;
    Ok(numbers.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect())
}

/// Seconds of reading the file from front to back and doing nothing with it.
fn plain(file: &Path) -> Result<f64, Box<dyn Error>> {
    let (mut source, mut buffer, start) = (File::open(file)?, vec![0; 8 << 20], Instant::now());
    while source.read(&mut buffer)? > 0 {}
    Ok(start.elapsed().as_secs_f64())
}

/// What the process has used: seconds of the processor, and the most memory at once.
fn used() -> String {
    let of = |file: &str, key: &str| {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        text.lines().find_map(|line| line.strip_prefix(key)).unwrap_or("?").trim().to_owned()
    };
    let cpu = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    format!(
        "{}.{:02} s of the processor, peak {}",
        cpu.tv_sec,
        cpu.tv_nsec / 10_000_000,
        of("/proc/self/status", "VmHWM:")
    )
}

/// Passes over a matrix: seconds of the best of three.
fn best_pass(x: &dyn Design, y: &[f64]) -> Result<f64, Box<dyn Error>> {
    let (all, mut out) = ((0..x.ncols()).collect::<Vec<_>>(), vec![0.0; x.ncols()]);
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let start = Instant::now();
        x.correlate(&all, y, &mut out)?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}

fn pass(file: &Path) -> Done {
    let (x, y) = (Stored::open(file)?, target(file)?);
    let gigabytes = x.bytes() as f64 / 1e9;
    // Reading first, a pass next, and again: so that both find the same of the file in memory.
    for round in 0..3 {
        let limit = plain(file)?;
        let (all, mut out, start) = ((0..x.ncols()).collect::<Vec<_>>(), vec![0.0; x.ncols()], Instant::now());
        x.correlate(&all, &y, &mut out)?;
        let (own, waited) = (start.elapsed().as_secs_f64(), x.reading().waited);
        let (reading, speed) = (gigabytes / limit, gigabytes / own);
        println!(
            "{round}: read {limit:.2} s ({reading:.2} GB/s), pass {own:.2} s ({speed:.2} GB/s): {:.2} of it; waited {waited:.2} s",
            own / limit
        );
    }
    println!("{}", used());
    Ok(())
}

fn run_solve(x: &dyn Design, y: &[f64], share: f64, method: Method, threads: Option<usize>) -> Done {
    let start = Instant::now();
    let view = Standardized::fit(x, None, true, 1.0)?;
    let problem = Problem::new(&view, y.to_vec(), Penalty::new(0.0, 0.0, RIDGE))?.with_intercept(true);
    let moments = start.elapsed().as_secs_f64();
    let largest = problem.lambda0_max()?;
    let problem = problem.with_penalty(Penalty::new(share * largest, 0.0, RIDGE))?;
    let begun = Instant::now();
    let found = solve(&problem, &Options { threads, ..Options::with_method(method) })?;
    println!(
        "{}: moments {moments:.2} s; solve {:.2} s, {:.1} passes, {} features, P {}, bound {}, {:?}; {}",
        method.name(),
        begun.elapsed().as_secs_f64(),
        found.passes,
        found.support().len(),
        found.objective(),
        found.certificate.lower_bound,
        found.status,
        used()
    );
    Ok(())
}

fn from_disk(file: &Path, share: &str, method: Method) -> Done {
    let x = Stored::open(file)?;
    run_solve(&x, &target(file)?, share.parse()?, method, None)?;
    let read = x.reading();
    println!("{:.1} readings of the file, {:.1} GB, {:.1} s waited", read.passes, read.bytes as f64 / 1e9, read.waited);
    Ok(())
}

fn run_path(file: &Path, points: usize, ratio: f64) -> Done {
    let (x, y, start) = (Stored::open(file)?, target(file)?, Instant::now());
    let view = Standardized::fit(&x, None, true, 1.0)?;
    let problem = Problem::new(&view, y, Penalty::new(0.0, 0.0, RIDGE))?.with_intercept(true);
    let options = PathOptions { grid: Grid::Log { points, ratio }, ..PathOptions::default() };
    let found = path(&problem, &options)?;
    for point in found.points.iter().step_by(points.div_ceil(20).max(1)) {
        let (s, c) = (&point.solution, &point.solution.certificate);
        println!(
            "{:.4e} {} features, P {:.6e}, bound {:.6e}",
            point.lambda0,
            s.support().len(),
            c.objective,
            c.lower_bound
        );
    }
    let reading = x.reading();
    println!(
        "{} points, {:?}: {:.1} s, {:.1} readings of the file, {:.1} GB, {:.1} s waited; {}",
        found.points.len(),
        found.status,
        start.elapsed().as_secs_f64(),
        reading.passes,
        reading.bytes as f64 / 1e9,
        reading.waited,
        used()
    );
    Ok(())
}

/// A matrix of single precision in memory: one pass and one solve with one thread and with two.
fn memory(n: usize, p: usize, share: f64, method: Method) -> Done {
    let mut data = Vec::with_capacity(n * p);
    let y = columns(n, p, 1, |column| {
        data.extend_from_slice(column);
        Ok(())
    })?;
    let x = Dense::new(n, p, data)?;
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let seconds = pool.install(|| best_pass(&x, &y).map_err(|e| e.to_string()))?;
        println!("{threads} threads: a pass {seconds:.3} s, {:.2} GB/s", 4e-9 * (n * p) as f64 / seconds);
        pool.install(|| run_solve(&x, &y, share, method, Some(threads)).map_err(|e| e.to_string()))?;
    }
    Ok(())
}

fn main() -> Done {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["write", file, n, p, kind, seed] => write(Path::new(file), n.parse()?, p.parse()?, kind, seed.parse()?),
        ["pass", file] => pass(Path::new(file)),
        ["solve", file, share] => from_disk(Path::new(file), share, Method::Incremental),
        ["solve", file, share, "exact"] => from_disk(Path::new(file), share, Method::Exact),
        ["path", file, points, ratio] => run_path(Path::new(file), points.parse()?, ratio.parse()?),
        ["memory", n, p, share] => memory(n.parse()?, p.parse()?, share.parse()?, Method::Incremental),
        ["memory", n, p, share, "exact"] => memory(n.parse()?, p.parse()?, share.parse()?, Method::Exact),
        _ => Err(
            "write FILE N P f8|f4|i1 SEED, pass FILE, solve FILE SHARE [exact], path FILE POINTS RATIO, or memory N P SHARE [exact]"
                .into(),
        ),
    }
}
