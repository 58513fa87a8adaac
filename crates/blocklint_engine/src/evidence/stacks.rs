//! Raw stacks as `py-spy record --format raw` writes them, outermost first, with how often each was seen:
//! `serve (app/main.py:12);load (app/store.py:4) 37`.

use super::{Frame, MOST_FRAMES, Stall, name};

/// Returns the stacks of a text of which every line is one.
pub(super) fn parse(text: &str) -> Vec<Stall> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(stack).collect::<Option<Vec<_>>>().filter(|all| all.iter().any(has_a_place)).unwrap_or_default()
}

fn has_a_place(stall: &Stall) -> bool {
    stall.frames.iter().any(|frame| frame.line.is_some())
}

fn stack(line: &str) -> Option<Stall> {
    let (frames, times) = line.trim_end().rsplit_once(' ')?;
    let times = times.parse().ok()?;
    let frames = frames.split(';').take(MOST_FRAMES).filter_map(frame).collect();
    Some(Stall { frames, seconds: None, times, test: None })
}

/// `load (app/store.py:4)`; what names a process or a thread has no place.
fn frame(text: &str) -> Option<Frame> {
    let (function, at) = text.strip_suffix(')')?.rsplit_once(" (")?;
    let (path, line) = at.rsplit_once(':').and_then(|(path, line)| Some((path, line.parse().ok()?)))?;
    Some(Frame { path: path.to_owned(), line: Some(line), function: name(function.trim()) })
}
