//! Parses slow callbacks in the log of asyncio's debug mode: `Executing <Task …> took 0.123 seconds`. Such a line has
//! the function of the callback, and the line at which its coroutine was afterwards, but not the call that took the
//! time.

use super::{Frame, Stall, clean_name, split_place};

const CALLBACK_START: &str = "Executing <";

/// Returns the slow callbacks in a log; other lines are skipped.
pub(super) fn parse(text: &str) -> Vec<Stall> {
    text.lines().filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<Stall> {
    let (_, rest) = line.split_once(CALLBACK_START)?;
    let (callback, took) = rest.rsplit_once("> took ")?;
    let seconds: f64 = took.split(' ').next()?.parse().ok()?;
    if !seconds.is_finite() || seconds < 0.0 || !took.trim_start_matches(|c| c != ' ').starts_with(" second") {
        return None;
    }
    // A callback without a known function is a stall too.
    let frames = parse_function(callback).into_iter().collect();
    Some(Stall { frames, seconds: Some(seconds), times: 1, test: None })
}

/// Returns the coroutine of a task, else the function of a handle.
fn parse_function(callback: &str) -> Option<Frame> {
    let called = match callback.split_once("coro=<") {
        Some((_, coroutine)) => coroutine,
        None => {
            let (kind, rest) = callback.split_once(' ')?;
            // The text of a timer begins with its due time.
            let due = rest.strip_prefix("when=").and_then(|rest| rest.split_once(' ')).map(|(_, rest)| rest);
            if kind.ends_with("Handle") { due.unwrap_or(rest) } else { return None }
        }
    };
    let (function, rest) = called.split_once('(')?;
    let after = [" running at ", ", defined at ", ") at "].iter().filter_map(|word| rest.split_once(word));
    let (path, _, _) = after.filter_map(|(_, at)| split_place(at)).next()?;
    Some(Frame { path: path.to_owned(), line: None, function: clean_name(function) })
}
