//! Kinds of work (`WorkKind`): a finer division than effects, by the time for which a call of a kind usually holds its
//! thread.

use crate::Effect;

crate::words! {
    /// The kind of work that a call does, within its effect.
    WorkKind {
        /// One entry of a folder, or its metadata: `stat`, `mkdir`, `unlink`, `rename`.
        Entry = "entry",
        /// One whole file, read or written by one call.
        Whole = "whole",
        /// Opening a file.
        Open = "open",
        /// Reading, writing or syncing an open file piece by piece.
        Stream = "stream",
        /// Listing a folder, or a tree of folders.
        Walk = "walk",
        /// Copying or deleting whole files or trees.
        Copy = "copy",
        /// Packing or unpacking archives.
        Archive = "archive",
        /// Waiting for changes of files.
        Watch = "watch",
        /// Writing a log record.
        Log = "log",
        /// Loading the certificates of a TLS context.
        Certificates = "certificates",
        /// Importing code.
        Import = "import",
        /// Using a database inside of the process, on a local file or in memory.
        Embedded = "embedded",
        /// Using a database server by its driver.
        Server = "server",
        /// Using an object mapper over some driver.
        Orm = "orm",
        /// Waiting for a connection of a pool, or creating a pool.
        Pool = "pool",
        /// Sending a request and waiting for its response.
        Request = "request",
        /// Opening a connection, with its handshake and login, or closing it.
        Connect = "connect",
        /// Resolving a name.
        Resolve = "resolve",
        /// Sending without waiting for a response.
        Send = "send",
        /// Waiting for bytes, a message or a client.
        Receive = "receive",
        /// Binding a socket.
        Listen = "listen",
        /// Running the loop of a server or client until it ends.
        Serve = "serve",
        /// Using a local device or bus: serial ports, USB, audio.
        Device = "device",
        /// Password hashes and new keys, which are slow by design.
        Hash = "hash",
        /// Digests, signatures and encryption of data.
        Digest = "digest",
        /// Pictures, sound, video, plots.
        Image = "image",
        /// Templates, markup, regular expressions, natural language.
        Text = "text",
        /// Parsing or writing a data format: JSON, YAML, XML, CSV.
        Parse = "parse",
        /// Compression.
        Compress = "compress",
        /// Tables and arrays in memory.
        Table = "table",
        /// Machine-learning models, and solvers.
        Model = "model",
        /// Another long calculation.
        Calculation = "calculation",
        /// Waiting for a lock.
        Lock = "lock",
        /// Waiting for a queue or channel.
        Queue = "queue",
        /// Waiting for the result of a task in another thread.
        Future = "future",
        /// Waiting for the end of a thread or pool.
        Join = "join",
        /// Waiting for an event, a condition or a barrier.
        Event = "event",
        /// Waiting for the end of a process.
        Process = "process",
        /// Starting a process without waiting for its end.
        Start = "start",
        /// Running a process to its end.
        Run = "run",
    }
}

impl WorkKind {
    /// Returns the kinds into which an effect is divided; empty for an effect that is not divided.
    pub fn of_effect(effect: Effect) -> &'static [WorkKind] {
        use WorkKind::*;
        match effect {
            Effect::File => &[Entry, Whole, Open, Stream, Walk, Copy, Archive, Watch, Log, Certificates, Import],
            Effect::Database => &[Embedded, Server, Orm, Pool],
            Effect::Network => &[Request, Connect, Resolve, Send, Receive, Listen, Serve, Device],
            Effect::Cpu => {
                &[Hash, Digest, Image, Text, Parse, Compress, Table, Model, Import, Certificates, Calculation]
            }
            Effect::Wait => &[Lock, Queue, Future, Join, Event, Pool, Process],
            Effect::Subprocess => &[Start, Run],
            Effect::Sleep | Effect::NestedLoop | Effect::Input => &[],
        }
    }
}

/// The work of a call: its effect and, if its row states one, the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Work {
    /// The kind of operation for which the call holds its thread.
    pub effect: Effect,
    /// The kind within the effect; `None` if the row states none or the effect is not divided.
    pub kind: Option<WorkKind>,
}

impl Work {
    /// Returns every work: for each effect the one without a kind, then those of its kinds.
    pub fn all() -> impl Iterator<Item = Work> {
        Effect::ALL.iter().flat_map(|&effect| {
            let kinds = WorkKind::of_effect(effect).iter().map(|&kind| Some(kind));
            std::iter::once(None).chain(kinds).map(move |kind| Work { effect, kind })
        })
    }

    /// Returns the name in the table of severities and in configuration: `file-entry`, or `sleep` without a kind.
    pub fn name(self) -> String {
        match self.kind {
            Some(kind) => format!("{}-{}", self.effect, kind),
            None => self.effect.to_string(),
        }
    }

    /// Returns the work with this name.
    pub fn parse(name: &str) -> Option<Work> {
        if let Some(effect) = Effect::parse(name) {
            return Some(Work { effect, kind: None });
        }
        let (effect, kind) = name.split_once('-')?;
        let (effect, kind) = (Effect::parse(effect)?, WorkKind::parse(kind)?);
        WorkKind::of_effect(effect).contains(&kind).then_some(Work { effect, kind: Some(kind) })
    }
}

/// The weight of a call by the kind of its work.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Weight {
    /// The kind of work that the call does.
    pub work: Work,
    /// The usual time for which one call holds its thread, if it is known.
    pub duration: Option<CallDuration>,
    /// The rank among findings of one severity: findings with more points come first.
    pub points: u32,
}

/// The order of magnitude of the time for which one call holds its thread.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, serde::Serialize, serde::Deserialize)]
pub struct CallDuration {
    /// Milliseconds for one call, or for one megabyte.
    pub millis: f64,
    /// True if the time grows with the size of the data; `millis` is then the time for one megabyte.
    pub per_megabyte: bool,
}

impl CallDuration {
    /// Examples of the written forms, for messages.
    pub const EXPECTED_FORMS: &'static str = r#""0.1 ms", "2 s" or "40 ms per MB""#;

    /// Parses a written form.
    pub fn parse(text: &str) -> Option<CallDuration> {
        let (time, per_megabyte) = match text.strip_suffix(" per MB") {
            Some(time) => (time, true),
            None => (text, false),
        };
        let (number, unit) = time.split_once(' ')?;
        let number: f64 = number.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0)?;
        let millis = match unit {
            "ms" => number,
            "s" => number * 1000.0,
            _ => return None,
        };
        Some(CallDuration { millis, per_megabyte })
    }
}

impl std::fmt::Display for CallDuration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.millis < 1000.0 {
            write!(f, "{} ms", self.millis)?;
        } else {
            write!(f, "{} s", self.millis / 1000.0)?;
        }
        f.write_str(if self.per_megabyte { " per MB" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_parsed_and_written() {
        for text in ["0.1 ms", "35 ms", "2 s", "40 ms per MB"] {
            assert_eq!(CallDuration::parse(text).map(|duration| duration.to_string()).as_deref(), Some(text));
        }
        for text in ["", "35", "35ms", "-1 ms", "0 ms", "nan ms", "1 min", "1 ms per GB"] {
            assert_eq!(CallDuration::parse(text), None, "{text}");
        }
    }

    #[test]
    fn names_are_parsed_and_differ() {
        let works: Vec<Work> = Work::all().collect();
        for work in &works {
            assert_eq!(Work::parse(&work.name()), Some(*work));
        }
        let mut names: Vec<String> = works.iter().map(|work| work.name()).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), works.len());
    }

    #[test]
    fn every_kind_belongs_to_an_effect() {
        for kind in WorkKind::ALL {
            assert!(Effect::ALL.iter().any(|&effect| WorkKind::of_effect(effect).contains(kind)), "{kind}");
        }
    }
}
