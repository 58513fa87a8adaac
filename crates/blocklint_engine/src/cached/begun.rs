//! The state that a session begins with and leaves for the next one: facts of files that did not change, and the flows of labels of the last
//! search over all of the same files.

use std::io;
use std::time::SystemTime;

use blocklint_analysis::{Flows, Layout, SourceFile as Analysed};
use blocklint_cache::{Cache, Digest, Files, Hasher};
use blocklint_project::Project;
use camino::Utf8Path;
use serde::{Deserialize, Serialize};

use super::facts::{self, Became, extract_known};
use super::inputs::{look, project_settings};
use crate::extraction::Extracted;
use crate::progress::Silent;
use crate::{Failure, Options, on_large_stacks};

/// The flows that are kept for the sessions of one project, by the settings besides its files.
#[derive(Serialize, Deserialize)]
struct KeptFlows {
    /// Of the bytes of all files.
    contents: Digest,
    flows: Flows,
}

/// The state at the begin of a session, which later storing needs.
pub(crate) struct SessionStart {
    cache: Cache,
    key: Digest,
    /// Of the bytes of all files as they were read.
    contents: Digest,
    files: Option<Files>,
    seen: Vec<Became>,
    /// True if the flows of these files are stored already.
    has_flows: bool,
}

/// Reads all files of a project, those that did not change as they were kept. With them goes what flowed the last time, if nothing
/// that it rests on is different.
///
/// # Errors
/// If the system starts no threads.
pub(crate) fn begin(
    project: &Project,
    layout: &Layout,
    options: Options,
    cache: Cache,
) -> Result<(Vec<Extracted>, Option<Flows>, SessionStart), Failure> {
    let mut all = Hasher::new();
    project_settings(project, layout, &format!("session {options:?}"), &mut all);
    let key = all.digest();
    let looked = on_large_stacks(|| look(project, SystemTime::now()))?;
    let files = cache.files();
    let (extracted, _, _) = on_large_stacks(|| extract_known(project, &files, &looked, &Silent))?;
    let (extracted, seen): (Vec<_>, Vec<_>) = extracted.into_iter().unzip();
    let contents = facts::digest(project, &seen);
    let kept: Option<KeptFlows> = cache.load_run(key).filter(|kept: &KeptFlows| kept.contents == contents);
    let flows = kept.map(|kept| kept.flows);
    let begun = SessionStart { cache, key, contents, files: Some(files), seen, has_flows: flows.is_some() };
    Ok((extracted, flows, begun))
}

impl SessionStart {
    /// Keeps the facts that are new, once, but those of the files that an editor holds, which may not be what the disk has; and what
    /// flowed, where all files are as they were read.
    pub(crate) fn keep(
        &mut self,
        project: &Project,
        sources: &[Analysed],
        is_held: impl Fn(&Utf8Path) -> bool,
        flows: Option<&Flows>,
    ) -> io::Result<()> {
        if let Some(files) = self.files.take() {
            for (became, file) in self.seen.iter_mut().zip(&project.files) {
                became.keeps &= !is_held(&file.path);
            }
            self.cache.create_folder()?;
            facts::save_sources(project, files, &self.seen, sources)?;
        }
        if let Some(flows) = flows.filter(|_| !self.has_flows) {
            self.cache.store_run(self.key, &KeptFlows { contents: self.contents, flows: flows.clone() })?;
            self.has_flows = true;
            self.cache.prune();
        }
        Ok(())
    }
}
