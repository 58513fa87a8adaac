//! Evidence that a program blocked at run time, matched with the findings: recorded stalls, lines of asyncio's log, a
//! profiler's stacks and BlockHound's errors. The kind of a file is recognised by its content.

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

/// The greatest size of a file in bytes. A day of logs or an hour of a profiler is smaller.
const MAX_BYTES: u64 = 64 << 20;
/// The greatest number of frames that are read of a stack. The outermost are read, because they have the entry point.
const MAX_FRAMES: usize = 1000;
/// The greatest number of characters of the name of a function or a test; the rest is cut off.
const MAX_CHARACTERS: usize = 500;

/// The content of one file of evidence.
#[derive(Debug)]
pub struct Evidence {
    /// The kind of evidence, as a plural noun for messages.
    pub kind: &'static str,
    stalls: Vec<Stall>,
}

/// The numbers of stalls in a file of evidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EvidenceCounts {
    /// The number of stalls or sampled stacks; equal stacks are counted each time.
    pub all: u64,
    /// The number of them that match a finding.
    pub explained: u64,
}

/// A stall of a thread, or a sampled stack.
#[derive(Clone, Debug, Default, PartialEq)]
struct Stall {
    /// The stack, outermost frame first. If only the function is known, the only frame is without a line.
    frames: Vec<Frame>,
    /// The duration in seconds, if it is known.
    seconds: Option<f64>,
    /// The number of times that this stack was sampled.
    times: u64,
    /// The test during which it happened.
    test: Option<String>,
}

/// A frame of a stack.
#[derive(Clone, Debug, Default, PartialEq)]
struct Frame {
    /// The path of the file on the machine where the program ran: absolute, relative, or only a file name.
    path: String,
    /// The line, from 1.
    line: Option<u32>,
    /// The name of the function, qualified or not.
    function: String,
}

/// Parses the stalls of one format; returns none if the text has another format.
type Parse = fn(&str) -> Vec<Stall>;

impl Evidence {
    /// Reads a file of evidence.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, is too large, or has no known format. The message has the line, if it is known.
    pub fn read(path: &Utf8Path) -> Result<Self, Failure> {
        let failure = |why: String| Failure::new(format!("{path}: {why}"));
        let file = File::open(path).map_err(|error| failure(error.to_string()))?;
        let mut bytes = Vec::new();
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| failure(error.to_string()))?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(failure(format!("evidence of more than {} MB is not read", MAX_BYTES >> 20)));
        }
        Evidence::parse(&String::from_utf8_lossy(&bytes)).map_err(|why| Failure::new(format!("{path}:{why}")))
    }

    /// Parses the text of a file. An error begins with `LINE:COLUMN: `, or with a space if there is no place.
    fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim_start_matches('\u{feff}');
        if text.trim_start().starts_with('{') {
            return Ok(Evidence { kind: "recorded stalls", stalls: recorded::parse(text)? });
        }
        let formats: [(&'static str, Parse); 3] = [
            ("slow callbacks of asyncio", slow_callbacks::parse),
            ("errors of BlockHound", blockhound::parse),
            ("sampled stacks", stacks::parse),
        ];
        // A log may contain several kinds; the first one of this list that occurs is read.
        let first = formats.into_iter().map(|(kind, parse)| (kind, parse(text))).find(|(_, stalls)| !stalls.is_empty());
        match first {
            Some((kind, stalls)) => Ok(Evidence { kind, stalls }),
            // A run without stalls leaves an empty log.
            None if text.trim().is_empty() => Ok(Evidence { kind: "an empty file", stalls: Vec::new() }),
            None => Err(
                "1:1: this is no evidence: neither JSON of `pytest --blocklint-evidence`, nor asyncio's log of slow \
                         callbacks, nor raw stacks of py-spy, nor an error of BlockHound"
                    .to_owned(),
            ),
        }
    }

    /// Marks the findings that the evidence confirms, and returns the numbers of stalls. Places of findings must have
    /// rows and columns.
    pub fn mark_confirmed(&self, chosen: &mut Chosen, project: &Project) -> EvidenceCounts {
        matching::mark_confirmed(&self.stalls, chosen, project)
    }

    /// Hides the findings below the levels that are not confirmed. They must have been chosen with the lowest levels.
    pub fn hide_unless_confirmed(chosen: &mut Chosen, levels: Levels) {
        let is_shown = |finding: &blocklint_core::Finding| {
            finding.severity >= levels.severity && finding.confidence >= levels.confidence
                // Findings that only tests or command lines reach stay hidden, because a test that observes its own
                // call is no news.
                || finding.confirmed.is_some() && finding.aside.is_none()
                || finding.rule == blocklint_rules::UNREADABLE_SOURCE.code
        };
        let hidden: Vec<bool> = chosen.findings.iter().map(|finding| !is_shown(finding)).collect();
        for finding in chosen.take(&hidden) {
            if finding.confidence >= levels.confidence
                && finding.aside.is_some_and(|aside| aside.severity >= levels.severity)
            {
                chosen.aside += 1
            } else {
                chosen.below += 1
            }
        }
        chosen
            .suppressed
            .retain(|finding| finding.severity >= levels.severity && finding.confidence >= levels.confidence);
    }
}

/// Returns a name without control characters, which would move a terminal's cursor, and cut to [`MAX_CHARACTERS`].
fn clean_name(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(MAX_CHARACTERS).collect()
}

/// Splits a text that begins with a place into path, line and rest: `/a/x.py:12 cb=[…]`. The line is the first number
/// after a colon that is followed by neither a letter, a digit nor a separator of paths (`C:7/a.py:3`).
fn split_place(text: &str) -> Option<(&str, u32, &str)> {
    text.match_indices(':').find_map(|(colon, _)| {
        let rest = &text[colon + 1..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let line = rest[..digits].parse().ok().filter(|line| *line > 0)?;
        let is_end = rest[digits..].chars().next().is_none_or(|c| !(c.is_alphanumeric() || c == '/' || c == '\\'));
        (colon > 0 && is_end).then(|| (&text[..colon], line, &rest[digits..]))
    })
}

#[cfg(test)]
mod tests;
