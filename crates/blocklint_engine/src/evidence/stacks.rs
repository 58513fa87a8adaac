//! Parses the stacks that `py-spy record --format raw` writes, one a line, outermost frame first, with the number of
//! samples: `serve (app/main.py:12);load (app/store.py:4) 37`.

use super::{Frame, MAX_FRAMES, Stall, clean_name};

/// Returns the stacks of a text; none if one of its lines is no stack, or if no frame has a line.
pub(super) fn parse(text: &str) -> Vec<Stall> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(parse_stack).collect::<Option<Vec<_>>>().filter(|all| all.iter().any(has_line)).unwrap_or_default()
}

fn has_line(stall: &Stall) -> bool {
    stall.frames.iter().any(|frame| frame.line.is_some())
}

fn parse_stack(line: &str) -> Option<Stall> {
    let (frames, times) = line.trim_end().rsplit_once(' ')?;
    let times = times.parse().ok()?;
    let frames = frames.split(';').take(MAX_FRAMES).filter_map(parse_frame).collect();
    Some(Stall { frames, seconds: None, times, test: None })
}

/// Parses a frame: `load (app/store.py:4)`. Returns `None` for the name of a process or a thread, which has no place.
fn parse_frame(text: &str) -> Option<Frame> {
    let (function, place) = text.strip_suffix(')')?.rsplit_once(" (")?;
    let (path, line) = place.rsplit_once(':').and_then(|(path, line)| Some((path, line.parse().ok()?)))?;
    Some(Frame { path: path.to_owned(), line: Some(line), function: clean_name(function.trim()) })
}
