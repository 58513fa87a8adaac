//! The files whose findings are wanted, and the other files and bodies that the search needs for them.

use std::cell::OnceCell;

use rustc_hash::FxHashSet;

use crate::linker::Linker;
use crate::program::ids::{BodyRef, FileId, Name, SiteRef};

/// The focus of a run; everything is in focus until a restriction is set.
#[derive(Debug, Default)]
pub(crate) struct Focus {
    /// The files whose findings are reported.
    files: OnceCell<FxHashSet<FileId>>,
    /// The files that the search looks at: the reported ones and those of `bodies`.
    searched: OnceCell<FxHashSet<FileId>>,
    /// The bodies of other files that the search looks at.
    bodies: OnceCell<FxHashSet<BodyRef>>,
    /// The names that occur in the searched files.
    names: OnceCell<FxHashSet<Name>>,
}

impl Linker<'_> {
    /// Restricts the findings to those in these files. Calls and types are resolved as without the restriction. Call it
    /// before the search; only the first call has an effect.
    pub fn restrict_findings_to(&self, files: FxHashSet<FileId>) {
        let _ = self.focus.files.set(files);
    }

    /// Restricts the search for blocking calls and their callers to the reported files and to these bodies of other
    /// files, which are on paths of their findings. Only the first call has an effect.
    pub fn restrict_search_to(&self, bodies: FxHashSet<BodyRef>) {
        let files: FxHashSet<FileId> = bodies.iter().map(|body| body.file).chain(self.reported_files()).collect();
        let _ = self.focus.bodies.set(bodies);
        let names = files.iter().flat_map(|&file| self.program.names_of(file)).copied().collect();
        let _ = self.focus.names.set(names);
        let _ = self.focus.searched.set(files);
    }

    /// True if findings of a file are reported.
    #[inline]
    pub fn is_reported(&self, file: FileId) -> bool {
        self.focus.files.get().is_none_or(|files| files.contains(&file))
    }

    /// True if the search looks at a file.
    #[inline]
    pub fn is_in_focus(&self, file: FileId) -> bool {
        self.focus.searched.get().is_none_or(|files| files.contains(&file))
    }

    /// True if the search looks at a call site.
    pub fn is_site_in_focus(&self, site: SiteRef) -> bool {
        let Some(bodies) = self.focus.bodies.get() else { return true };
        self.is_reported(site.file) || bodies.contains(&self.program.body_of_site(site))
    }

    /// True if a name, or an alias under which an import binds it, occurs in a file in focus.
    #[inline]
    pub fn is_name_in_focus(&self, name: Name) -> bool {
        let Some(names) = self.focus.names.get() else { return true };
        names.contains(&name) || self.with_aliases(name).iter().any(|name| names.contains(name))
    }

    /// Returns the files whose findings are reported, in the order of their slots.
    pub fn reported_files(&self) -> impl Iterator<Item = FileId> + '_ {
        let mut restricted: Vec<FileId> = self.focus.files.get().into_iter().flatten().copied().collect();
        restricted.sort();
        let unrestricted = if self.focus.files.get().is_some() { 0 } else { self.program.files.len() as u32 };
        restricted.into_iter().chain((0..unrestricted).map(FileId))
    }
}
