//! One workspace folder: its worker and what that told last.

use std::sync::Arc;

use blocklint_engine::Buffers;
use camino::{Utf8Path, Utf8PathBuf};
use crossbeam_channel::Sender;

use crate::Hooks;
use crate::analysis::Analysis;
use crate::progress::Progress;
use crate::settings::Settings;
use crate::view::Documents;
use crate::worker::{Event, Job, Worker};

/// One workspace folder.
pub(crate) struct Folder {
    pub(crate) path: Utf8PathBuf,
    pub(crate) settings: Arc<Settings>,
    pub(crate) analysis: Arc<Analysis>,
    pub(crate) progress: Progress,
    worker: Worker,
    /// The revision of `analysis`; none before the first.
    analysed: Option<u64>,
}

impl Folder {
    pub(crate) fn open(
        path: Utf8PathBuf,
        settings: Arc<Settings>,
        documents: &Documents,
        hooks: Hooks,
        events: Sender<Event>,
    ) -> std::io::Result<Self> {
        let buffers: Buffers = documents
            .iter()
            .filter(|(of, _)| of.starts_with(&path))
            .map(|(of, document)| (Arc::clone(of), Arc::clone(document.text.content())))
            .collect();
        let worker = Worker::start(&path, Arc::clone(&settings), buffers, hooks, events)?;
        let analysis = Arc::default();
        Ok(Folder { path, settings, analysis, progress: Progress::default(), worker, analysed: None })
    }

    pub(crate) fn holds(&self, path: &Utf8Path) -> bool {
        path.starts_with(&self.path)
    }

    pub(crate) fn give(&mut self, job: Job) {
        self.worker.give(job);
    }

    /// Returns the revision that answers must have to be current.
    pub(crate) fn revision(&self) -> u64 {
        self.worker.revision()
    }

    /// True if what is known has this revision.
    pub(crate) fn has(&self, revision: u64) -> bool {
        self.analysed.is_some_and(|analysed| analysed >= revision)
    }

    pub(crate) fn is_current(&self) -> bool {
        self.has(self.revision())
    }

    pub(crate) fn analysed(&mut self, revision: u64, analysis: Arc<Analysis>) {
        (self.analysed, self.analysis) = (Some(revision), analysis);
    }
}
