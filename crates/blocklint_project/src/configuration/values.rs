//! Parses the values of configuration keys: lists of rules and patterns, sizes, words, flags.

use std::collections::BTreeMap;
use std::ops::Range;

use blocklint_core::{Confidence, Severity, Work};
use toml::de::DeValue;

use super::reader::Reader;
use super::{PerFileIgnore, Persona, Setting};
use crate::pattern::check_pattern;

/// The greatest `max-file-size`, because offsets in a file have 32 bits.
const MAX_FILE_SIZE: u64 = u32::MAX as u64;

/// The greatest number of rules in a list.
const MAX_RULES: usize = 1_000;
/// The greatest number of patterns in a table or list. As many are matched with all files of a large project within a
/// second.
pub(super) const MAX_PATTERNS: usize = 1_000;
/// The greatest `max-file-size` in a configuration file of a repository, in bytes. A source file of this size needs up
/// to 1 GB of memory in Rust, 0.5 GB in Java and 0.3 GB in Python.
pub(super) const MAX_SIZE_IN_REPOSITORY: u64 = 16_000_000;

impl Reader<'_> {
    /// Returns the strings of a list, each with its span; other elements are errors. `noun` is the name of an element
    /// in messages, `max_length` the greatest length of the list.
    pub(super) fn strings(
        &mut self,
        key: &'static str,
        (noun, max_length): (&str, usize),
        value: &DeValue<'_>,
        span: &Range<usize>,
    ) -> Vec<(Setting, Range<usize>)> {
        let Some(entries) = value.as_array() else {
            self.error(span, key, format!("expected a list of {noun}s, found {}", with_article(value)));
            return Vec::new();
        };
        if entries.len() > max_length {
            self.error(span, key, format!("{} {noun}s are more than the {max_length} that are read", entries.len()));
            return Vec::new();
        }
        let mut settings = Vec::new();
        for entry in entries.iter() {
            match entry.get_ref() {
                DeValue::String(text) => {
                    let line = self.line(entry.span().start);
                    let file = std::sync::Arc::clone(&self.file);
                    settings.push((Setting { value: text.to_string(), key, file, line }, entry.span()));
                }
                other => self.error(&entry.span(), key, format!("expected a {noun}, found {}", with_article(other))),
            }
        }
        settings
    }

    /// Returns the names of rules or switches in a list, as they are written. Unknown names are reported later, because
    /// this crate has no list of rules.
    pub(super) fn rule_names(&mut self, key: &'static str, value: &DeValue<'_>, span: &Range<usize>) -> Vec<Setting> {
        self.strings(key, ("rule", MAX_RULES), value, span).into_iter().map(|(rule, _)| rule).collect()
    }

    pub(super) fn patterns(&mut self, key: &'static str, value: &DeValue<'_>, span: &Range<usize>) -> Vec<String> {
        let mut patterns = Vec::new();
        for (pattern, span) in self.strings(key, ("pattern", MAX_PATTERNS), value, span) {
            match check_pattern(&pattern.value) {
                Ok(()) => patterns.push(pattern.value),
                Err(message) => self.error(&span, key, message),
            }
        }
        patterns
    }

    pub(super) fn per_file_ignores(
        &mut self,
        key: &'static str,
        value: &DeValue<'_>,
        span: &Range<usize>,
    ) -> Vec<PerFileIgnore> {
        let Some(table) = value.as_table() else {
            self.error(
                span,
                key,
                format!("expected a table from patterns to lists of rules, found {}", with_article(value)),
            );
            return Vec::new();
        };
        if table.len() > MAX_PATTERNS {
            let message = format!("{} patterns are more than the {MAX_PATTERNS} that are read", table.len());
            self.error(span, key, message);
            return Vec::new();
        }
        let mut entries = table.iter().collect::<Vec<_>>();
        entries.sort_by_key(|(pattern, _)| pattern.span().start);
        let mut ignores = Vec::new();
        for (pattern, rules) in entries {
            let name = pattern.get_ref().as_ref();
            if let Err(message) = check_pattern(name.strip_prefix('!').unwrap_or(name)) {
                self.error(&pattern.span(), key, message);
            }
            let rules = self.rule_names(key, rules.get_ref(), &rules.span());
            ignores.push(PerFileIgnore { pattern: name.to_owned(), rules });
        }
        ignores
    }

    pub(super) fn flag(&mut self, key: &str, value: &DeValue<'_>, span: &Range<usize>) -> bool {
        value.as_bool().unwrap_or_else(|| {
            self.error(span, key, format!("expected `true` or `false`, found {}", with_article(value)));
            false
        })
    }

    pub(super) fn severity(&mut self, key: &str, value: &DeValue<'_>, span: &Range<usize>) -> Option<Severity> {
        self.parse_word(
            key,
            value,
            span,
            Severity::parse,
            &Severity::ALL.iter().map(|s| s.as_str()).collect::<Vec<_>>(),
        )
    }

    /// Reads the table from kinds of work to severities.
    pub(super) fn severities(
        &mut self,
        key: &'static str,
        value: &DeValue<'_>,
        span: &Range<usize>,
    ) -> BTreeMap<String, Severity> {
        let mut severities = BTreeMap::new();
        let Some(table) = value.as_table() else {
            let message = format!(
                "expected a table from kinds of work to severities, found {}; `min-severity` sets the level of shown \
                 findings",
                with_article(value)
            );
            self.error(span, key, message);
            return severities;
        };
        let mut entries = table.iter().collect::<Vec<_>>();
        entries.sort_by_key(|(kind, _)| kind.span().start);
        let known: Vec<String> = Work::all().map(Work::name).collect();
        for (kind, severity) in entries {
            let name = kind.get_ref().as_ref();
            if Work::parse(name).is_none() {
                let near = known.iter().min_by_key(|known| strsim::damerau_levenshtein(name, known));
                let near = near.filter(|known| strsim::damerau_levenshtein(name, known) <= 3);
                let suggestion = match near {
                    Some(near) => format!("; did you mean `{near}`?"),
                    None => "; `blocklint rule --severity` lists the kinds".to_owned(),
                };
                self.error(&kind.span(), key, format!("`{name}` is not a kind of work{suggestion}"));
            }
            if let Some(severity) = self.severity(key, severity.get_ref(), &severity.span()) {
                severities.insert(name.to_owned(), severity);
            }
        }
        severities
    }

    pub(super) fn confidence(&mut self, key: &str, value: &DeValue<'_>, span: &Range<usize>) -> Option<Confidence> {
        self.parse_word(
            key,
            value,
            span,
            Confidence::parse,
            &Confidence::ALL.iter().map(|c| c.as_str()).collect::<Vec<_>>(),
        )
    }

    pub(super) fn persona(&mut self, key: &str, value: &DeValue<'_>, span: &Range<usize>) -> Option<Persona> {
        self.parse_word(key, value, span, Persona::parse, &Persona::ALL.map(Persona::as_str))
    }

    /// Parses a word of a fixed set; an error suggests the nearest one.
    fn parse_word<T>(
        &mut self,
        key: &str,
        value: &DeValue<'_>,
        span: &Range<usize>,
        parse: fn(&str) -> Option<T>,
        known: &[&str],
    ) -> Option<T> {
        let words = known.iter().map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>().join(", ");
        match value.as_str() {
            Some(text) => {
                let parsed = parse(text);
                if parsed.is_none() {
                    let near = known.iter().min_by_key(|known| strsim::damerau_levenshtein(text, known));
                    let near = near.filter(|known| strsim::damerau_levenshtein(&text.to_lowercase(), known) <= 2);
                    let suggestion = near.map_or(String::new(), |near| format!("; did you mean `\"{near}\"`?"));
                    self.error(span, key, format!("`\"{text}\"` is none of {words}{suggestion}"));
                }
                parsed
            }
            None => {
                self.error(span, key, format!("expected one of {words}, found {}", with_article(value)));
                None
            }
        }
    }
}

/// Parses a size in bytes: a number, or a text with a unit (`"8MB"`, `"512 KiB"`).
pub(super) fn file_size(value: &DeValue<'_>) -> Result<u64, String> {
    let size = match value {
        DeValue::Integer(number) => {
            i64::from_str_radix(number.as_str(), number.radix()).ok().and_then(|n| n.try_into().ok())
        }
        DeValue::String(text) => parse_size(text),
        other => {
            return Err(format!("expected bytes (`8000000`) or a size (`\"8MB\"`), found {}", with_article(other)));
        }
    };
    match size {
        Some(size) if (1..=MAX_FILE_SIZE).contains(&size) => Ok(size),
        Some(_) => Err(format!("expected between 1 and {MAX_FILE_SIZE} bytes")),
        None => Err("expected bytes (`8000000`) or a size (`\"8MB\"`)".to_owned()),
    }
}

fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1_000,
        "m" | "mb" => 1_000_000,
        "g" | "gb" => 1_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        _ => return None,
    };
    number.replace('_', "").parse::<u64>().ok()?.checked_mul(unit)
}

/// Returns the type of a value with its article: `an integer`.
pub(super) fn with_article(value: &DeValue<'_>) -> String {
    let kind = value.type_str();
    let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {kind}")
}
