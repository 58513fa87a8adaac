//! The cache of a session: it stores the facts of unchanged files and the flows of the last search over all files, and
//! the next session starts with them.

use std::io;
use std::time::SystemTime;

use blocklint_analysis::{Flows, Layout, SourceFile as Analysed};
use blocklint_cache::{Cache, Digest, Files, Hasher};
use blocklint_project::Project;
use camino::Utf8Path;
use serde::{Deserialize, Serialize};

use super::facts::{self, FileOutcome, extract_known};
use super::inputs::{hash_project_settings, read_file_states};
use crate::extraction::Extracted;
use crate::progress::Silent;
use crate::{Failure, Options, on_large_stacks};

/// The stored flows of a project. The key of the entry is the digest of all settings.
#[derive(Serialize, Deserialize)]
struct StoredFlows {
    /// The digest of the bytes of all files.
    contents: Digest,
    flows: Flows,
}

/// The state at the start of a session, which [`SessionStart::store`] needs.
pub(crate) struct SessionStart {
    cache: Cache,
    key: Digest,
    /// The digest of the bytes of all files as they were read.
    contents: Digest,
    files: Option<Files>,
    outcomes: Vec<FileOutcome>,
    /// True if the flows of these files are stored already.
    has_flows: bool,
}

/// Returns the facts of all files of a project, out of the cache if they did not change. Also returns the stored flows,
/// if the settings and all files are those of the search that found them.
///
/// # Errors
/// If the system starts no threads.
pub(crate) fn open_cached_session(
    project: &Project,
    layout: &Layout,
    options: Options,
    cache: Cache,
) -> Result<(Vec<Extracted>, Option<Flows>, SessionStart), Failure> {
    let mut hasher = Hasher::new();
    hash_project_settings(project, layout, &format!("session {options:?}"), &mut hasher);
    let key = hasher.digest();
    let states = on_large_stacks(|| read_file_states(project, SystemTime::now()))?;
    let files = cache.files();
    let (extracted, _, _) = on_large_stacks(|| extract_known(project, &files, &states, &Silent))?;
    let (extracted, outcomes): (Vec<_>, Vec<_>) = extracted.into_iter().unzip();
    let contents = facts::content_digest(project, &outcomes);
    let stored: Option<StoredFlows> = cache.load_run(key).filter(|stored: &StoredFlows| stored.contents == contents);
    let flows = stored.map(|stored| stored.flows);
    let start = SessionStart { cache, key, contents, files: Some(files), outcomes, has_flows: flows.is_some() };
    Ok((extracted, flows, start))
}

impl SessionStart {
    /// Stores the new facts, once, and `flows`, if there are any. Facts of files that are open in an editor are not
    /// stored, because the disk may have another text. The caller passes `flows` only if all files are as they were
    /// read.
    pub(crate) fn store(
        &mut self,
        project: &Project,
        sources: &[Analysed],
        is_open: impl Fn(&Utf8Path) -> bool,
        flows: Option<&Flows>,
    ) -> io::Result<()> {
        if let Some(files) = self.files.take() {
            for (outcome, file) in self.outcomes.iter_mut().zip(&project.files) {
                outcome.is_storable &= !is_open(&file.path);
            }
            self.cache.create_folder()?;
            facts::store_linked_facts(project, files, &self.outcomes, sources)?;
        }
        if let Some(flows) = flows.filter(|_| !self.has_flows) {
            self.cache.store_run(self.key, &StoredFlows { contents: self.contents, flows: flows.clone() })?;
            self.has_flows = true;
            self.cache.prune();
        }
        Ok(())
    }
}
