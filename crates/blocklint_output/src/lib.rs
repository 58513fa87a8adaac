//! Findings as text and data: one file per format, none of which computes anything.
//!
//! A renderer is given findings with located places, their groups and the texts of the files they
//! stand in, and writes. Which findings are shown, in which order and grouped how, was decided before.

mod changed;
mod concise;
mod diff;
mod explanation;
mod frames;
mod full;
mod github;
mod gitlab;
mod html;
mod json;
mod jsonl;
mod junit;
mod look;
mod overview;
mod paths;
mod plan;
mod rdjson;
mod sarif;
mod statistics;
mod summary;
mod wording;

use std::sync::Arc;

use blocklint_core::{Finding, Group, LineStarts, Place, RuleCode, Span};
use camino::Utf8Path;
use rustc_hash::FxHashMap;

pub use changed::changed_files;
pub use concise::concise;
pub use diff::diff;
pub use explanation::{
    ExplainedFinding, ExplainedFunction, ExplainedLine, ExplainedRow, ExplainedSite, ExplainedTarget, Outcome, Remark,
    explanation, explanation_json,
};
pub use full::{full, minor};
pub use github::github;
pub use gitlab::gitlab;
pub use html::{HtmlReport, html};
pub use json::json;
pub use jsonl::jsonl;
pub use junit::junit;
pub use look::Look;
pub use overview::{Begin, BeginKind, GroupOverview, Overview, PathEdge, PathGraph, PathNode, PathNodeKind};
pub use plan::{Plan, PlanCall, PlanKind, PlanStep, plan_json, plan_text};
pub use rdjson::rdjson;
pub use sarif::{SarifRun, sarif};
pub use statistics::{statistics, statistics_by_cause, statistics_by_cause_json, statistics_json};
pub use summary::{Summary, begin, fixable, fixed_summary, in_baseline, left_aside, summary, were_there};

/// The input of a renderer.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// The findings, by path, offset, rule.
    pub findings: &'a [Finding],
    /// The findings grouped under the causes of their best paths, in order of how many roots reach them.
    pub groups: &'a [Group],
    /// The texts of the files in which findings, traces and causes lie.
    pub sources: &'a Sources,
    /// The folder to which paths are shown relative.
    pub folder: &'a Utf8Path,
    /// The address of the repository with the pages of the rules; none in a build that is no release.
    pub pages: Option<&'a str>,
}

impl Shown<'_> {
    /// Returns the address of a rule's page.
    pub(crate) fn url(&self, rule: RuleCode) -> Option<String> {
        Some(blocklint_rules::rule(rule)?.url_in(self.pages?))
    }
}

/// Texts of files, by absolute path. A file without one is shown by its place alone.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    texts: FxHashMap<Arc<Utf8Path>, Text>,
}

/// The text of a file.
#[derive(Clone, Debug)]
struct Text {
    text: Arc<str>,
    lines: LineStarts,
    cells: Vec<CellStart>,
}

/// Where a cell of a notebook begins in the text that all code cells make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellStart {
    /// The offset of its first byte.
    pub offset: u32,
    /// Its number among all cells, from 1.
    pub number: u32,
}

impl Sources {
    /// Keeps the text of a file, as decoded by its front end.
    pub fn insert(&mut self, path: Arc<Utf8Path>, text: Arc<str>) {
        self.insert_cells(path, text, Vec::new());
    }

    /// Keeps the text of a notebook: its code cells one below the other, and where each begins, in order.
    pub fn insert_cells(&mut self, path: Arc<Utf8Path>, text: Arc<str>, cells: Vec<CellStart>) {
        let lines = LineStarts::new(&text);
        self.texts.insert(path, Text { text, lines, cells });
    }

    /// Returns the text of a file.
    pub fn get(&self, path: &Utf8Path) -> Option<&str> {
        self.texts.get(path).map(|kept| &*kept.text)
    }

    /// Computes rows and columns of a place. `false` where the text of its file is not kept.
    pub fn locate(&self, place: &mut Place) -> bool {
        let Some(kept) = self.texts.get(&place.path) else { return false };
        place.locate_in(&kept.text, &kept.lines);
        if let Some(cell) = kept.cells.partition_point(|cell| cell.offset <= place.span.start).checked_sub(1) {
            let cell = kept.cells[cell];
            let mut first = Place::unlocated(Arc::clone(&place.path), Span::new(cell.offset, cell.offset));
            first.locate_in(&kept.text, &kept.lines);
            let above = first.start.row.saturating_sub(1);
            place.cell = Some(cell.number);
            // A place may end in a later cell only where a cell is broken.
            (place.start.row, place.end.row) = (place.start.row - above, place.end.row - above);
        }
        true
    }

    /// Returns the number, from 0, of the line in which an offset lies; the cells of a notebook are counted as one
    /// text.
    pub(crate) fn line_of(&self, path: &Utf8Path, offset: u32) -> Option<usize> {
        self.texts.get(path).map(|kept| kept.lines.line_of(offset))
    }

    /// Returns the column of an offset in its line in bytes, from 1.
    pub(crate) fn byte_column(&self, path: &Utf8Path, offset: u32) -> Option<u32> {
        let kept = self.texts.get(path)?;
        let before = kept.text.get(..offset as usize)?;
        let start = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
        Some((before.len() - start) as u32 + 1)
    }

    /// Returns the line of this number, from 0, without its end.
    pub(crate) fn line(&self, path: &Utf8Path, number: usize) -> Option<&str> {
        self.texts.get(path).and_then(|kept| kept.lines.line(&kept.text, number))
    }

    /// True if the text of a file is kept.
    pub fn contains(&self, path: &Utf8Path) -> bool {
        self.texts.contains_key(path)
    }
}
