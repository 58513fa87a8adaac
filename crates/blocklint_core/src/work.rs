//! Kinds of work: a finer division than effects, by how long a call of that kind usually holds its thread.

use crate::Effect;

crate::words! {
    /// The kind of work that a call does, within its effect.
    WorkKind {
        /// One entry of a folder, or its metadata: `stat`, `mkdir`, `unlink`, `rename`.
        Entry = "entry",
        /// One whole file, read or written by one call.
        Whole = "whole",
        /// A file is opened.
        Open = "open",
        /// An open file is read, written or synced piece by piece.
        Stream = "stream",
        /// A folder is listed, or a tree of them.
        Walk = "walk",
        /// Whole files or trees are copied or deleted.
        Copy = "copy",
        /// Archives are packed or unpacked.
        Archive = "archive",
        /// A wait for changes of files.
        Watch = "watch",
        /// A log record is written.
        Log = "log",
        /// The certificates of a TLS context are loaded.
        Certificates = "certificates",
        /// Code is imported.
        Import = "import",
        /// A database inside of the process, on a local file or in memory.
        Embedded = "embedded",
        /// A database server, by its driver.
        Server = "server",
        /// An object mapper over some driver.
        Orm = "orm",
        /// A place in a pool, or a pool that is made.
        Pool = "pool",
        /// A request with its answer.
        Request = "request",
        /// A connection is made, with its handshake and login, or ended.
        Connect = "connect",
        /// A name is resolved.
        Resolve = "resolve",
        /// Something is sent without an answer.
        Send = "send",
        /// A wait for bytes, a message or a client.
        Receive = "receive",
        /// A socket is bound.
        Listen = "listen",
        /// A server or a client's loop runs until it ends.
        Serve = "serve",
        /// A local device or bus: serial ports, USB, audio.
        Device = "device",
        /// Password hashes and new keys, which are made to take long.
        Hash = "hash",
        /// Digests, signatures and encryption of data.
        Digest = "digest",
        /// Pictures, sound, video, plots.
        Image = "image",
        /// Templates, markup, regular expressions, natural language.
        Text = "text",
        /// Data formats, read or written: JSON, YAML, XML, CSV.
        Parse = "parse",
        /// Compression.
        Compress = "compress",
        /// Tables and arrays in memory.
        Table = "table",
        /// Models of machine learning, and solvers.
        Model = "model",
        /// Another long calculation.
        Calculation = "calculation",
        /// A lock.
        Lock = "lock",
        /// A queue or channel.
        Queue = "queue",
        /// The result of a task in another thread.
        Future = "future",
        /// The end of a thread or pool.
        Join = "join",
        /// An event, a condition, a barrier.
        Event = "event",
        /// The end of a process.
        Process = "process",
        /// A process is started, and its end is not awaited.
        Start = "start",
        /// A process runs to its end.
        Run = "run",
    }
}

impl WorkKind {
    /// Returns the kinds into which an effect is divided; none for effects that are of one kind.
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

/// The work of a call: its effect and, if its row tells it, the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Work {
    /// How it holds its thread.
    pub effect: Effect,
    /// The kind within the effect; none if the row does not tell or the effect is of one kind.
    pub kind: Option<WorkKind>,
}

impl Work {
    /// Returns all kinds of work, each effect without a kind first.
    pub fn all() -> impl Iterator<Item = Work> {
        Effect::ALL.iter().flat_map(|&effect| {
            let kinds = WorkKind::of_effect(effect).iter().map(|&kind| Some(kind));
            std::iter::once(None).chain(kinds).map(move |kind| Work { effect, kind })
        })
    }

    /// Returns the name by which the table of severities and users know it: `file-entry`, or `sleep` without a kind.
    pub fn name(self) -> String {
        match self.kind {
            Some(kind) => format!("{}-{}", self.effect, kind),
            None => self.effect.to_string(),
        }
    }

    /// Returns the work of this name.
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
    /// The time for which one call holds its thread, where it is known.
    pub takes: Option<Takes>,
    /// The rank among findings of one severity: findings with more points come first.
    pub points: u32,
}

/// The order of magnitude of the time for which one call holds its thread.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, serde::Serialize, serde::Deserialize)]
pub struct Takes {
    /// Milliseconds of one call, or of one megabyte.
    pub millis: f64,
    /// True if the time grows with the size of the data, and `millis` is the time of one megabyte.
    pub per_megabyte: bool,
}

impl Takes {
    /// The written forms, for messages.
    pub const FORMS: &'static str = r#""0.1 ms", "2 s" or "40 ms per MB""#;

    /// Reads a written form.
    pub fn parse(text: &str) -> Option<Takes> {
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
        Some(Takes { millis, per_megabyte })
    }
}

impl std::fmt::Display for Takes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.millis < 1000.0 {
            true => write!(f, "{} ms", self.millis)?,
            false => write!(f, "{} s", self.millis / 1000.0)?,
        }
        f.write_str(if self.per_megabyte { " per MB" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_and_written() {
        for text in ["0.1 ms", "35 ms", "2 s", "40 ms per MB"] {
            assert_eq!(Takes::parse(text).map(|takes| takes.to_string()).as_deref(), Some(text));
        }
        for text in ["", "35", "35ms", "-1 ms", "0 ms", "nan ms", "1 min", "1 ms per GB"] {
            assert_eq!(Takes::parse(text), None, "{text}");
        }
    }

    #[test]
    fn names_are_read_back_and_differ() {
        let all: Vec<Work> = Work::all().collect();
        for work in &all {
            assert_eq!(Work::parse(&work.name()), Some(*work));
        }
        let mut names: Vec<String> = all.iter().map(|work| work.name()).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all.len());
    }

    #[test]
    fn every_kind_belongs_to_an_effect() {
        for kind in WorkKind::ALL {
            assert!(Effect::ALL.iter().any(|&effect| WorkKind::of_effect(effect).contains(kind)), "{kind}");
        }
    }
}
