//! Source frames: the line of a place with a mark under what is meant.

use std::ops::Range;

use annotate_snippets::{Annotation, AnnotationKind, Element, Origin, Snippet};
use blocklint_core::{Finding, Place};

use crate::Shown;
use crate::paths::shown_file;
use crate::wording::step_label;

/// The number of steps up to which all are shown. Of a longer trace the first and the last are shown, because readers
/// skip the middle of a hundred frames.
const MOST_FRAMES: usize = 8;
const FIRST_FRAMES: usize = 4;

/// The frame at a place of the trace.
pub(crate) enum Frame<'a> {
    /// A place, its label, and whether it is the finding's own.
    Place { place: &'a Place, label: Option<String>, primary: bool },
    /// Steps that are left out.
    Gap(usize),
}

/// Returns the frames of a finding, from its place to the call that blocks; of its first `own` steps only, where the
/// rest was shown before.
pub(crate) fn frames(finding: &Finding, own: usize) -> Vec<Frame<'_>> {
    let steps = finding.trace.len();
    let own = own.clamp(1, steps.max(1));
    let label = |at: usize| match at + 1 == own && own < steps {
        true => format!("{}, and then as above", step_label(finding, at)),
        false => step_label(finding, at),
    };
    // On greenlets the finding stands at the call at the end of its trace: the place first, then the way to it.
    if finding.context == Some(blocklint_core::Context::Greenlet) && steps > 1 {
        let mut frames =
            vec![Frame::Place { place: &finding.place, label: Some(step_label(finding, steps - 1)), primary: true }];
        let step = |at: usize| Frame::Place {
            place: &finding.trace[at].place,
            label: Some(step_label(finding, at)),
            primary: false,
        };
        let way = steps - 1;
        match way > MOST_FRAMES {
            true => {
                frames.extend((0..FIRST_FRAMES).map(step));
                frames.push(Frame::Gap(way - MOST_FRAMES));
                frames.extend((way - (MOST_FRAMES - FIRST_FRAMES)..way).map(step));
            }
            false => frames.extend((0..way).map(step)),
        }
        frames.extend(held_by(finding));
        return frames;
    }
    // A call that does not block itself (a lock over an `await`) is explained by its message.
    let label_of_place = (!finding.trace.is_empty() && finding.effect.is_some()).then(|| label(0));
    let mut frames = vec![Frame::Place { place: &finding.place, label: label_of_place, primary: true }];
    let (head, tail) = match own > MOST_FRAMES {
        true => (FIRST_FRAMES, own - (MOST_FRAMES - FIRST_FRAMES)),
        false => (own.min(steps), own.min(steps)),
    };
    let frame = |at: usize| Frame::Place { place: &finding.trace[at].place, label: Some(label(at)), primary: false };
    frames.extend((1..head).map(frame));
    if tail > head {
        frames.push(Frame::Gap(tail - head));
    }
    frames.extend((tail..own.min(steps)).map(frame));
    frames.extend(held_by(finding));
    frames
}

/// Where another holds the lock that is waited for.
fn held_by(finding: &Finding) -> Option<Frame<'_>> {
    let held = finding.held_by.as_ref()?;
    Some(Frame::Place { place: &held.place, label: Some(held.lock_holder_words()), primary: false })
}

/// One place as an element: its line with a mark, or its position where the text is not at hand.
pub(crate) fn element<'a>(place: &'a Place, label: Option<String>, primary: bool, shown: &Shown<'a>) -> Element<'a> {
    let path = shown_file(place, shown.folder);
    let Some(text) = shown.sources.get(&place.path) else {
        let (line, column) = (place.start.row as usize, place.start.column as usize);
        return Origin::path(path).line(line).char_column(column).into();
    };
    let (line, mark, row) = marked_line(text, place);
    let kind = if primary { AnnotationKind::Primary } else { AnnotationKind::Context };
    let annotation: Annotation<'_> = kind.span(mark).label(label);
    Snippet::source(line).line_start(row).path(path).annotation(annotation).into()
}

/// Returns the line in which the place begins, the part of it that is meant, and its number. A span that goes on over
/// more lines is marked to the end of its first, and one that the file no longer holds where the file ends: the frames
/// must never fail.
fn marked_line<'a>(text: &'a str, place: &Place) -> (&'a str, Range<usize>, usize) {
    let boundary = |offset: u32| {
        let mut at = (offset as usize).min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = boundary(place.span.start);
    let before = text.get(..start).unwrap_or_default();
    let line_start = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let rest = text.get(start..).unwrap_or_default();
    let line_end = start + rest.find(['\n', '\r']).unwrap_or(rest.len());
    let end = boundary(place.span.end).clamp(start, line_end);
    let line = text.get(line_start..line_end).unwrap_or_default();
    // A byte-order mark has no width, but the frame would show it.
    let mark = if line_start == 0 && line.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let line = line.get(mark..).unwrap_or_default();
    let from = (start - line_start).saturating_sub(mark);
    let to = (end - line_start).saturating_sub(mark).max(from);
    (line, from..to, place.start.row.max(1) as usize)
}
