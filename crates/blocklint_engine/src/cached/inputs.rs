//! The inputs on which the findings of a run depend, as digests.

use std::time::SystemTime;

use blocklint_analysis::Layout;
use blocklint_cache::{Digest, Files, Hasher, Stat};
use blocklint_project::{Project, read, text};
use rayon::prelude::*;

use super::{RunRequest, digest_of};
use crate::Options;

/// The state of one file before it was read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FileState {
    /// The metadata of the file; none if it cannot be read.
    pub(super) stat: Option<Stat>,
    /// True if a later change might leave the metadata as it is.
    pub(super) recent: bool,
    /// Its bytes, where they are known.
    pub(super) content: Option<Digest>,
}

/// The states of all files, in the order of the project.
pub(super) struct FileStates {
    pub(super) files: Vec<FileState>,
    /// Of what the file system says of all of them; none where a later change might not show.
    pub(super) stats: Option<Digest>,
}

impl FileStates {
    /// Returns the digest of the bytes of all files; none if one is unknown.
    pub(super) fn digest(&self, project: &Project) -> Option<Digest> {
        digest_of(project, self.files.iter().map(|seen| seen.content))
    }
}

/// Asks the file system of every file.
pub(super) fn look(project: &Project, now: SystemTime) -> FileStates {
    let ask = |file: &blocklint_project::SourceFile| {
        let stat = Stat::read(&file.path);
        FileState { stat, recent: stat.is_some_and(|stat| stat.is_recent(now)), content: None }
    };
    let files: Vec<FileState> = project.files.par_iter().with_min_len(64).map(ask).collect();
    let mut all = Hasher::new();
    for (file, seen) in project.files.iter().zip(&files) {
        all.add_part(file.relative.as_str().as_bytes());
        // A file without readable metadata cannot be read either.
        seen.stat.iter().flat_map(Stat::numbers).for_each(|number| {
            all.add_number(number.into());
        });
    }
    let stats = (!files.iter().any(|seen| seen.recent)).then(|| all.digest());
    FileStates { files, stats }
}

/// The content of every file: as it is known if the file system shows that it did not change, else read.
pub(super) fn contents(project: &Project, files: &Files, looked: &mut FileStates) {
    let limit = project.configuration.max_file_size;
    looked.files.par_iter_mut().enumerate().for_each(|(at, seen)| {
        let file = &project.files[at];
        let known = files.get(file.relative.as_str()).filter(|known| known.stat.is_some() && known.stat == seen.stat);
        seen.content = match known {
            Some(known) => Some(known.content),
            None => read(&file.path, limit).ok().map(|bytes| Digest::of_bytes(&bytes)),
        };
    });
}

/// Returns all that decides what is found besides the bytes of the source files: where they lie, what is reported, the
/// configuration, the content of manifests and launch files, models, options.
pub(super) fn settings(request: &RunRequest<'_>, layout: &Layout) -> Digest {
    let RunRequest { project, rules, levels, options, fixes, models: _, cache: _, progress: _ } = request;
    // Freeing memory changes no finding.
    let options = Options { ends_process: false, ..*options };
    let mut all = Hasher::new();
    project_settings(project, layout, &format!("{rules:?} {levels:?} {options:?} {fixes:?}"), &mut all);
    all.digest()
}

/// Adds the settings of the project for any kind of run; `besides` is the text of further settings.
pub(super) fn project_settings(project: &Project, layout: &Layout, besides: &str, all: &mut Hasher) {
    // Derived `Debug` prints every field, so that a new field counts without a mention here.
    let told = format!(
        "{:?}",
        (super::cache_version(), &project.root, &project.base, &project.configuration, project.trace_in_paths)
    );
    all.add_part(told.as_bytes());
    all.add_part(format!("{layout:?} {besides}").as_bytes());
    for file in &project.files {
        all.add_number(u128::from(file.reported) | (file.language as u128) << 1);
    }
    let shipped = project.shipped.iter().map(|model| &model.path);
    all.add_part(format!("{:?}", project.shipped).as_bytes());
    for path in project.configuration.models.iter().chain(shipped) {
        all.add_part(path.as_str().as_bytes()).add_part(text(path).unwrap_or_default().as_bytes());
    }
}
