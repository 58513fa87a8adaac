//! Which rules are chosen.

use std::fmt;

use blocklint_core::RuleCode;

use crate::{RULES, Rule, UNREADABLE_SOURCE};

/// The rules whose findings are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    chosen: Vec<RuleCode>,
}

/// A selector that means no rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectorError {
    /// What was written.
    pub selector: String,
    /// What was probably meant.
    pub suggestion: Option<String>,
}

impl fmt::Display for SelectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown rule `{}`", self.selector)?;
        match &self.suggestion {
            Some(suggestion) => write!(f, "; did you mean `{suggestion}`?"),
            None => write!(f, "; expected a code (`BLT101`), a prefix (`BLT1`), a name (`blocking-sleep`) or `ALL`"),
        }
    }
}

impl std::error::Error for SelectorError {}

impl Selection {
    /// Every rule.
    pub fn all() -> Self {
        Selection { chosen: RULES.iter().map(|rule| rule.code).collect() }
    }

    /// The rules of `select` (empty: all) and `extend_select` without those of `ignore`. The more
    /// specific selector wins, whichever list it stands in, and `ignore` among equals: `--ignore BLT1
    /// --select BLT101` leaves BLT101. BLT902 is left out only where `ignore` says so, for a file
    /// that was not read must not look clean.
    ///
    /// # Errors
    ///
    /// Every selector that means no rule, with a suggestion.
    pub fn new(select: &[String], extend_select: &[String], ignore: &[String]) -> Result<Self, Vec<SelectorError>> {
        let mut errors = Vec::new();
        let mut parse = |list: &[String]| {
            let parsed = list.iter().map(|text| Selector::parse(text.trim()));
            parsed.filter_map(|selector| selector.map_err(|error| errors.push(error)).ok()).collect::<Vec<_>>()
        };
        let mut wanted = parse(select);
        if wanted.is_empty() {
            wanted.push(Selector::Prefix(String::new()));
        }
        wanted.extend(parse(extend_select));
        let unwanted = parse(ignore);
        if !errors.is_empty() {
            return Err(errors);
        }
        let weight = |list: &[Selector], rule: &Rule| list.iter().filter_map(|selector| selector.weight(rule)).max();
        let chosen = RULES.iter().filter(|rule| {
            let wanted = weight(&wanted, rule).or((rule.code == UNREADABLE_SOURCE.code).then_some(0));
            // `None` is less than any weight: neither wanted nor unwanted leaves a rule out.
            wanted > weight(&unwanted, rule)
        });
        Ok(Selection { chosen: chosen.map(|rule| rule.code).collect() })
    }

    /// Whether findings of this rule are shown.
    pub fn contains(&self, code: RuleCode) -> bool {
        self.chosen.contains(&code)
    }

    /// The chosen rules, by code.
    pub fn codes(&self) -> &[RuleCode] {
        &self.chosen
    }
}

/// One element of `--select` and its kin.
enum Selector {
    /// All rules whose code begins so; empty for `ALL`.
    Prefix(String),
    /// One rule.
    Rule(RuleCode),
}

impl Selector {
    fn parse(text: &str) -> Result<Self, SelectorError> {
        if text.eq_ignore_ascii_case("ALL") {
            return Ok(Selector::Prefix(String::new()));
        }
        if let Some(rule) = crate::rule_named(text) {
            return Ok(Selector::Rule(rule.code));
        }
        let prefix = text.to_ascii_uppercase();
        let known = |prefix: &str| RULES.iter().any(|rule| rule.code.to_string().starts_with(prefix));
        if prefix.starts_with('B') && known(&prefix) {
            return Ok(Selector::Prefix(prefix));
        }
        Err(SelectorError { selector: text.to_owned(), suggestion: nearest(text) })
    }

    /// How specific the selector is for a rule it means: the length of the code it names.
    fn weight(&self, rule: &Rule) -> Option<usize> {
        match self {
            Selector::Prefix(prefix) => rule.code.to_string().starts_with(prefix.as_str()).then_some(prefix.len()),
            Selector::Rule(code) => (rule.code == *code).then_some(usize::MAX),
        }
    }
}

/// The code or name of a rule nearest to a misspelt one; nothing where none is near.
pub fn nearest(text: &str) -> Option<String> {
    let codes = RULES.iter().map(|rule| rule.code.to_string());
    let names = RULES.iter().map(|rule| rule.name.to_owned());
    let typed = text.to_ascii_lowercase();
    let near = codes.chain(names).map(|known| {
        let distance = strsim::damerau_levenshtein(&typed, &known.to_ascii_lowercase());
        (distance, known)
    });
    near.filter(|(distance, known)| *distance <= known.len().div_ceil(4))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(select: &[&str], extend: &[&str], ignore: &[&str]) -> String {
        let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let selection = match Selection::new(&owned(select), &owned(extend), &owned(ignore)) {
            Ok(selection) => selection,
            Err(errors) => return errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
        };
        selection.codes().iter().map(|code| code.0.to_string()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn codes_prefixes_names_and_all() {
        assert_eq!(chosen(&[], &[], &[]), "101 102 103 104 105 106 107 108 109 403 601 902");
        assert_eq!(chosen(&["all"], &[], &["BLT10"]), "403 601 902");
        assert_eq!(chosen(&["BLT101", "blocking-file"], &[], &[]), "101 104 902");
        assert_eq!(chosen(&["blt1"], &[], &["blocking-sleep"]), "102 103 104 105 106 107 108 109 902");
        assert_eq!(chosen(&["BLT101"], &["BLT103"], &[]), "101 103 902");
    }

    #[test]
    fn the_more_specific_selector_wins_and_ignore_among_equals() {
        assert_eq!(chosen(&["BLT101"], &[], &["BLT1"]), "101 902");
        assert_eq!(chosen(&["BLT1"], &[], &["BLT1"]), "902");
    }

    #[test]
    fn a_file_that_was_not_read_is_told_unless_ignored() {
        assert_eq!(chosen(&["BLT101"], &[], &["BLT902"]), "101");
        assert_eq!(chosen(&["BLT101"], &[], &["BLT9"]), "101");
    }

    #[test]
    fn a_selector_that_means_nothing_is_an_error_with_a_suggestion() {
        assert_eq!(chosen(&["BTL101"], &[], &[]), "unknown rule `BTL101`; did you mean `BLT101`?");
        assert_eq!(
            chosen(&[], &[], &["blocking-slep"]),
            "unknown rule `blocking-slep`; did you mean `blocking-sleep`?"
        );
        assert!(chosen(&["X"], &["BLT7"], &[]).lines().count() == 2, "all of them are told");
        assert!(chosen(&[""], &[], &[]).starts_with("unknown rule ``"));
    }
}
