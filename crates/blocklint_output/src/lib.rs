//! Findings as text and data: one file per format, none of which computes anything.
//!
//! A renderer is given findings with located places, their groups and the texts of the files they
//! stand in, and writes. Which findings are shown, in which order and grouped how, was decided before.

mod concise;
mod diff;
mod explanation;
mod frames;
mod full;
mod json;
mod paths;
mod statistics;
mod summary;

use std::sync::Arc;

use blocklint_core::{Finding, Group, LineStarts, Place};
use camino::Utf8Path;
use rustc_hash::FxHashMap;

pub use concise::concise;
pub use diff::diff;
pub use explanation::{ExplainedRow, ExplainedSite, ExplainedTarget, Outcome, explanation};
pub use full::full;
pub use json::json;
pub use statistics::{statistics, statistics_json};
pub use summary::{Summary, fixable, fixed_summary, summary};

/// What a renderer shows.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// The findings, by path, offset, rule.
    pub findings: &'a [Finding],
    /// The same grouped under the causes of their best paths, in order of how many roots reach them.
    pub groups: &'a [Group],
    /// The texts of the files in which findings, traces and causes lie.
    pub sources: &'a Sources,
    /// The folder to which paths are shown relative.
    pub folder: &'a Utf8Path,
}

/// Texts of files, by absolute path. A file without one is shown by its place alone.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    texts: FxHashMap<Arc<Utf8Path>, (Arc<str>, LineStarts)>,
}

impl Sources {
    /// Keeps the text of a file, as decoded by its front end.
    pub fn insert(&mut self, path: Arc<Utf8Path>, text: Arc<str>) {
        let lines = LineStarts::new(&text);
        self.texts.insert(path, (text, lines));
    }

    /// The text of a file.
    pub fn get(&self, path: &Utf8Path) -> Option<&str> {
        self.texts.get(path).map(|(text, _)| &**text)
    }

    /// Computes rows and columns of a place. `false` where the text of its file is not kept.
    pub fn locate(&self, place: &mut Place) -> bool {
        let kept = self.texts.get(&place.path);
        if let Some((text, lines)) = kept {
            place.locate_in(text, lines);
        }
        kept.is_some()
    }

    /// Whether the text of a file is kept.
    pub fn contains(&self, path: &Utf8Path) -> bool {
        self.texts.contains_key(path)
    }
}
