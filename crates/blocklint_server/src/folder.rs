//! A workspace folder: its worker, its settings, and the last analysis that the worker reported.

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

/// A workspace folder.
pub(crate) struct Folder {
    pub(crate) path: Utf8PathBuf,
    pub(crate) settings: Arc<Settings>,
    pub(crate) analysis: Arc<Analysis>,
    pub(crate) progress: Progress,
    worker: Worker,
    /// The revision of `analysis`; `None` before the first analysis.
    analysed_revision: Option<u64>,
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
            .filter(|(open, _)| open.starts_with(&path))
            .map(|(open, document)| (Arc::clone(open), Arc::clone(document.text.content())))
            .collect();
        let worker = Worker::start(&path, Arc::clone(&settings), buffers, hooks, events)?;
        let analysis = Arc::default();
        Ok(Folder { path, settings, analysis, progress: Progress::default(), worker, analysed_revision: None })
    }

    pub(crate) fn contains(&self, path: &Utf8Path) -> bool {
        path.starts_with(&self.path)
    }

    pub(crate) fn send_job(&mut self, job: Job) {
        self.worker.send_job(job);
    }

    /// Returns the revision of the last job, which a current analysis has.
    pub(crate) fn revision(&self) -> u64 {
        self.worker.revision()
    }

    /// True if `analysis` is of this revision or a later one.
    pub(crate) fn has_analysed(&self, revision: u64) -> bool {
        self.analysed_revision.is_some_and(|analysed_revision| analysed_revision >= revision)
    }

    pub(crate) fn is_current(&self) -> bool {
        self.has_analysed(self.revision())
    }

    pub(crate) fn set_analysis(&mut self, revision: u64, analysis: Arc<Analysis>) {
        (self.analysed_revision, self.analysis) = (Some(revision), analysis);
    }
}
