//! `blocklint debug edits`: random edits that check incremental analysis. A session reports the same findings after
//! edits as a session that is opened anew, and the early findings of a changed file are those of the analysis of all
//! files.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use blocklint_core::{Confidence, Finding};
use blocklint_engine::{Buffers, Options, Report, STACK_SIZE, Session, load_models};
use blocklint_project::{Request, discover};
use camino::Utf8Path;

use super::{current_folder, ignore_closed_pipe};
use crate::messages::Failure;
use crate::{CLEAN, FOUND, console};

pub(crate) fn compare_after_edits(path: &Utf8Path, count: u32, seed: u64) -> Result<u8, Failure> {
    // A session reads changed files on the thread that calls it, and parsing needs a large stack.
    let (work, failed) = (|| compare_sessions(path, count, seed), || Failure::new("the comparison failed"));
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, work)?;
        thread.join().map_err(|_| failed())?
    })
}

/// The number of edits after which a new session is opened to compare with, which takes far longer than an edit.
const REOPEN_INTERVAL: u32 = 20;

fn compare_sessions(path: &Utf8Path, count: u32, seed: u64) -> Result<u8, Failure> {
    let mut session = open(path, Buffers::new())?;
    let files: Vec<Arc<Utf8Path>> = session.project().files.iter().map(|file| Arc::clone(&file.path)).collect();
    let mut random = Random(seed.max(1));
    let mut buffers = Buffers::new();
    let (mut differ, mut differ_at_once, mut compared) = (0, 0, 0);
    let (mut at_once, mut whole): (Vec<Duration>, Vec<Duration>) = (Vec::new(), Vec::new());
    let report_difference =
        |number: u32, what: &str, file: &Utf8Path, edited_findings: &[Finding], expected: &[Finding]| {
            let [missed, extra] = [missing_in(edited_findings, expected), missing_in(expected, edited_findings)];
            ignore_closed_pipe(writeln!(
                std::io::stdout(),
                "{number}: {what} in {file}:\n  missed {missed:#?}\n  extra {extra:#?}"
            ))
        };
    analyse_all(&mut session);
    for number in 1..=count {
        let Some(file) = random.pick(&files) else { break };
        let Some(text) = session.text(file) else { continue };
        let (edit, text) = edit_at_random(&text, &mut random);
        let text: Arc<str> = Arc::from(text);
        buffers.insert(Arc::clone(file), Arc::clone(&text));
        let started = Instant::now();
        if !session.change(file, Some(text)) {
            continue;
        }
        let early =
            session.analyse_changed(&never_stopped(), |_, Report { findings, .. }, _| findings).unwrap_or_default();
        at_once.push(started.elapsed());
        // Some edits follow each other without an analysis of all files between them, as when a user types on.
        if random.below(3) == 0 && number % REOPEN_INTERVAL != 0 {
            continue;
        }
        let started = Instant::now();
        let edited_findings = analyse_all(&mut session);
        whole.push(started.elapsed());
        if let Some(early) = early {
            let (early, later) = (findings_in(&early, file), findings_in(&edited_findings, file));
            compared += later.len();
            if early != later {
                differ_at_once += 1;
                report_difference(number, &format!("at once: {edit}"), file, &early, &later)?;
            }
        }
        if number % REOPEN_INTERVAL == 0 {
            let expected = analyse_all(&mut open(path, buffers.clone())?);
            if edited_findings != expected {
                differ += 1;
                report_difference(number, edit, file, &edited_findings, &expected)?;
            }
        }
    }
    let time = |times: &mut Vec<Duration>| {
        times.sort();
        let percentile = |share: usize| times.get((times.len() * share / 100).min(times.len().saturating_sub(1)));
        let milliseconds = |share| percentile(share).map_or(0.0, |time| time.as_secs_f64() * 1e3);
        format!("p50 {:.1} ms, p99 {:.1} ms", milliseconds(50), milliseconds(99))
    };
    ignore_closed_pipe(writeln!(
        std::io::stdout(),
        "{} edits; at once {}, {differ_at_once} of {} differ from all ({compared} findings); all {}, {differ} of {} differ from a \
         session opened anew",
        at_once.len(),
        time(&mut at_once),
        whole.len(),
        time(&mut whole),
        count / REOPEN_INTERVAL
    ))?;
    Ok(if differ + differ_at_once > 0 { FOUND } else { CLEAN })
}

fn never_stopped() -> Arc<AtomicBool> {
    Arc::new(AtomicBool::new(false))
}

/// Returns the findings of a file, without the reach of their causes, which only an analysis of all files can count.
fn findings_in(findings: &[Finding], file: &Utf8Path) -> Vec<Finding> {
    let mut of_file: Vec<Finding> = findings.iter().filter(|finding| *finding.place.path == *file).cloned().collect();
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
    Session::open(project, models, options, buffers, None)
}

fn analyse_all(session: &mut Session) -> Vec<Finding> {
    let found = session.analyse(&never_stopped(), |_, Report { findings, .. }| findings);
    found.unwrap_or_default()
}

fn missing_in<'f>(other_findings: &[Finding], findings: &'f [Finding]) -> Vec<&'f Finding> {
    findings.iter().filter(|finding| !other_findings.contains(finding)).collect()
}

/// Returns the name of a random edit, and the text after it.
fn edit_at_random(text: &str, random: &mut Random) -> (&'static str, String) {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let index = random.below(lines.len());
    let line = lines.get(index).copied().unwrap_or_default();
    let indent = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
    let inserted = ["time.sleep(1)\n", "Thread.sleep(1);\n", "pass\n", "return None\n", "x = f(\n", "}\n"];
    let inserted = format!("{indent}{}", inserted[random.below(inserted.len())]);
    let name = match random.below(5) {
        0 if !lines.is_empty() => {
            lines.remove(index);
            "a line is deleted"
        }
        1 if !lines.is_empty() => {
            lines.insert(index, line);
            "a line is doubled"
        }
        2 if !lines.is_empty() => {
            let other_index = random.below(lines.len());
            lines.swap(index, other_index);
            "two lines are swapped"
        }
        3 => {
            lines.truncate(index);
            "the end is cut off"
        }
        _ => {
            lines.insert(index.min(lines.len()), &inserted);
            "a line is inserted"
        }
    };
    (name, lines.concat())
}

/// A random number generator, Marsaglia's xorshift, with the same numbers on every machine.
struct Random(u64);

impl Random {
    /// Returns a number below `bound`, or 0 if `bound` is 0.
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }

    fn pick<'t, T>(&mut self, all: &'t [T]) -> Option<&'t T> {
        let index = self.below(all.len());
        all.get(index)
    }
}
