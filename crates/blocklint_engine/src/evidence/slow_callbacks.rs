//! Slow callbacks in the log of asyncio's debug mode: `Executing <Task …> took 0.123 seconds`. The line names the
//! function of the callback, and the place of its coroutine afterwards; it does not name the call that took the time.

use super::{Frame, Stall, name, place};

const BEGINS: &str = "Executing <";

/// Returns the slow callbacks of a log, whatever else it holds.
pub(super) fn parse(text: &str) -> Vec<Stall> {
    text.lines().filter_map(line).collect()
}

fn line(line: &str) -> Option<Stall> {
    let (_, rest) = line.split_once(BEGINS)?;
    let (callback, took) = rest.rsplit_once("> took ")?;
    let seconds: f64 = took.split(' ').next()?.parse().ok()?;
    if !seconds.is_finite() || seconds < 0.0 || !took.trim_start_matches(|c| c != ' ').starts_with(" second") {
        return None;
    }
    // A callback without a known function is a stall all the same.
    let frames = function(callback).into_iter().collect();
    Some(Stall { frames, seconds: Some(seconds), times: 1, test: None })
}

/// Returns the coroutine of a task, else the function of a handle.
fn function(callback: &str) -> Option<Frame> {
    let called = match callback.split_once("coro=<") {
        Some((_, coroutine)) => coroutine,
        None => {
            let (kind, rest) = callback.split_once(' ')?;
            // A timer's text begins with the time when it was due.
            let due = rest.strip_prefix("when=").and_then(|rest| rest.split_once(' ')).map(|(_, rest)| rest);
            if kind.ends_with("Handle") { due.unwrap_or(rest) } else { return None }
        }
    };
    let (function, rest) = called.split_once('(')?;
    let after = [" running at ", ", defined at ", ") at "].iter().filter_map(|word| rest.split_once(word));
    let (path, _, _) = after.filter_map(|(_, at)| place(at)).next()?;
    Some(Frame { path: path.to_owned(), line: None, function: name(function) })
}
