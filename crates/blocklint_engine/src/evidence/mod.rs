//! Evidence from the running program, matched with the findings: recorded stalls, lines of asyncio's log, a profiler's
//! stacks and BlockHound's errors. The content of a file shows its kind.

mod blockhound;
mod matching;
mod recorded;
mod slow_callbacks;
mod stacks;

use std::fs::File;
use std::io::Read;

use blocklint_project::Project;
use camino::Utf8Path;

use crate::Failure;
use crate::choose::{Chosen, Levels};

/// A file of evidence may be so large: a day of logs, or an hour of a profiler. A larger one is a mistake or an attack.
const MOST_BYTES: u64 = 64 << 20;
/// So many frames of a stack are looked at: the outermost, under which everything else happened.
const MOST_FRAMES: usize = 1000;
/// A name of a function, a file or a test is read so far, in characters.
const MOST_CHARACTERS: usize = 500;

/// One file of evidence.
#[derive(Debug)]
pub struct Evidence {
    /// The kind of evidence, in words.
    pub kind: &'static str,
    stalls: Vec<Stall>,
}

/// The result of a file of evidence for the findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weighed {
    /// How many stalls or stacks it holds, equal ones counted each.
    pub all: u64,
    /// How many of them a finding explains.
    pub explained: u64,
}

/// A time for which a thread was held, or a look at one.
#[derive(Clone, Debug, Default, PartialEq)]
struct Stall {
    /// Outermost first. Only one, without a line, where only a function is known.
    frames: Vec<Frame>,
    /// How long, in seconds.
    seconds: Option<f64>,
    /// How often.
    times: u64,
    /// The test that showed it.
    test: Option<String>,
}

/// A frame of a stack.
#[derive(Clone, Debug, Default, PartialEq)]
struct Frame {
    /// As it is written: absolute, relative, or only a name; on the machine where the program ran.
    path: String,
    /// From 1.
    line: Option<u32>,
    /// Qualified or not.
    function: String,
}

/// Reads the stalls of one form; none where a text does not have it.
type Parse = fn(&str) -> Vec<Stall>;

impl Evidence {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// Where it cannot be read, is too large, or holds no evidence in any form that is known; with its line where one is to blame.
    pub fn read(path: &Utf8Path) -> Result<Self, Failure> {
        let failed = |why: String| Failure::new(format!("{path}: {why}"));
        let file = File::open(path).map_err(|error| failed(error.to_string()))?;
        let mut bytes = Vec::new();
        file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| failed(error.to_string()))?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(failed(format!("evidence of more than {} MB is not read", MOST_BYTES >> 20)));
        }
        Evidence::parse(&String::from_utf8_lossy(&bytes)).map_err(|why| Failure::new(format!("{path}:{why}")))
    }

    /// Reads a text; what is wrong with it begins with `LINE:COLUMN: `, or with a space.
    fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim_start_matches('\u{feff}');
        if text.trim_start().starts_with('{') {
            return Ok(Evidence { kind: "recorded stalls", stalls: recorded::parse(text)? });
        }
        let forms: [(&'static str, Parse); 3] = [
            ("slow callbacks of asyncio", slow_callbacks::parse),
            ("errors of BlockHound", blockhound::parse),
            ("sampled stacks", stacks::parse),
        ];
        // A log may hold lines of several kinds; that with the first form that occurs is what the file is.
        let found = forms.into_iter().map(|(kind, parse)| (kind, parse(text))).find(|(_, stalls)| !stalls.is_empty());
        match found {
            Some((kind, stalls)) => Ok(Evidence { kind, stalls }),
            // A test run in which nothing stalled leaves an empty log.
            None if text.trim().is_empty() => Ok(Evidence { kind: "an empty file", stalls: Vec::new() }),
            None => Err(
                "1:1: this is no evidence: neither JSON of `pytest --blocklint-evidence`, nor asyncio's log of slow \
                         callbacks, nor raw stacks of py-spy, nor an error of BlockHound"
                    .to_owned(),
            ),
        }
    }

    /// Marks the findings that were seen. Their places must be located.
    pub fn weigh(&self, chosen: &mut Chosen, project: &Project) -> Weighed {
        matching::weigh(&self.stalls, chosen, project)
    }

    /// Takes out what lies below the levels and was not seen, of findings that were chosen with none.
    pub fn keep_seen(chosen: &mut Chosen, levels: Levels) {
        let is_shown = |of: &blocklint_core::Finding| {
            of.severity >= levels.severity && of.confidence >= levels.confidence
                // Findings that only tests or command lines reach stay aside, because it is no news that a test showed
                // its own call.
                || of.confirmed.is_some() && of.aside.is_none()
                || of.rule == blocklint_rules::UNREADABLE_SOURCE.code
        };
        let hidden: Vec<bool> = chosen.findings.iter().map(|finding| !is_shown(finding)).collect();
        for finding in chosen.take(&hidden) {
            match finding.confidence >= levels.confidence
                && finding.aside.is_some_and(|aside| aside.severity >= levels.severity)
            {
                true => chosen.aside += 1,
                false => chosen.below += 1,
            }
        }
        chosen.suppressed.retain(|of| of.severity >= levels.severity && of.confidence >= levels.confidence);
    }
}

/// Returns a name as far as it is read, without what would move a cursor.
fn name(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(MOST_CHARACTERS).collect()
}

/// Returns a place `PATH:LINE` and what follows it: the first number behind a colon, at whose end neither a name nor a
/// path goes on.
fn place(text: &str) -> Option<(&str, u32, &str)> {
    text.match_indices(':').find_map(|(at, _)| {
        let rest = &text[at + 1..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let line = rest[..digits].parse().ok().filter(|line| *line > 0)?;
        let ends = rest[digits..].chars().next().is_none_or(|c| !(c.is_alphanumeric() || c == '/' || c == '\\'));
        (at > 0 && ends).then(|| (&text[..at], line, &rest[digits..]))
    })
}

#[cfg(test)]
mod tests;
