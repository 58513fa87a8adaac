//! The selection of rules by `--select`, `--extend-select` and `--ignore`, and by the same keys of the configuration.

use std::fmt;

use blocklint_core::RuleCode;

use crate::{RULES, Rule, UNREADABLE_SOURCE};

/// The rules whose findings are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    chosen: Vec<RuleCode>,
}

/// The error of a selector that refers to no rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectorError {
    /// The selector as written.
    pub selector: String,
    /// The selector that was probably meant.
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
    /// Returns the selection of all rules.
    pub fn all() -> Self {
        Selection { chosen: RULES.iter().map(|rule| rule.code).collect() }
    }

    /// Returns the rules of `select` (empty: all) and `extend_select` without those of `ignore`. The more specific
    /// selector wins, whichever list contains it, and `ignore` wins among equals: `--ignore BLT1 --select BLT101`
    /// selects BLT101. Only `ignore` removes BLT902, because a file that was not read must not look clean.
    ///
    /// # Errors
    ///
    /// Returns every selector that refers to no rule, with a suggestion.
    pub fn new(select: &[String], extend_select: &[String], ignore: &[String]) -> Result<Self, Vec<SelectorError>> {
        let mut errors = Vec::new();
        let mut parse = |list: &[String]| {
            let parsed = list.iter().map(|text| Selector::parse(text));
            parsed.filter_map(|selector| selector.map_err(|error| errors.push(error)).ok()).collect::<Vec<_>>()
        };
        let layer = Layer {
            select: (!select.is_empty()).then(|| parse(select)),
            extend_select: parse(extend_select),
            ignore: parse(ignore),
        };
        if errors.is_empty() { Ok(Self::layered(&[layer])) } else { Err(errors) }
    }

    /// Returns the selection that all layers make in turn, beginning with all rules, as in ruff: a layer with `select`
    /// discards the selection of earlier layers, a layer without `select` adds rules to it and removes rules from it.
    /// Within a layer the more specific selector wins.
    pub fn layered(layers: &[Layer]) -> Self {
        let mut chosen = Self::all().chosen;
        for layer in layers {
            let before = chosen;
            let is_chosen = |rule: &&&Rule| layer.chooses(rule).unwrap_or_else(|| before.contains(&rule.code));
            chosen = RULES.iter().filter(is_chosen).map(|rule| rule.code).collect();
        }
        Selection { chosen }
    }

    /// True if findings of this rule are shown.
    pub fn contains(&self, code: RuleCode) -> bool {
        self.chosen.contains(&code)
    }

    /// Returns the chosen rules, in ascending order of their codes.
    pub fn codes(&self) -> &[RuleCode] {
        &self.chosen
    }
}

/// The selectors from one source: the configuration, or the command line.
#[derive(Clone, Debug, Default)]
pub struct Layer {
    /// The rules that are chosen; `None` keeps the selection of earlier layers.
    pub select: Option<Vec<Selector>>,
    /// The rules that are chosen in addition.
    pub extend_select: Vec<Selector>,
    /// The rules that are not chosen.
    pub ignore: Vec<Selector>,
}

impl Layer {
    /// Returns true if this layer chooses a rule, false if it ignores the rule, `None` if none of its selectors matches
    /// the rule.
    fn chooses(&self, rule: &Rule) -> Option<bool> {
        let weight = |list: &[Selector]| list.iter().filter_map(|selector| selector.weight(rule)).max();
        let mut select_weight = self.select.as_deref().and_then(weight).max(weight(&self.extend_select));
        let ignore_weight = weight(&self.ignore);
        match &self.select {
            None if select_weight.is_none() && ignore_weight.is_none() => return None,
            Some(_) if rule.code == UNREADABLE_SOURCE.code => select_weight = select_weight.or(Some(0)),
            _ => {}
        }
        // `None` is less than any weight, so a rule without a selector is not chosen.
        Some(select_weight > ignore_weight)
    }
}

/// An element of `--select`, `--extend-select` or `--ignore`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector(SelectorTarget);

#[derive(Clone, Debug, PartialEq, Eq)]
enum SelectorTarget {
    /// All rules whose code has this prefix; empty for `ALL`.
    Prefix(String),
    /// One rule.
    Rule(RuleCode),
}

impl Selector {
    /// Parses a code, a prefix, a name or `ALL`.
    ///
    /// # Errors
    ///
    /// Returns an error if the text refers to no rule.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        let text = text.trim();
        if text.eq_ignore_ascii_case("ALL") {
            return Ok(Selector(SelectorTarget::Prefix(String::new())));
        }
        if let Some(rule) = crate::rule_named(text) {
            return Ok(Selector(SelectorTarget::Rule(rule.code)));
        }
        let prefix = text.to_ascii_uppercase();
        let known = |prefix: &str| RULES.iter().any(|rule| rule.code.to_string().starts_with(prefix));
        if prefix.starts_with('B') && known(&prefix) {
            return Ok(Selector(SelectorTarget::Prefix(prefix)));
        }
        Err(SelectorError { selector: text.to_owned(), suggestion: nearest_rule(text) })
    }

    /// True if the selector refers to the rule with this code.
    pub fn matches(&self, code: RuleCode) -> bool {
        crate::rule(code).is_some_and(|rule| self.weight(rule).is_some())
    }

    /// Returns the specificity of the selector for a rule, the length of its prefix; `None` if it does not refer to the
    /// rule.
    fn weight(&self, rule: &Rule) -> Option<usize> {
        match &self.0 {
            SelectorTarget::Prefix(prefix) => {
                rule.code.to_string().starts_with(prefix.as_str()).then_some(prefix.len())
            }
            SelectorTarget::Rule(code) => (rule.code == *code).then_some(usize::MAX),
        }
    }
}

/// Returns the code or name of the rule that is most similar to a misspelt one; `None` if no rule is similar.
pub fn nearest_rule(text: &str) -> Option<String> {
    let codes = RULES.iter().map(|rule| rule.code.to_string());
    let names = RULES.iter().map(|rule| rule.name.to_owned());
    let typed = text.to_ascii_lowercase();
    let distances = codes.chain(names).map(|known| {
        let distance = strsim::damerau_levenshtein(&typed, &known.to_ascii_lowercase());
        (distance, known)
    });
    distances
        .filter(|(distance, known)| *distance <= known.len().div_ceil(4))
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
    fn selectors_are_codes_prefixes_names_and_all() {
        assert_eq!(
            chosen(&[], &[], &[]),
            "101 102 103 104 105 106 107 108 109 201 301 302 401 402 403 501 502 601 901 902 903 904"
        );
        assert_eq!(chosen(&["all"], &[], &["BLT10"]), "201 301 302 401 402 403 501 502 601 901 902 903 904");
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
    fn a_later_layer_wins_and_its_select_discards_earlier_layers() {
        let parse = |list: &[&str]| list.iter().map(|text| Selector::parse(text).expect("a rule")).collect::<Vec<_>>();
        let layer = |select: Option<&[&str]>, extend: &[&str], ignore: &[&str]| Layer {
            select: select.map(parse),
            extend_select: parse(extend),
            ignore: parse(ignore),
        };
        let chosen = |layers: &[Layer]| {
            let selection = Selection::layered(layers);
            [101, 102, 103, 902].into_iter().filter(|code| selection.contains(RuleCode(*code))).collect::<Vec<_>>()
        };
        let file = || layer(Some(&["BLT101", "BLT102"]), &[], &["BLT103"]);
        assert_eq!(chosen(&[file()]), [101, 102, 902]);
        assert_eq!(chosen(&[file(), layer(None, &[], &[])]), [101, 102, 902]);
        assert_eq!(chosen(&[file(), layer(Some(&["BLT1"]), &[], &[])]), [101, 102, 103, 902]);
        assert_eq!(chosen(&[file(), layer(None, &["BLT103"], &[])]), [101, 102, 103, 902]);
        assert_eq!(chosen(&[file(), layer(None, &[], &["BLT1"])]), [902], "a later prefix beats an earlier code");
        assert_eq!(chosen(&[layer(Some(&[]), &[], &[])]), [902]);
        assert_eq!(chosen(&[layer(None, &["BLT101"], &["BLT1"])]), [101, 902]);
        assert_eq!(chosen(&[layer(None, &[], &["BLT9"]), layer(None, &["BLT101"], &[])]), [101, 102, 103]);
    }

    #[test]
    fn unreadable_files_are_reported_unless_ignored() {
        assert_eq!(chosen(&["BLT101"], &[], &["BLT902"]), "101");
        assert_eq!(chosen(&["BLT101"], &[], &["BLT9"]), "101");
    }

    #[test]
    fn a_selector_without_a_rule_is_an_error_with_a_suggestion() {
        assert_eq!(chosen(&["BTL101"], &[], &[]), "unknown rule `BTL101`; did you mean `BLT101`?");
        assert_eq!(
            chosen(&[], &[], &["blocking-slep"]),
            "unknown rule `blocking-slep`; did you mean `blocking-sleep`?"
        );
        assert!(chosen(&["X"], &["BLT7"], &[]).lines().count() == 2, "each unknown selector is reported");
        assert!(chosen(&[""], &[], &[]).starts_with("unknown rule ``"));
    }
}
