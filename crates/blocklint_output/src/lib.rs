//! Renderers: write findings as text and data, in one file per format. None of them computes anything.
//!
//! A renderer takes findings with located places, their groups, and the texts of their files. The engine has chosen,
//! sorted and grouped the findings before.

mod blocks;
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
mod page;
mod paths;
mod plan;
mod rdjson;
mod sarif;
mod statistics;
mod summary;
mod wording;
mod written;

use std::sync::Arc;

use blocklint_core::{Finding, Group, LineStarts, Place, RuleCode, Span};
use camino::Utf8Path;
use rustc_hash::FxHashMap;

pub use changed::write_changed_files;
pub use concise::write_concise;
pub use diff::write_diff;
pub use explanation::{
    ExplainedFinding, ExplainedFunction, ExplainedLine, ExplainedRow, ExplainedSite, ExplainedTarget, Outcome, Remark,
    write_explanation, write_explanation_json,
};
pub use full::{write_full, write_minor_notes};
pub use github::write_github;
pub use gitlab::write_gitlab;
pub use html::{HtmlReport, write_html};
pub use json::write_json;
pub use jsonl::write_jsonl;
pub use junit::write_junit;
pub use look::TerminalStyle;
pub use overview::{Begin, BeginKind, GroupOverview, Overview, PathEdge, PathGraph, PathNode, PathNodeKind};
pub use page::{Page, PageBlock, ReachedFrom};
pub use plan::{Plan, PlanCall, PlanKind, PlanStep, write_plan, write_plan_json};
pub use rdjson::write_rdjson;
pub use sarif::{SarifRun, write_sarif};
pub use statistics::{
    write_statistics, write_statistics_by_cause, write_statistics_by_cause_json, write_statistics_json,
};
pub use summary::{
    Summary, write_already_there, write_baseline_counts, write_first_change, write_fixable, write_fixed_summary,
    write_left_aside, write_summary,
};

/// The input of a renderer.
#[derive(Clone, Copy, Debug)]
pub struct RenderInput<'a> {
    /// The findings, by path, offset, rule.
    pub findings: &'a [Finding],
    /// The findings grouped under the causes of their best paths. The cause that most roots reach is first.
    pub groups: &'a [Group],
    /// The arrangement of the findings on a page, for the format `full`.
    pub page: &'a Page,
    /// The texts of the files with findings, traces and causes.
    pub sources: &'a Sources,
    /// The folder to which shown paths are relative.
    pub folder: &'a Utf8Path,
    /// The address of the repository with the pages of the rules. `None` in a build that is no release.
    pub pages: Option<&'a str>,
}

impl RenderInput<'_> {
    /// Returns the address of a rule's page.
    pub(crate) fn url(&self, rule: RuleCode) -> Option<String> {
        Some(blocklint_rules::rule(rule)?.url_in(self.pages?))
    }
}

/// The texts of files, by absolute path. A renderer shows a file without a text by row and column only.
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

/// The beginning of a notebook cell in the text of all its code cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellStart {
    /// The offset of its first byte.
    pub offset: u32,
    /// Its number among all cells, from 1.
    pub number: u32,
}

impl Sources {
    /// Stores the text of a file, as its front end decoded it.
    pub fn insert(&mut self, path: Arc<Utf8Path>, text: Arc<str>) {
        self.insert_cells(path, text, Vec::new());
    }

    /// Stores the text of a notebook (its code cells, one below the other) and the beginnings of its cells, in order.
    pub fn insert_cells(&mut self, path: Arc<Utf8Path>, text: Arc<str>, cells: Vec<CellStart>) {
        let lines = LineStarts::new(&text);
        self.texts.insert(path, Text { text, lines, cells });
    }

    /// Returns the text of a file.
    pub fn get(&self, path: &Utf8Path) -> Option<&str> {
        self.texts.get(path).map(|file| &*file.text)
    }

    /// Sets the rows and columns of a place, and its cell in a notebook. Returns false if the text of its file is not
    /// stored.
    pub fn locate(&self, place: &mut Place) -> bool {
        let Some(file) = self.texts.get(&place.path) else { return false };
        place.locate_in(&file.text, &file.lines);
        if let Some(cell) = file.cells.partition_point(|cell| cell.offset <= place.span.start).checked_sub(1) {
            let cell = file.cells[cell];
            let mut first = Place::unlocated(Arc::clone(&place.path), Span::new(cell.offset, cell.offset));
            first.locate_in(&file.text, &file.lines);
            let above = first.start.row.saturating_sub(1);
            place.cell = Some(cell.number);
            // A place ends in a later cell only if the code of its cell is broken.
            (place.start.row, place.end.row) = (place.start.row - above, place.end.row - above);
        }
        true
    }

    /// Returns the number of the line with an offset, from 0. The cells of a notebook count as one text.
    pub(crate) fn line_of(&self, path: &Utf8Path, offset: u32) -> Option<usize> {
        self.texts.get(path).map(|file| file.lines.line_of(offset))
    }

    /// Returns the column of an offset in its line in bytes, from 1.
    pub(crate) fn byte_column(&self, path: &Utf8Path, offset: u32) -> Option<u32> {
        let file = self.texts.get(path)?;
        let before = file.text.get(..offset as usize)?;
        let start = before.rfind(['\n', '\r']).map_or(0, |index| index + 1);
        Some((before.len() - start) as u32 + 1)
    }

    /// Returns the line of this number, from 0, without its end.
    pub(crate) fn line(&self, path: &Utf8Path, number: usize) -> Option<&str> {
        self.texts.get(path).and_then(|file| file.lines.line(&file.text, number))
    }

    /// True if the text of a file is stored.
    pub fn contains(&self, path: &Utf8Path) -> bool {
        self.texts.contains_key(path)
    }
}
