//! Extracts the facts of every Python file below a folder and prints time and memory:
//! `cargo run --release -p blocklint_python --example extract -- FOLDER [THREADS] [parse|check|tables]`.
//!
//! `parse` only parses, which shows the cost of the facts by comparison; `check` also validates them; `tables` prints
//! the size of each table.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for people at a terminal")]

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Default)]
struct Totals {
    files: usize,
    bytes: usize,
    heap: usize,
    sites: usize,
    forms: usize,
    assigns: usize,
    symbols: usize,
    regions: usize,
    problems: usize,
    tables: Vec<(&'static str, usize, usize)>,
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let Some(folder) = arguments.next() else {
        eprintln!("usage: extract FOLDER [THREADS] [parse|check|tables]");
        return;
    };
    let threads = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mode = arguments.next().unwrap_or_default();
    let mut files = Vec::new();
    collect_python_files(Path::new(&folder), &mut files);
    files.sort();
    let next = AtomicUsize::new(0);
    let totals = Mutex::new(Totals::default());
    let kept = Mutex::new(Vec::new());
    let start = Instant::now();
    let work = || {
        let mut sum = Totals::default();
        let mut facts = Vec::new();
        while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Ok(bytes) = std::fs::read(path) else { continue };
            sum.files += 1;
            sum.bytes += bytes.len();
            if mode == "parse" {
                let text = String::from_utf8_lossy(&bytes);
                let options = ruff_python_parser::ParseOptions::from(ruff_python_parser::Mode::Module);
                sum.sites += ruff_python_parser::parse_unchecked(&text, options).tokens().len();
                continue;
            }
            let file = blocklint_python::extract(&bytes);
            sum.heap += file.heap_size() + size_of_val(&file);
            sum.sites += file.sites.len();
            sum.forms += file.forms.len();
            sum.assigns += file.assigns.len();
            sum.symbols += file.symbols.len();
            sum.regions += file.regions.len();
            sum.problems += file.problems.len();
            if mode == "tables" {
                add_table_sizes(&mut sum.tables, &file.table_sizes());
            }
            if mode == "check" {
                for problem in &file.problems {
                    println!("{}:{}: {}", path.display(), problem.span.start, problem.message);
                }
                if let Err(wrong) = blocklint_facts::validate(&file) {
                    println!("{}: INVALID {wrong}", path.display());
                }
            }
            facts.push(file);
        }
        if let Ok(mut totals) = totals.lock() {
            totals.files += sum.files;
            totals.bytes += sum.bytes;
            totals.heap += sum.heap;
            totals.sites += sum.sites;
            totals.forms += sum.forms;
            totals.assigns += sum.assigns;
            totals.symbols += sum.symbols;
            totals.regions += sum.regions;
            totals.problems += sum.problems;
            add_table_sizes(&mut totals.tables, &sum.tables);
        }
        if let Ok(mut kept) = kept.lock() {
            kept.push(facts);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let spawned =
                std::thread::Builder::new().stack_size(blocklint_python::STACK_SIZE).spawn_scoped(scope, work);
            if let Err(error) = spawned {
                eprintln!("no thread: {error}");
            }
        }
    });
    let wall = start.elapsed();
    let Ok(totals) = totals.into_inner() else { return };
    for (name, rows, bytes) in &totals.tables {
        println!("{name:>24} {rows:>9} rows {:>7.2} MB", *bytes as f64 / 1e6);
    }
    println!(
        "{} files, {} bytes, {} problems; wall {:.3} s, cpu {}; {} sites, {} forms, {} assignments, {} symbols, {} regions; facts {:.1} MB",
        totals.files,
        totals.bytes,
        totals.problems,
        wall.as_secs_f64(),
        cpu_seconds(),
        totals.sites,
        totals.forms,
        totals.assigns,
        totals.symbols,
        totals.regions,
        totals.heap as f64 / 1e6,
    );
}

/// Adds sizes of tables to totals.
fn add_table_sizes(totals: &mut Vec<(&'static str, usize, usize)>, sizes: &[(&'static str, usize, usize)]) {
    if totals.is_empty() {
        totals.extend_from_slice(sizes);
        return;
    }
    for (total, size) in totals.iter_mut().zip(sizes) {
        total.1 += size.1;
        total.2 += size.2;
    }
}

/// Returns user and system time of this process, on Linux.
fn cpu_seconds() -> String {
    let Ok(stat) = std::fs::read_to_string("/proc/self/stat") else { return "unknown".to_owned() };
    let ticks: Vec<f64> = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|field| field.parse().ok())
        .collect();
    format!("{:.2} s user, {:.2} s system", ticks.first().unwrap_or(&0.0) / 100.0, ticks.get(1).unwrap_or(&0.0) / 100.0)
}

fn collect_python_files(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => collect_python_files(&path, files),
            Ok(kind) if kind.is_file() && path.extension().is_some_and(|end| end == "py") => files.push(path),
            _ => {}
        }
    }
}
