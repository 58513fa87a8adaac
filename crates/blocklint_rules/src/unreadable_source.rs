//! BLT902 unreadable-source.

use std::time::Duration;

use blocklint_core::{RuleCode, UnreadFile};

use crate::Rule;

/// Reports files that were not analysed, or only in part. These findings are shown at every level, because a file
/// without findings looks clean; they never cause exit code 1.
pub static UNREADABLE_SOURCE: Rule = Rule {
    code: RuleCode::UNREADABLE_SOURCE,
    name: "unreadable-source",
    summary: "a source file was not read or analysed, or only in part",
    page: include_str!("../../../rules/BLT902-unreadable-source.md"),
    effect: None,
    noun: "unreadable source",
    mistake_words: None,
};

/// The reason why a file, or a part of it, was not analysed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// The file could not be read, or is longer than `max-file-size`.
    Whole(UnreadFile),
    /// A part of the file could not be decoded or parsed; the front end's message.
    InPart(String),
    /// Reading the file failed because of a bug in blocklint.
    Internal(String),
    /// A function was left out because its analysis panicked, which is a bug in blocklint.
    Failed {
        /// The function.
        function: String,
        /// The message and the location of the panic.
        reason: String,
    },
    /// A function was left out because its analysis took too long, which is a bug in blocklint.
    TookTooLong {
        /// The function.
        function: String,
        /// The time limit.
        limit: Duration,
    },
}

impl Unread {
    /// Returns the message of the finding.
    pub fn message(&self) -> String {
        match self {
            Unread::Whole(UnreadFile::Unreadable(reason)) => format!("not read: {reason}"),
            Unread::Whole(UnreadFile::TooLarge { size, limit }) => {
                format!("skipped: {} is more than `max-file-size` ({})", format_bytes(*size), format_bytes(*limit))
            }
            Unread::InPart(reason) => reason.clone(),
            Unread::Internal(reason) => format!("skipped: reading it failed inside blocklint: {reason}"),
            Unread::Failed { function, reason } => {
                format!("`{function}` was left out: analysing it failed inside blocklint: {reason}")
            }
            Unread::TookTooLong { function, limit } => {
                format!("`{function}` was left out: analysing it took longer than {} s", limit.as_secs_f64())
            }
        }
    }

    /// Returns advice for the user, if there is any.
    pub fn help(&self) -> Option<String> {
        match self {
            Unread::Whole(UnreadFile::TooLarge { .. }) => {
                Some("raise `max-file-size` under `[tool.blocklint]` if the file is not generated".to_owned())
            }
            Unread::Internal(_) | Unread::Failed { .. } | Unread::TookTooLong { .. } => {
                Some("please report it, with the file if you can".to_owned())
            }
            Unread::Whole(UnreadFile::Unreadable(_)) | Unread::InPart(_) => None,
        }
    }
}

/// Returns a size for people: whole kB below 1 MB, one decimal above.
fn format_bytes(count: u64) -> String {
    match count {
        0..1_000 => format!("{count} bytes"),
        1_000..1_000_000 => format!("{} kB", count / 1_000),
        _ if count.is_multiple_of(1_000_000) => format!("{} MB", count / 1_000_000),
        _ => format!("{:.1} MB", count as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use blocklint_core::UnreadFile;

    use super::Unread;

    #[test]
    fn a_skipped_file_reports_its_size_and_the_limit() {
        let unread = Unread::Whole(UnreadFile::TooLarge { size: 52_428_800, limit: 8_000_000 });
        assert_eq!(unread.message(), "skipped: 52.4 MB is more than `max-file-size` (8 MB)");
        assert!(unread.help().is_some());
    }
}
