//! Source frames: the line of a place with a mark under the code, and the frames of a whole trace.

use std::ops::Range;

use annotate_snippets::{Annotation, AnnotationKind, Element, Origin, Snippet};
use blocklint_core::{Finding, Place};

use crate::RenderInput;
use crate::paths::file_text;
use crate::wording::step_label;

/// The most steps of a trace that are shown. Of a longer trace the first and the last steps are shown, because readers
/// skip the middle of a hundred frames.
const MOST_FRAMES: usize = 8;
/// The number of first steps that are shown of a longer trace.
const FIRST_FRAMES: usize = 4;

/// The frame at a place of the trace.
pub(crate) enum Frame<'a> {
    /// A place with its label. `primary` is true for the finding's own place.
    Place { place: &'a Place, label: Option<String>, primary: bool },
    /// Steps that are left out.
    Gap(usize),
}

/// The steps of a trace that are shown. The others were shown with an earlier finding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShownSteps {
    /// The number of first steps that an earlier finding shows. Of these only the first is shown again.
    pub(crate) shared: usize,
    /// The number of steps before the trace joins an earlier one.
    pub(crate) own: usize,
}

/// Returns the frames of a finding, from its place to the call that blocks, without those of steps that are not shown.
pub(crate) fn frames(finding: &Finding, shown: ShownSteps) -> Vec<Frame<'_>> {
    let steps = finding.trace.len();
    let own = shown.own.clamp(1, steps.max(1));
    // The place of the finding is always shown.
    let from = if shown.shared < own { shown.shared.max(1) } else { 1 };
    let label = |index: usize| match (index + 1 == own && own < steps, index == 0 && from > 1) {
        (true, _) => format!("{}, and then as above", step_label(finding, index)),
        (_, true) => format!("{}, as above", step_label(finding, index)),
        _ => step_label(finding, index),
    };
    // On greenlets the finding's place is the call at the end of its trace. That frame is first, then the path to it.
    if finding.context == Some(blocklint_core::Context::Greenlet) && steps > 1 {
        let mut frames =
            vec![Frame::Place { place: &finding.place, label: Some(step_label(finding, steps - 1)), primary: true }];
        let frame = |index: usize| Frame::Place {
            place: &finding.trace[index].place,
            label: Some(step_label(finding, index)),
            primary: false,
        };
        let before_last = steps - 1;
        match before_last > MOST_FRAMES {
            true => {
                frames.extend((0..FIRST_FRAMES).map(frame));
                frames.push(Frame::Gap(before_last - MOST_FRAMES));
                frames.extend((before_last - (MOST_FRAMES - FIRST_FRAMES)..before_last).map(frame));
            }
            false => frames.extend((0..before_last).map(frame)),
        }
        frames.extend(lock_holder_frame(finding));
        return frames;
    }
    // A call that does not block itself (a lock over an `await`) needs no label, because the message explains it.
    let label_of_place = (!finding.trace.is_empty() && finding.effect.is_some()).then(|| label(0));
    let mut frames = vec![Frame::Place { place: &finding.place, label: label_of_place, primary: true }];
    let frame =
        |index: usize| Frame::Place { place: &finding.trace[index].place, label: Some(label(index)), primary: false };
    let (head, tail) = match own - from >= MOST_FRAMES {
        true => (from + FIRST_FRAMES - 1, own - (MOST_FRAMES - FIRST_FRAMES)),
        false => (own.min(steps), own.min(steps)),
    };
    frames.extend((from..head).map(frame));
    if tail > head {
        frames.push(Frame::Gap(tail - head));
    }
    frames.extend((tail..own.min(steps)).map(frame));
    frames.extend(lock_holder_frame(finding));
    frames
}

/// Returns the frame of the code that holds the lock which the call waits for.
fn lock_holder_frame(finding: &Finding) -> Option<Frame<'_>> {
    let holder = finding.held_by.as_ref()?;
    Some(Frame::Place { place: &holder.place, label: Some(holder.lock_holder_words()), primary: false })
}

/// Returns the element of one place: its line with a mark, or its position if the text of the file is not stored.
pub(crate) fn frame_element<'a>(
    place: &'a Place,
    label: Option<String>,
    primary: bool,
    input: &RenderInput<'a>,
) -> Element<'a> {
    let path = file_text(place, input.folder);
    let Some(text) = input.sources.get(&place.path) else {
        let (line, column) = (place.start.row as usize, place.start.column as usize);
        return Origin::path(path).line(line).char_column(column).into();
    };
    let (line, mark, row) = marked_line(text, place);
    let kind = if primary { AnnotationKind::Primary } else { AnnotationKind::Context };
    let annotation: Annotation<'_> = kind.span(mark).label(label);
    Snippet::source(line).line_start(row).path(path).annotation(annotation).into()
}

/// Returns the line in which a place begins, the range of the place in the line, and the number of the line. A place
/// over several lines is marked to the end of its first line. A place behind the end of a file that has changed is
/// marked at the end, because frames must never fail.
fn marked_line<'a>(text: &'a str, place: &Place) -> (&'a str, Range<usize>, usize) {
    let boundary = |offset: u32| {
        let mut index = (offset as usize).min(text.len());
        while !text.is_char_boundary(index) {
            index -= 1;
        }
        index
    };
    let start = boundary(place.span.start);
    let before = text.get(..start).unwrap_or_default();
    let line_start = before.rfind(['\n', '\r']).map_or(0, |index| index + 1);
    let rest = text.get(start..).unwrap_or_default();
    let line_end = start + rest.find(['\n', '\r']).unwrap_or(rest.len());
    let end = boundary(place.span.end).clamp(start, line_end);
    let line = text.get(line_start..line_end).unwrap_or_default();
    // A byte-order mark is cut off, because the frame would show it though it has no width.
    let bom = if line_start == 0 && line.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let line = line.get(bom..).unwrap_or_default();
    let from = (start - line_start).saturating_sub(bom);
    let to = (end - line_start).saturating_sub(bom).max(from);
    (line, from..to, place.start.row.max(1) as usize)
}
