//! `blocklint debug edits`: whether a session that is edited finds what one that is opened anew finds.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use blocklint_core::{Confidence, Finding};
use blocklint_engine::{Buffers, Options, Report, STACK_SIZE, Session, load_models};
use blocklint_project::{Request, discover};
use camino::Utf8Path;

use super::{current_folder, unless_closed};
use crate::messages::Failure;
use crate::{CLEAN, FOUND};

pub(crate) fn edits(path: &Utf8Path, count: u32, seed: u64) -> Result<u8, Failure> {
    // A session reads files that change on its own thread.
    let (done, failed) = (|| run(path, count, seed), || Failure::new("the comparison failed"));
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, done)?;
        thread.join().map_err(|_| failed())?
    })
}

fn run(path: &Utf8Path, count: u32, seed: u64) -> Result<u8, Failure> {
    let mut session = open(path, Buffers::new())?;
    let files: Vec<Arc<Utf8Path>> = session.project().files.iter().map(|file| Arc::clone(&file.path)).collect();
    let mut random = Random(seed.max(1));
    let mut buffers = Buffers::new();
    let (mut differ, mut edited, mut anew) = (0, Duration::ZERO, Duration::ZERO);
    for number in 1..=count {
        let Some(file) = random.one_of(&files) else { break };
        let Some(text) = session.text(file) else { continue };
        let (what, text) = changed(&text, &mut random);
        let text: Arc<str> = Arc::from(text);
        buffers.insert(Arc::clone(file), Arc::clone(&text));
        let started = Instant::now();
        session.change(file, Some(text));
        let found = findings(&mut session);
        edited += started.elapsed();
        let started = Instant::now();
        let mut fresh = open(path, buffers.clone())?;
        let expected = findings(&mut fresh);
        anew += started.elapsed();
        if found != expected {
            differ += 1;
            let [missed, extra] = [only_in(&expected, &found), only_in(&found, &expected)];
            unless_closed(writeln!(
                std::io::stdout(),
                "{number}: {what} in {file}:\n  missed {missed:#?}\n  extra {extra:#?}"
            ))?;
        }
    }
    let mean = |sum: Duration| sum.as_secs_f64() * 1e3 / f64::from(count.max(1));
    unless_closed(writeln!(
        std::io::stdout(),
        "{count} edits, {differ} differ; {:.1} ms each, anew {:.1} ms",
        mean(edited),
        mean(anew)
    ))?;
    Ok(if differ > 0 { FOUND } else { CLEAN })
}

fn open(path: &Utf8Path, buffers: Buffers) -> Result<Session, Failure> {
    let current = current_folder()?;
    let paths = [path.to_path_buf()];
    let project = discover(Request { current: &current, paths: &paths, isolated: false })
        .map_err(|errors| Failure::all(errors.iter().map(|error| error.relative_to(&current))))?;
    let models = load_models(&project, &current)?;
    Ok(Session::open(project, models, Options::new(Confidence::Medium), buffers)?)
}

fn findings(session: &mut Session) -> Vec<Finding> {
    let found = session.analyse(&Arc::new(AtomicBool::new(false)), |_, Report { findings, .. }| findings);
    found.unwrap_or_default()
}

fn only_in<'f>(these: &'f [Finding], those: &[Finding]) -> Vec<&'f Finding> {
    these.iter().filter(|finding| !those.contains(finding)).collect()
}

/// The text after one edit, and what that is called.
fn changed(text: &str, random: &mut Random) -> (&'static str, String) {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let at = random.below(lines.len());
    let line = lines.get(at).copied().unwrap_or_default();
    let indent = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
    let inserted = ["time.sleep(1)\n", "Thread.sleep(1);\n", "pass\n", "return None\n", "x = f(\n", "}\n"];
    let inserted = format!("{indent}{}", inserted[random.below(inserted.len())]);
    let what = match random.below(5) {
        0 if !lines.is_empty() => {
            lines.remove(at);
            "a line is deleted"
        }
        1 if !lines.is_empty() => {
            lines.insert(at, line);
            "a line is doubled"
        }
        2 if !lines.is_empty() => {
            let other = random.below(lines.len());
            lines.swap(at, other);
            "two lines are swapped"
        }
        3 => {
            lines.truncate(at);
            "the end is cut off"
        }
        _ => {
            lines.insert(at.min(lines.len()), &inserted);
            "a line is inserted"
        }
    };
    (what, lines.concat())
}

/// Marsaglia's xorshift: the same edits on every machine.
struct Random(u64);

impl Random {
    /// A number below this one; 0 below 0.
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }

    fn one_of<'t, T>(&mut self, all: &'t [T]) -> Option<&'t T> {
        let at = self.below(all.len());
        all.get(at)
    }
}
