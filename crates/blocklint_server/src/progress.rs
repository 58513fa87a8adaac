//! LSP work-done progress of an analysis, reported once the analysis takes long.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The time after which the first analysis of a folder shows progress.
const FIRST_DELAY: Duration = Duration::from_millis(300);
/// The time after which a later analysis shows progress; most end earlier.
const LATER_DELAY: Duration = Duration::from_secs(1);

/// The progress of one folder.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    started: Option<Instant>,
    step: String,
    token: Option<String>,
    has_ended_once: bool,
}

/// A message for the client.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ProgressMessage {
    /// `window/workDoneProgress/create`.
    Create(Value),
    /// `$/progress`.
    Progress(Value),
}

impl Progress {
    /// Starts the progress or moves it to the next step, as `reading 12 files`.
    pub(crate) fn set_step(&mut self, step: String, now: Instant) -> Vec<ProgressMessage> {
        self.started.get_or_insert(now);
        self.step = step;
        match &self.token {
            Some(token) => vec![progress(token, json!({ "kind": "report", "message": self.step }))],
            None => Vec::new(),
        }
    }

    /// True if work has started and is not shown yet.
    pub(crate) fn is_pending(&self) -> bool {
        self.started.is_some() && self.token.is_none()
    }

    /// Begins to show work that takes long; `number` makes its token unique.
    pub(crate) fn show_if_long(&mut self, now: Instant, number: i32) -> Vec<ProgressMessage> {
        let bound = if self.has_ended_once { LATER_DELAY } else { FIRST_DELAY };
        let is_long = self.started.is_some_and(|started| now.duration_since(started) >= bound);
        if !is_long || self.token.is_some() {
            return Vec::new();
        }
        let token = format!("blocklint/{number}");
        let begin = json!({ "kind": "begin", "title": "blocklint", "message": self.step, "cancellable": false });
        let all = vec![ProgressMessage::Create(json!({ "token": token })), progress(&token, begin)];
        self.token = Some(token);
        all
    }

    /// Ends the progress.
    pub(crate) fn end(&mut self) -> Vec<ProgressMessage> {
        self.started = None;
        self.has_ended_once = true;
        let token = self.token.take();
        token.map(|token| progress(&token, json!({ "kind": "end" }))).into_iter().collect()
    }
}

fn progress(token: &str, value: Value) -> ProgressMessage {
    ProgressMessage::Progress(json!({ "token": token, "value": value }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_work_is_shown() {
        let start = Instant::now();
        let after = |millis| start + Duration::from_millis(millis);
        let mut progress = Progress::default();
        assert!(progress.show_if_long(after(900), 1).is_empty(), "nothing is done");
        progress.set_step("reading".to_owned(), start);
        assert!(progress.is_pending() && progress.show_if_long(after(299), 1).is_empty());
        assert_eq!(progress.show_if_long(after(301), 1).len(), 2);
        assert!(progress.show_if_long(after(302), 2).is_empty(), "it is shown once");
        assert_eq!(progress.set_step("following".to_owned(), after(400)).len(), 1);
        assert_eq!(progress.end().len(), 1);
        progress.set_step("following".to_owned(), after(1000));
        assert!(progress.show_if_long(after(1500), 3).is_empty(), "the second time less is shown");
        assert!(progress.end().is_empty());
    }
}
