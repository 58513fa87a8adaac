//! The files whose findings are wanted, and the other files and bodies that the search needs for them.

use std::cell::OnceCell;

use rustc_hash::FxHashSet;

use crate::linker::Linker;
use crate::program::ids::{BodyRef, FileId, Name, SiteRef};

/// The focus of a run; at first it holds everything.
#[derive(Debug, Default)]
pub(crate) struct Focus {
    files: OnceCell<FxHashSet<FileId>>,
    near: OnceCell<FxHashSet<FileId>>,
    /// The bodies of other files that are looked at.
    bodies: OnceCell<FxHashSet<BodyRef>>,
    /// The names that the files which are looked at bear.
    names: OnceCell<FxHashSet<Name>>,
}

impl Linker<'_> {
    /// Restricts the findings to those in these files. Calls and types are resolved as without it. The first call
    /// counts, and it comes before the search.
    pub fn report_only(&self, files: FxHashSet<FileId>) {
        let _ = self.focus.files.set(files);
    }

    /// Restricts the search to the files asked about and to these bodies, to which their findings lead: it looks only
    /// there for calls that block, and for their callers. The first call counts.
    pub fn look_only_at(&self, bodies: FxHashSet<BodyRef>) {
        let files: FxHashSet<FileId> = bodies.iter().map(|body| body.file).chain(self.reported_files()).collect();
        let _ = self.focus.bodies.set(bodies);
        let names = files.iter().flat_map(|&file| self.program.names_of(file)).copied().collect();
        let _ = self.focus.names.set(names);
        let _ = self.focus.near.set(files);
    }

    /// True if findings of a file are wanted.
    #[inline]
    pub fn is_reported(&self, file: FileId) -> bool {
        self.focus.files.get().is_none_or(|files| files.contains(&file))
    }

    /// True if the search looks at a file.
    #[inline]
    pub fn is_in_focus(&self, file: FileId) -> bool {
        self.focus.near.get().is_none_or(|files| files.contains(&file))
    }

    /// True if the search looks at a call.
    pub fn is_site_in_focus(&self, site: SiteRef) -> bool {
        let Some(bodies) = self.focus.bodies.get() else { return true };
        self.is_reported(site.file) || bodies.contains(&self.program.body_of_site(site))
    }

    /// True if a file in focus bears a name, or another name under which an import binds it.
    #[inline]
    pub fn is_name_in_focus(&self, name: Name) -> bool {
        let Some(names) = self.focus.names.get() else { return true };
        names.contains(&name) || self.with_aliases(name).iter().any(|name| names.contains(name))
    }

    /// Returns the files of which findings are wanted, in the order of their slots.
    pub fn reported_files(&self) -> impl Iterator<Item = FileId> + '_ {
        let mut few: Vec<FileId> = self.focus.files.get().into_iter().flatten().copied().collect();
        few.sort();
        let all = if self.focus.files.get().is_some() { 0 } else { self.program.files.len() as u32 };
        few.into_iter().chain((0..all).map(FileId))
    }
}
