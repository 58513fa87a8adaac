//! Digests of the inputs of a run: the state of all files, and the settings.

use std::time::SystemTime;

use blocklint_analysis::Layout;
use blocklint_cache::{Digest, Files, Hasher, Stat};
use blocklint_project::{Project, read, read_text};
use rayon::prelude::*;

use super::{RunRequest, digest_of_files};
use crate::Options;

/// The state of one file before it was read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FileState {
    /// The metadata of the file; none if it cannot be read.
    pub(super) stat: Option<Stat>,
    /// True if the file changed so recently that one more change may leave the metadata as it is.
    pub(super) is_recent: bool,
    /// The digest of its bytes, if they are known.
    pub(super) content: Option<Digest>,
}

/// The states of all files, in the order of the project.
pub(super) struct FileStates {
    pub(super) files: Vec<FileState>,
    /// The digest of the metadata of all files; `None` if a file changed so recently that one more change may not show.
    pub(super) stats: Option<Digest>,
}

impl FileStates {
    /// Returns the digest of the bytes of all files; `None` if those of a file are unknown.
    pub(super) fn content_digest(&self, project: &Project) -> Option<Digest> {
        digest_of_files(project, self.files.iter().map(|state| state.content))
    }
}

/// Reads the metadata of every file.
pub(super) fn read_file_states(project: &Project, now: SystemTime) -> FileStates {
    let read_state = |file: &blocklint_project::SourceFile| {
        let stat = Stat::read(&file.path);
        FileState { stat, is_recent: stat.is_some_and(|stat| stat.is_recent(now)), content: None }
    };
    let files: Vec<FileState> = project.files.par_iter().with_min_len(64).map(read_state).collect();
    let mut hasher = Hasher::new();
    for (file, state) in project.files.iter().zip(&files) {
        hasher.add_part(file.relative.as_str().as_bytes());
        // A file without metadata cannot be read, so it adds no numbers.
        state.stat.iter().flat_map(Stat::numbers).for_each(|number| {
            hasher.add_number(number.into());
        });
    }
    let stats = (!files.iter().any(|state| state.is_recent)).then(|| hasher.digest());
    FileStates { files, stats }
}

/// Adds the content digest of every file: the stored one if the metadata is unchanged, else that of the bytes read.
pub(super) fn add_content_digests(project: &Project, files: &Files, states: &mut FileStates) {
    let limit = project.configuration.max_file_size;
    states.files.par_iter_mut().enumerate().for_each(|(index, state)| {
        let file = &project.files[index];
        let known = files.get(file.relative.as_str()).filter(|known| known.stat.is_some() && known.stat == state.stat);
        state.content = match known {
            Some(known) => Some(known.content),
            None => read(&file.path, limit).ok().map(|bytes| Digest::of_bytes(&bytes)),
        };
    });
}

/// Returns the digest of every input of a run besides the bytes of the source files: their paths, the files that are
/// reported, the configuration, the content of manifests and launch files, models, rules and options.
pub(super) fn settings_digest(request: &RunRequest<'_>, layout: &Layout) -> Digest {
    let RunRequest { project, rules, levels, options, fixes, models: _, cache: _, progress: _ } = request;
    // Freeing memory changes no finding.
    let options = Options { ends_process: false, ..*options };
    let mut hasher = Hasher::new();
    hash_project_settings(project, layout, &format!("{rules:?} {levels:?} {options:?} {fixes:?}"), &mut hasher);
    hasher.digest()
}

/// Adds the settings of the project to a hash. `further_settings` is the text of settings of one kind of run.
pub(super) fn hash_project_settings(project: &Project, layout: &Layout, further_settings: &str, hasher: &mut Hasher) {
    // Derived `Debug` prints every field, so that a new field counts without a mention here.
    let project_text = format!(
        "{:?}",
        (super::cache_version(), &project.root, &project.base, &project.configuration, project.trace_in_paths)
    );
    hasher.add_part(project_text.as_bytes());
    hasher.add_part(format!("{layout:?} {further_settings}").as_bytes());
    for file in &project.files {
        hasher.add_number(u128::from(file.reported) | (file.language as u128) << 1);
    }
    let shipped = project.shipped.iter().map(|model| &model.path);
    hasher.add_part(format!("{:?}", project.shipped).as_bytes());
    for path in project.configuration.models.iter().chain(shipped) {
        hasher.add_part(path.as_str().as_bytes()).add_part(read_text(path).unwrap_or_default().as_bytes());
    }
}
