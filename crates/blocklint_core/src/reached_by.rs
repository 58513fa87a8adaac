//! The entry points that reach a finding (`ReachedBy`): their kinds, with one example of each kind.

use crate::Place;

crate::words! {
    /// The kind of an entry point: the event that makes code run.
    EntryKind {
        /// A request, a remote call, or a connection of a client.
        Request = "request",
        /// A message, an event or a signal.
        Message = "message",
        /// A timer, an interval or a schedule.
        Tick = "tick",
        /// A task that runs concurrently with other tasks.
        Task = "task",
        /// The start of the program.
        Start = "start",
        /// The end of the program.
        Stop = "stop",
        /// A reload of the configuration.
        Reload = "reload",
        /// A command that a person gives.
        Command = "command",
        /// A test.
        Test = "test",
        /// Nothing: the project neither calls nor registers the function at the top of the path.
        None = "none",
        /// Unknown: other projects, or code that was not analysed, may call the function at the top of the path.
        Unknown = "unknown",
    }
}

/// One kind of entry points that reach a finding, with the nearest of them.
#[derive(Clone, Debug, PartialEq)]
pub struct ReachedBy {
    /// The kind.
    pub kind: EntryKind,
    /// The qualified name of the entry's function.
    pub entry: String,
    /// The method and the path of a route, where the registration shows them: `GET /users/{id}`.
    pub route: Option<String>,
    /// The definition of the function, or the call of it at the top level of a file.
    pub place: Place,
}

impl ReachedBy {
    /// Returns the entry in words: `request (GET /users/{id} in app.py:12)`. The place must be located.
    pub fn to_words(&self) -> String {
        let name = self.route.as_deref().unwrap_or_else(|| crate::body_name(&self.entry));
        let file = self.place.path.file_name().unwrap_or(self.place.path.as_str());
        format!("{} ({name} in {file}:{})", self.kind, self.place.start.row)
    }
}
