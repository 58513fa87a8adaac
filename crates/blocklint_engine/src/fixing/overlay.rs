//! The overlay: the new contents of files that fixes change, before anything is written.

use std::collections::BTreeMap;
use std::sync::Arc;

use blocklint_project::{Project, SourceFile};
use camino::Utf8Path;

use crate::extraction::{decode, extract_bytes};

use super::edits::apply_edits;
use super::program::Facts;

/// The files that fixes change, with their old and new contents.
pub(crate) struct Overlay<'a> {
    project: &'a Project,
    files: BTreeMap<Arc<Utf8Path>, Contents>,
}

/// The bytes of a file as they were read, and with the fixes so far.
#[derive(Debug)]
pub(crate) struct Contents {
    pub(crate) before: Vec<u8>,
    pub(crate) now: Vec<u8>,
}

impl<'a> Overlay<'a> {
    pub(crate) fn new(project: &'a Project) -> Self {
        Overlay { project, files: BTreeMap::new() }
    }

    /// Returns the file of the project at this path.
    pub(crate) fn file(&self, path: &Utf8Path) -> Option<&'a SourceFile> {
        self.project.file_at(path)
    }

    /// Reads a file that a fix would change.
    ///
    /// # Errors
    ///
    /// The reason why it may not be changed.
    pub(crate) fn open(&mut self, path: &Arc<Utf8Path>, facts: &Facts<'_>) -> Result<(), String> {
        if self.files.contains_key(path) {
            return Ok(());
        }
        let file = self.file(path).ok_or("the edit would change a file outside of the project")?;
        if !file.reported {
            return Err("the edit would change a file that was not given on the command line".to_owned());
        }
        if file.is_notebook() {
            return Err("notebooks are not edited".to_owned());
        }
        let bytes = file.read(self.project.configuration.max_file_size);
        let bytes = bytes.map_err(|_| "the file can no longer be read")?;
        // The spans of findings are valid only for the bytes that were analysed.
        let unchanged = extract_bytes(file, &bytes)
            .is_ok_and(|again| facts.of_file(path).is_some_and(|first| first.content_hash == again.content_hash));
        if !unchanged {
            return Err("the file changed while it was analysed".to_owned());
        }
        apply_edits(file.language, &bytes, &[])?;
        self.files.insert(Arc::clone(path), Contents { now: bytes.clone(), before: bytes });
        Ok(())
    }

    /// Returns the project root.
    pub(crate) fn root(&self) -> &Utf8Path {
        &self.project.root
    }

    /// Returns the edition of a Rust file: that of the nearest crate.
    pub(crate) fn edition(&self, path: &Utf8Path) -> u16 {
        let near = self.project.crates.iter().filter_map(|package| {
            let roots = package.roots.iter().filter_map(|root| root.path.parent());
            let around =
                roots.filter(|folder| path.starts_with(folder) || path.starts_with(folder.parent().unwrap_or(folder)));
            Some((around.map(|folder| folder.as_str().len()).max()?, package.edition))
        });
        near.max_by_key(|(depth, _)| *depth).map_or(2021, |(_, edition)| edition)
    }

    /// Returns the present bytes of a file that was opened.
    pub(crate) fn bytes(&self, path: &Utf8Path) -> Option<&[u8]> {
        self.files.get(path).map(|contents| &*contents.now)
    }

    /// Returns the present text of any file of the project, to which the spans of its findings refer.
    pub(crate) fn text(&self, path: &Utf8Path) -> Option<Arc<str>> {
        let bytes = match self.bytes(path) {
            Some(bytes) => bytes.to_vec(),
            None => self.file(path)?.read(self.project.configuration.max_file_size).ok()?,
        };
        Some(decode(self.file(path)?, bytes).0)
    }

    /// Sets the new bytes of files after a round.
    pub(crate) fn keep(&mut self, new: BTreeMap<Arc<Utf8Path>, Vec<u8>>) {
        for (path, bytes) in new {
            if let Some(contents) = self.files.get_mut(&path) {
                contents.now = bytes;
            }
        }
    }

    /// Returns the files that have changed, with their old and new texts.
    pub(crate) fn changed(mut self) -> Vec<(Arc<Utf8Path>, Contents, [Arc<str>; 2])> {
        let files = std::mem::take(&mut self.files).into_iter();
        let changed = files.filter(|(_, contents)| contents.before != contents.now);
        let with_texts = changed.filter_map(|(path, contents)| {
            let file = self.file(&path)?;
            let texts = [&contents.before, &contents.now].map(|bytes| decode(file, bytes.clone()).0);
            Some((path, contents, texts))
        });
        with_texts.collect()
    }
}
