//! The table of all configuration keys, with the text of their documentation, and the message about an unknown key.

/// A configuration key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// The type of its value, for the documentation.
    pub value: &'static str,
    /// The default value.
    pub default: &'static str,
    /// The description of its effect, in Markdown.
    pub says: &'static str,
    /// A line or table of configuration.
    pub example: &'static str,
    /// The option of `blocklint check` that overrides it.
    pub option: Option<&'static str>,
}

/// Every key, in the order of the reference.
pub const KEYS: [Key; 16] = [
    Key {
        name: "extend",
        value: "path",
        default: "none",
        says: "A file that is read first: its keys apply unless this file has them too. `extend-select`, `ignore` and \
               `extend-exclude` add to its values, `per-file-ignores` is merged by pattern, and `select` replaces its \
               list. The path is relative to the file that names it, and does not lead out of the repository (see \
               [what is read](#what-is-read)).",
        example: "extend = \"configs/blocklint.toml\"",
        option: None,
    },
    Key {
        name: "select",
        value: "list of rules",
        default: "`[\"ALL\"]`",
        says: "The rules whose findings are reported: codes (`BLT101`), prefixes (`BLT1`), names (`blocking-sleep`) or \
               `ALL`. The more specific entry wins over `ignore`, whichever list has it. BLT902 is reported unless \
               `ignore` names it, because a file that was not read must not look clean.",
        example: "select = [\"BLT1\"]",
        option: Some("--select"),
    },
    Key {
        name: "extend-select",
        value: "list of rules",
        default: "`[]`",
        says: "Rules that are reported besides those of `select`.",
        example: "extend-select = [\"BLT104\"]",
        option: Some("--extend-select"),
    },
    Key {
        name: "ignore",
        value: "list of rules",
        default: "`[]`",
        says: "Rules that are not reported. A call that is only ignored still blocks: use a comment at the cause, or a \
               model, if it does not block.",
        example: "ignore = [\"blocking-file\"]",
        option: Some("--ignore"),
    },
    Key {
        name: "per-file-ignores",
        value: "table from patterns to lists of rules",
        default: "`{}`",
        says: "Hides findings of these rules that *stand* in files matching the pattern. Calls in such files still block \
               callers elsewhere. A pattern is matched against the file's name and against its path \
               from the project root; `!` at its start means all files that do not match. SARIF lists what is hidden as \
               suppressed.",
        example: "[tool.blocklint.per-file-ignores]\n\"tests/**\" = [\"ALL\"]\n\"scripts/*.py\" = [\"BLT101\", \"BLT105\"]",
        option: None,
    },
    Key {
        name: "exclude",
        value: "list of patterns",
        default: "`[]`",
        says: "Files and folders that are not read at all, neither reported nor analysed: traces through them are not \
               found. A pattern without `/` matches names at any depth (`build`, `*_pb2.py`), another one paths from the \
               project root (`docs/examples`, `**/vendor/*.py`). A path given on the command line is read all the same, \
               unless `--force-exclude` is given. To read files without reporting them use `per-file-ignores`.",
        example: "exclude = [\"*_pb2.py\", \"docs/examples\"]",
        option: Some("--exclude"),
    },
    Key {
        name: "extend-exclude",
        value: "list of patterns",
        default: "`[]`",
        says: "Patterns besides those of `exclude`, which the command line's `--exclude` does not replace.",
        example: "extend-exclude = [\"migrations\"]",
        option: Some("--extend-exclude"),
    },
    Key {
        name: "min-severity",
        value: "`\"note\"`, `\"warning\"` or `\"error\"`",
        default: "`\"warning\"`",
        says: "How bad a finding must be to be reported.",
        example: "min-severity = \"error\"",
        option: Some("--min-severity"),
    },
    Key {
        name: "min-confidence",
        value: "`\"low\"`, `\"medium\"` or `\"high\"`",
        default: "`\"medium\"`",
        says: "How sure a finding must be to be reported.",
        example: "min-confidence = \"high\"",
        option: Some("--min-confidence"),
    },
    Key {
        name: "persona",
        value: "`\"regular\"`, `\"pedantic\"` or `\"auditor\"`",
        default: "`\"regular\"`",
        says: "How strict runs are, under one name: `pedantic` reports notes too, `auditor` all that was found, also what only tests, \
               examples and command lines reach. `min-severity` and `min-confidence` of the same file win over it; it wins over those \
               of files that this one extends.",
        example: "persona = \"pedantic\"",
        option: Some("--persona"),
    },
    Key {
        name: "severity",
        value: "table from kinds of work to severities",
        default: "`{}`",
        says: "How bad calls of a kind of work are, where that of blocklint is not yours: `\"note\"`, `\"warning\"` or `\"error\"`. \
               [The table of kinds](severity.md) names them; `blocklint rule --severity` shows it too. A row of a model that states \
               a severity of its own keeps it.",
        example: "[tool.blocklint.severity]\nfile-entry = \"warning\"\ndatabase-embedded = \"note\"",
        option: None,
    },
    Key {
        name: "models",
        value: "path or list of paths",
        default: "`[]`",
        says: "Model files, or folders of them, that say what your libraries do. Paths are relative to \
               the file that names them, and do not lead out of the repository.",
        example: "models = [\"blocking/\"]",
        option: None,
    },
    Key {
        name: "switches",
        value: "list of switches",
        default: "`[]`",
        says: "Facts about the project that neither code nor configuration of others shows, by the names that models give them \
               (`gevent`, `eventlet`, `psycogreen`). `!` before a name turns off what they seem to show.",
        example: "switches = [\"gevent\"]",
        option: None,
    },
    Key {
        name: "require-reason",
        value: "`true` or `false`",
        default: "`false`",
        says: "If true, a comment that suppresses findings must give a reason; a comment without one is a finding \
               ([BLT904](../rules/BLT904-unexplained-suppression.md)).",
        example: "require-reason = true",
        option: None,
    },
    Key {
        name: "baseline",
        value: "path",
        default: "`\"blocklint-baseline.json\"`",
        says: "The file of the [baseline](adoption.md#baseline), relative to the project root, in which it must lie.",
        example: "baseline = \"ci/blocklint-baseline.json\"",
        option: Some("--baseline"),
    },
    Key {
        name: "max-file-size",
        value: "bytes, or a size with a unit",
        default: "`\"8MB\"`",
        says: "Longer files are skipped, with a note (BLT902). A file that is read takes 20 to 70 times its size of memory, and up to 250 times \
               where hardly anything but punctuation is in it, so that more than 16 MB are read only where the command line names the configuration: `--config FILE`.",
        example: "max-file-size = \"2MB\"",
        option: None,
    },
];

/// Returns the message about an unknown key, with the keys that were probably meant.
pub fn unknown(name: &str) -> String {
    let near = probably_meant(&name.replace('_', "-").to_ascii_lowercase());
    if !near.is_empty() {
        return format!("unknown key `{name}`; did you mean {}?", quote_names(&near, "or"));
    }
    format!("unknown key `{name}`; known are {}", quote_names(&KEYS.map(|key| key.name), "and"))
}

/// Returns the keys that a word may mean: it is a part of the key (`min-sev`, `severity`), or a misspelling of it.
fn probably_meant(typed: &str) -> Vec<&'static str> {
    // By its letters, `extend-ignore` is nearer to `extend-select`, but its effect is that of `ignore`.
    if typed == "extend-ignore" {
        return vec!["ignore"];
    }
    let names = KEYS.iter().map(|key| key.name);
    let distance = |known: &str| strsim::damerau_levenshtein(typed, known);
    if let Some(known) = names.clone().min_by_key(|known| distance(known))
        && (distance(known) <= known.len().div_ceil(3).min(typed.len() / 2) || typed.ends_with(known))
    {
        return vec![known];
    }
    // Each typed word begins a word of the key, in order: `min-sev`, `sev`.
    let words: Vec<&str> = typed.split('-').collect();
    let is_part = |known: &&str| {
        let mut words_of_key = known.split('-');
        words.iter().all(|word| word.len() > 2 && words_of_key.any(|words_of_key| words_of_key.starts_with(word)))
    };
    names.filter(is_part).collect()
}

fn quote_names(names: &[&str], before_last: &str) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} {before_last} {last}", rest.join(", ")),
        _ => quoted.join(""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_keys_suggest_known_ones() {
        let meant = |typed: &str, said: &str| {
            assert_eq!(unknown(typed), format!("unknown key `{typed}`; did you mean {said}?"), "{typed}");
        };
        meant("min-sev", "`min-severity`");
        meant("min_conf", "`min-confidence`");
        meant("max-size", "`max-file-size`");
        meant("min", "`min-severity` or `min-confidence`");
        meant("slect", "`select`");
        meant("minseverity", "`min-severity`");
        meant("extend-ignore", "`ignore`");
        for nothing in ["colour", "line-length", "x", "target-version"] {
            assert!(unknown(nothing).contains("; known are `"), "{}", unknown(nothing));
        }
    }
}
