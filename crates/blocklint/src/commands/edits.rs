//! `blocklint debug edits`: whether a session that is edited finds what one that is opened anew finds, and what it tells at once of a
//! file that has changed is what an analysis of all files finds in it.

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
use crate::{CLEAN, FOUND, console};

pub(crate) fn edits(path: &Utf8Path, count: u32, seed: u64) -> Result<u8, Failure> {
    // A session reads files that change on its own thread.
    let (done, failed) = (|| run(path, count, seed), || Failure::new("the comparison failed"));
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, done)?;
        thread.join().map_err(|_| failed())?
    })
}

/// Each so many edits a session is opened anew to compare with, which takes far longer than an edit.
const ANEW: u32 = 20;

fn run(path: &Utf8Path, count: u32, seed: u64) -> Result<u8, Failure> {
    let mut session = open(path, Buffers::new())?;
    let files: Vec<Arc<Utf8Path>> = session.project().files.iter().map(|file| Arc::clone(&file.path)).collect();
    let mut random = Random(seed.max(1));
    let mut buffers = Buffers::new();
    let (mut differ, mut differ_at_once, mut compared) = (0, 0, 0);
    let (mut at_once, mut whole): (Vec<Duration>, Vec<Duration>) = (Vec::new(), Vec::new());
    let tell = |number: u32, what: &str, file: &Utf8Path, found: &[Finding], expected: &[Finding]| {
        let [missed, extra] = [only_in(expected, found), only_in(found, expected)];
        unless_closed(writeln!(
            std::io::stdout(),
            "{number}: {what} in {file}:\n  missed {missed:#?}\n  extra {extra:#?}"
        ))
    };
    findings(&mut session);
    for number in 1..=count {
        let Some(file) = random.one_of(&files) else { break };
        let Some(text) = session.text(file) else { continue };
        let (what, text) = changed(&text, &mut random);
        let text: Arc<str> = Arc::from(text);
        buffers.insert(Arc::clone(file), Arc::clone(&text));
        let started = Instant::now();
        if !session.change(file, Some(text)) {
            continue;
        }
        let told = session.analyse_changed(&never(), |_, Report { findings, .. }, _| findings).unwrap_or_default();
        at_once.push(started.elapsed());
        // Sometimes more is typed before all files are analysed.
        if random.below(3) == 0 && number % ANEW != 0 {
            continue;
        }
        let started = Instant::now();
        let found = findings(&mut session);
        whole.push(started.elapsed());
        if let Some(told) = told {
            let (told, later) = (of_one_file(&told, file), of_one_file(&found, file));
            compared += later.len();
            if told != later {
                differ_at_once += 1;
                tell(number, &format!("at once: {what}"), file, &told, &later)?;
            }
        }
        if number % ANEW == 0 {
            let expected = findings(&mut open(path, buffers.clone())?);
            if found != expected {
                differ += 1;
                tell(number, what, file, &found, &expected)?;
            }
        }
    }
    let time = |times: &mut Vec<Duration>| {
        times.sort();
        let at = |share: usize| times.get((times.len() * share / 100).min(times.len().saturating_sub(1)));
        let milliseconds = |share| at(share).map_or(0.0, |time| time.as_secs_f64() * 1e3);
        format!("p50 {:.1} ms, p99 {:.1} ms", milliseconds(50), milliseconds(99))
    };
    unless_closed(writeln!(
        std::io::stdout(),
        "{} edits; at once {}, {differ_at_once} of {} differ from all ({compared} findings); all {}, {differ} of {} differ from a \
         session opened anew",
        at_once.len(),
        time(&mut at_once),
        whole.len(),
        time(&mut whole),
        count / ANEW
    ))?;
    Ok(if differ + differ_at_once > 0 { FOUND } else { CLEAN })
}

fn never() -> Arc<AtomicBool> {
    Arc::new(AtomicBool::new(false))
}

/// Returns the findings that stand in a file, without what only all files tell: how many functions wait for a cause.
fn of_one_file(findings: &[Finding], file: &Utf8Path) -> Vec<Finding> {
    let mut of_file: Vec<Finding> = findings.iter().filter(|one| *one.place.path == *file).cloned().collect();
    of_file.iter_mut().flat_map(|finding| &mut finding.causes).for_each(|cause| cause.reach = 0);
    of_file
}

fn open(path: &Utf8Path, buffers: Buffers) -> Result<Session, Failure> {
    let current = current_folder()?;
    let paths = [path.to_path_buf()];
    let project = discover(Request { current: &current, paths: &paths, isolated: false })
        .map_err(|errors| Failure::all(errors.iter().map(|error| error.relative_to(&current))))?;
    let models = load_models(&project, &current)?;
    let options = Options { containment: console::containment(), ..Options::new(Confidence::Medium) };
    Ok(Session::open(project, models, options, buffers, None)?)
}

fn findings(session: &mut Session) -> Vec<Finding> {
    let found = session.analyse(&never(), |_, Report { findings, .. }| findings);
    found.unwrap_or_default()
}

fn only_in<'f>(these: &'f [Finding], those: &[Finding]) -> Vec<&'f Finding> {
    these.iter().filter(|finding| !those.contains(finding)).collect()
}

/// Returns the text after one edit, and what that is called.
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
    /// Returns a number below this one; 0 below 0.
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
