//! Errors of BlockHound, thrown when a thread that must not block does: a Java stack trace, innermost first.

use super::{Frame, MOST_FRAMES, Stall, name};

const BEGINS: &str = "Blocking call! ";

/// Lines that Reactor writes between the error and its frames when it traces the assembly of a chain.
const BETWEEN: [&str; 6] = ["Suppressed:", "Error has been observed", "*__", "|_", "Original Stack Trace", "..."];

/// Returns the errors of a log, whatever else it holds.
pub(super) fn parse(text: &str) -> Vec<Stall> {
    let mut stalls = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if !line.contains(BEGINS) {
            continue;
        }
        let mut frames = Vec::new();
        while let Some(next) = lines.peek().map(|next| next.trim()) {
            match next.strip_prefix("at ") {
                Some(called) if frames.len() < MOST_FRAMES => frames.extend(frame(called)),
                Some(_) => {}
                None if next.is_empty() || BETWEEN.iter().any(|word| next.starts_with(word)) => {}
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

/// `java.base/java.lang.Thread.sleep(Thread.java:450)`: the file lies in the folder of the class's package.
fn frame(text: &str) -> Option<Frame> {
    let (called, at) = text.split_once('(')?;
    let (file, line) = match at.split(')').next()?.rsplit_once(':') {
        Some((file, line)) => (file, line.parse().ok()),
        None => (at.split(')').next()?, None),
    };
    // The part before the last slash names a module or a loader.
    let called = called.rsplit('/').next()?;
    let (class, method) = called.rsplit_once('.')?;
    let package = class.rsplit_once('.').map_or("", |(package, _)| package);
    let folder = package.replace('.', "/");
    let path = if folder.is_empty() { file.to_owned() } else { format!("{folder}/{file}") };
    Some(Frame { path, line, function: name(method) })
}
