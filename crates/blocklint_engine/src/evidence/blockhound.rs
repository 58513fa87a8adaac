//! Parses errors of BlockHound, which it throws if a non-blocking thread blocks: Java stack traces, innermost frame
//! first.

use super::{Frame, MAX_FRAMES, Stall, clean_name};

/// The text with which the message of an error begins.
const ERROR_START: &str = "Blocking call! ";

/// The first words of lines that Reactor writes between the error and its frames if it traces the assembly of chains.
const LINES_BETWEEN: [&str; 6] = ["Suppressed:", "Error has been observed", "*__", "|_", "Original Stack Trace", "..."];

/// Returns the errors in a log; other lines are skipped.
pub(super) fn parse(text: &str) -> Vec<Stall> {
    let mut stalls = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if !line.contains(ERROR_START) {
            continue;
        }
        let mut frames = Vec::new();
        while let Some(next) = lines.peek().map(|next| next.trim()) {
            match next.strip_prefix("at ") {
                Some(called) if frames.len() < MAX_FRAMES => frames.extend(parse_frame(called)),
                Some(_) => {}
                None if next.is_empty() || LINES_BETWEEN.iter().any(|word| next.starts_with(word)) => {}
                None => break,
            }
            lines.next();
        }
        frames.reverse();
        if !frames.is_empty() {
            stalls.push(Stall { frames, seconds: None, times: 1, test: None });
        }
    }
    stalls
}

/// Parses a frame: `java.base/java.lang.Thread.sleep(Thread.java:450)`. Its path is the file in the folder of the
/// class's package.
fn parse_frame(text: &str) -> Option<Frame> {
    let (called, place) = text.split_once('(')?;
    let (file, line) = match place.split(')').next()?.rsplit_once(':') {
        Some((file, line)) => (file, line.parse().ok()),
        None => (place.split(')').next()?, None),
    };
    // A module or a class loader is before the last slash.
    let called = called.rsplit('/').next()?;
    let (class, method) = called.rsplit_once('.')?;
    let package = class.rsplit_once('.').map_or("", |(package, _)| package);
    let folder = package.replace('.', "/");
    let path = if folder.is_empty() { file.to_owned() } else { format!("{folder}/{file}") };
    Some(Frame { path, line, function: clean_name(method) })
}
