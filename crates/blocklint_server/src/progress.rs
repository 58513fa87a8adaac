//! Progress of long work, for clients that show it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// After which time the first analysis of a folder is shown as work.
const FIRST: Duration = Duration::from_millis(300);
/// After which time a later one is: most end before.
const LATER: Duration = Duration::from_secs(1);

/// The work of one folder, as the client sees it.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    since: Option<Instant>,
    at: String,
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
    /// Work goes on with this.
    pub(crate) fn works(&mut self, at: String, now: Instant) -> Vec<ProgressMessage> {
        self.since.get_or_insert(now);
        self.at = at;
        match &self.token {
            Some(token) => vec![progress(token, json!({ "kind": "report", "message": self.at }))],
            None => Vec::new(),
        }
    }

    /// True if it may soon be time to show the work.
    pub(crate) fn is_awaited(&self) -> bool {
        self.since.is_some() && self.token.is_none()
    }

    /// Begins to show work that takes long; `number` tells this piece of work from all others.
    pub(crate) fn tick(&mut self, now: Instant, number: i32) -> Vec<ProgressMessage> {
        let bound = if self.has_ended_once { LATER } else { FIRST };
        let is_long = self.since.is_some_and(|since| now.duration_since(since) >= bound);
        if !is_long || self.token.is_some() {
            return Vec::new();
        }
        let token = format!("blocklint/{number}");
        let begin = json!({ "kind": "begin", "title": "blocklint", "message": self.at, "cancellable": false });
        let all = vec![ProgressMessage::Create(json!({ "token": token })), progress(&token, begin)];
        self.token = Some(token);
        all
    }

    /// The work has ended.
    pub(crate) fn ends(&mut self) -> Vec<ProgressMessage> {
        self.since = None;
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
        assert!(progress.tick(after(900), 1).is_empty(), "nothing is done");
        progress.works("reading".to_owned(), start);
        assert!(progress.is_awaited() && progress.tick(after(299), 1).is_empty());
        assert_eq!(progress.tick(after(301), 1).len(), 2);
        assert!(progress.tick(after(302), 2).is_empty(), "it is shown once");
        assert_eq!(progress.works("following".to_owned(), after(400)).len(), 1);
        assert_eq!(progress.ends().len(), 1);
        progress.works("following".to_owned(), after(1000));
        assert!(progress.tick(after(1500), 3).is_empty(), "the second time less is shown");
        assert!(progress.ends().is_empty());
    }
}
