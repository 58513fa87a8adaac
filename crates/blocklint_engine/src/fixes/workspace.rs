//! A project in memory whose files can be changed and that is solved again: facts of unchanged files are kept.

use std::collections::BTreeMap;
use std::sync::Arc;

use blocklint_analysis::{Layout, Program, SourceFile};
use blocklint_core::Finding;
use blocklint_facts::FileFacts;
use blocklint_models::Models;
use blocklint_project::Project;
use camino::Utf8Path;

use super::Remedies;
use crate::Options;
use crate::analyse::{loaded, options_of, sort, unread};
use crate::extraction::{decode, extract_all, facts_of_bytes};
use crate::sources::text_of;
use crate::words::worded;

/// The project as it lies on disk, or as changes would make it.
pub(crate) struct Workspace<'p> {
    project: &'p Project,
    pub(crate) models: &'p Models,
    options: Options,
    files: Vec<SourceFile>,
    layout: Layout,
    unread: Vec<Finding>,
    /// Texts of the files that were looked at, as they are now.
    texts: BTreeMap<Arc<Utf8Path>, Text>,
}

/// A file that can be changed.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    /// Its bytes when it was read.
    pub(crate) read: Arc<[u8]>,
    /// Its text when it was read.
    pub(crate) before: Arc<str>,
    /// Its text now.
    pub(crate) now: Arc<str>,
}

/// What a project holds.
pub(crate) struct State {
    pub(crate) findings: Vec<Finding>,
    pub(crate) remedies: Remedies,
}

impl<'p> Workspace<'p> {
    /// Reads the project. Must run in a pool of threads with large stacks.
    pub(crate) fn new(project: &'p Project, models: &'p Models, options: Options) -> Self {
        let (extracted, _, _) = extract_all(project);
        let unread = unread(project, &extracted);
        let (files, layout) = loaded(project, extracted);
        Workspace { project, models, options, files, layout, unread, texts: BTreeMap::new() }
    }

    /// What is found as the files are now.
    pub(crate) fn solve(&self) -> State {
        let program = Program::new(&self.files, &self.layout);
        let link = blocklint_analysis::link(&program, self.models);
        let solved = blocklint_analysis::solve(&link, options_of(self.options));
        let mut remedies = Remedies::default();
        let mut findings = self.unread.clone();
        for (finding, remedy) in worded(&link, &solved, self.project.trace_in_paths) {
            remedies.insert(&finding, remedy);
            findings.push(finding);
        }
        sort(&mut findings);
        State { findings, remedies }
    }

    /// A file that fixes may change: one that is reported.
    fn slot(&self, path: &Utf8Path) -> Option<(usize, &'p blocklint_project::SourceFile)> {
        let slot = self.files.iter().position(|file| *file.path == *path && file.reported)?;
        let at = self.project.files.binary_search_by(|file| (*file.path).cmp(path)).ok()?;
        Some((slot, self.project.files.get(at)?))
    }

    /// Reads the text of a file that may be changed.
    ///
    /// # Errors
    ///
    /// Why it cannot be.
    pub(crate) fn open(&mut self, path: &Arc<Utf8Path>) -> Result<&Text, String> {
        if !self.texts.contains_key(path) {
            let (slot, file) = self.slot(path).ok_or("the file is none of those that were named")?;
            let bytes = blocklint_project::read(path, self.project.configuration.max_file_size)
                .map_err(|_| "the file cannot be read any more")?;
            // The same bytes give the same hash; others do not by chance.
            let same = facts_of_bytes(file, &bytes, || {}).ok().flatten();
            if same.is_none_or(|facts| facts.content_hash != self.files[slot].facts.content_hash) {
                return Err("the file changed while it was looked at".to_owned());
            }
            let (text, _) = decode(file, bytes.clone());
            if blocklint_python::encode_like(&bytes, &text).as_deref() != Some(&bytes[..]) {
                return Err("the file holds bytes that are no text in its encoding".to_owned());
            }
            let text = Text { read: bytes.into(), before: Arc::clone(&text), now: text };
            self.texts.insert(Arc::clone(path), text);
        }
        self.texts.get(path).ok_or_else(|| "the file is not open".to_owned())
    }

    /// The text of an open file.
    pub(crate) fn text(&self, path: &Utf8Path) -> Option<Arc<str>> {
        self.texts.get(path).map(|text| Arc::clone(&text.now))
    }

    /// The text of a file that cannot be opened, for places in it.
    pub(crate) fn closed_text(&self, path: &Utf8Path) -> Option<Arc<str>> {
        text_of(self.project, path).map(|(text, _)| text)
    }

    /// All open files.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&Arc<Utf8Path>, &Text)> {
        self.texts.iter()
    }

    /// Gives an open file another text; gives back how to undo it.
    ///
    /// # Errors
    ///
    /// Where that text does not parse; nothing is changed then.
    pub(crate) fn replace(&mut self, path: &Arc<Utf8Path>, text: Arc<str>) -> Result<Undo, String> {
        let (slot, file) = self.slot(path).ok_or("the file is none of those that were named")?;
        let open = self.texts.get_mut(path).ok_or("the file is not open")?;
        let bytes =
            blocklint_python::encode_like(&open.read, &text).ok_or("it cannot be written in the file's encoding")?;
        let facts = facts_of_bytes(file, &bytes, || {})?.ok_or("the file has no facts")?;
        if facts.problems.len() > self.files[slot].facts.problems.len() {
            return Err("the file would not parse".to_owned());
        }
        let facts = std::mem::replace(&mut self.files[slot].facts, facts);
        let text = std::mem::replace(&mut open.now, text);
        Ok(Undo { path: Arc::clone(path), slot, text, facts })
    }

    /// Undoes a replacement.
    pub(crate) fn undo(&mut self, undo: Undo) {
        self.files[undo.slot].facts = undo.facts;
        if let Some(open) = self.texts.get_mut(&undo.path) {
            open.now = undo.text;
        }
    }
}

/// What a file was before it was replaced.
pub(crate) struct Undo {
    path: Arc<Utf8Path>,
    slot: usize,
    text: Arc<str>,
    facts: FileFacts,
}
