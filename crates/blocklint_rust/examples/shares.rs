//! Measures the steps of extraction on the Rust files below some folders, on one thread:
//! `cargo run --release -p blocklint_rust --example shares -- FOLDER…` prints the milliseconds of parsing the files, of
//! parsing the arguments of macros once more, and of the whole extraction, then the numbers of files and bytes.
//! `benchmarks/rust` uses it.

#![expect(clippy::print_stdout, reason = "that is what it is for")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn main() {
    // Syntax trees can be deep, and dropping them recurses.
    let work = std::thread::Builder::new().stack_size(256 << 20).spawn(measure);
    work.expect("a thread").join().expect("extraction does not panic");
}

fn measure() {
    let mut files = Vec::new();
    for folder in std::env::args().skip(1) {
        collect_rust_files(Path::new(&folder), &mut files);
    }
    let (mut parse, mut macro_parse, mut extract, mut bytes) = (Duration::ZERO, Duration::ZERO, Duration::ZERO, 0);
    for file in &files {
        let Ok(text) = std::fs::read(file) else { continue };
        bytes += text.len();
        let start = Instant::now();
        let (facts, file_time, macro_time) = blocklint_rust::extract_timed(&text);
        extract += start.elapsed();
        parse += file_time;
        macro_parse += macro_time;
        drop(facts);
    }
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    println!("{:.1} {:.1} {:.1} {} {bytes}", ms(parse), ms(macro_parse), ms(extract), files.len());
}

fn collect_rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && !hidden => collect_rust_files(&path, files),
            Ok(kind) if kind.is_file() && path.extension().is_some_and(|end| end == "rs") => files.push(path),
            _ => {}
        }
    }
}
