//! Suppression comments: the rules that their words refer to (`ignore[BLT104]`, `ignore[blocking-file]`), and the
//! mistake in a comment that cannot be parsed, with a suggestion.

use blocklint_core::RuleCode;

use crate::{RULES, nearest_rule, rule_named, rules_of_async_code};

/// The word with which suppression comments begin.
const NAME: &str = "blocklint";

/// The directives of suppression comments.
const DIRECTIVES: [&str; 3] = ["ignore", "ignore-file", "nonblocking"];

/// The directives of other linters.
const FOREIGN_DIRECTIVES: [&str; 16] = [
    "disable",
    "disable-file",
    "disable-line",
    "disable-next-line",
    "skip",
    "skip-file",
    "file-ignore",
    "ignore-line",
    "ignore-next",
    "ignore-next-line",
    "ignore-start",
    "noqa",
    "nolint",
    "allow",
    "off",
    "suppress",
];

/// Returns the rules that a word of a comment refers to: a code, a prefix of at least `BLT`, a name, or `ALL`. Only a
/// code, a name or the prefix `BLT9` refers to rules about sources and comments. Empty if the word refers to no rule.
pub fn resolve_rules(text: &str) -> Vec<RuleCode> {
    let typed = text.trim().to_ascii_uppercase();
    let about_code = RULES.iter().map(|rule| rule.code).filter(|code| code.0 < 900);
    if typed == "ALL" {
        return about_code.collect();
    }
    if let Some(rule) = rule_named(text.trim()) {
        return vec![rule.code];
    }
    if !typed.starts_with("BLT") {
        return Vec::new();
    }
    if typed.starts_with("BLT9") {
        RULES.iter().map(|rule| rule.code).filter(|code| code.to_string().starts_with(&typed)).collect()
    } else {
        about_code.filter(|code| code.to_string().starts_with(&typed)).collect()
    }
}

/// Returns the rule that a word without a rule probably means (`BTL101`, `ASYNC251`); `None` if no rule is similar.
pub fn suggest_rule(text: &str) -> Option<String> {
    match rules_of_async_code(text).as_slice() {
        [] => nearest_rule(text),
        [rule, ..] => Some(rule.to_string()),
    }
}

/// True if the words behind `ignore` refer to rules, which belong in brackets: `BLT104`, `BTL104 why`,
/// `(blocking-file)`, `see BLT104`. Otherwise the words are the reason of a comment that suppresses all rules.
pub fn mentions_rules(reason: &str) -> bool {
    let mut words = rule_words(reason);
    let first = words.next();
    let is_all = first == Some("ALL") || reason.trim().eq_ignore_ascii_case("all");
    is_all || first.is_some_and(is_rule_like) || words.any(|word| word.starts_with("BLT") && is_rule_like(word))
}

/// Returns the words of a text that could refer to rules: runs of letters, digits and hyphens.
fn rule_words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).map(|word| word.trim_matches('-'));
    words.filter(|word| !word.is_empty())
}

/// True if a word refers to a rule, or is similar to the name of a rule and no ordinary word.
fn is_rule_like(word: &str) -> bool {
    let is_name = word.contains('-') || word.bytes().any(|byte| byte.is_ascii_digit());
    if word.eq_ignore_ascii_case("all") {
        word == "ALL"
    } else {
        !resolve_rules(word).is_empty() || is_name && suggest_rule(word).is_some()
    }
}

/// Returns the rules at the beginning of the text behind a directive, in or without brackets. Misspelt rules are
/// corrected.
fn parse_rules(rule_list: &str) -> Vec<String> {
    let inside = rule_list.trim_start_matches(['[', '(', '{', '<', '=', ':', ' ', '\t']);
    let end = inside.find([']', ')', '}', '>']).unwrap_or(inside.len());
    let is_bracketed = rule_list.trim_start().starts_with(['[', '(', '{', '<']);
    let mut rules = Vec::new();
    for word in rule_words(&inside[..end]) {
        // In brackets an unknown word stays in the list: BLT903 reports it once the form of the comment is right.
        let is_known = !resolve_rules(word).is_empty();
        if is_known || is_bracketed && !is_rule_like(word) {
            rules.push(word.to_owned());
        } else if is_rule_like(word) {
            rules.extend(suggest_rule(word));
        } else {
            break;
        }
    }
    if rules.is_empty() {
        rules.extend(
            rule_words(rule_list).filter(|word| word.starts_with("BLT") && is_rule_like(word)).map(str::to_owned),
        );
    }
    rules
}

/// Returns the mistake in a suppression comment, as a clause, and the comment that was probably meant; `None` for a
/// sentence that only begins with `blocklint`. `text` is the text behind the comment's marker, or a string of
/// `@SuppressWarnings` with its quotation marks.
pub fn diagnose_comment(text: &str) -> Option<(String, Option<String>)> {
    let text = text.trim();
    if let Some(written) = text.strip_prefix('"') {
        return Some(diagnose_annotation(written.trim_end_matches('"')));
    }
    if let Some(codes) = text.strip_prefix("noqa") {
        let rules = parse_rules(codes).join(", ");
        return Some(if codes.trim_start().starts_with(':') {
            ("`noqa` is a comment of Python's linters".to_owned(), Some(format!("{NAME}: ignore[{rules}]")))
        } else {
            ("a colon is missing after `noqa`".to_owned(), Some(format!("noqa: {rules}")))
        });
    }
    let (name, rest) = if text.get(..NAME.len()).is_some_and(|head| head.eq_ignore_ascii_case(NAME)) {
        text.split_at(NAME.len())
    } else {
        text.split_at(text.find(|c: char| !(c.is_ascii_alphabetic() || matches!(c, '-' | '_')))?)
    };
    if strsim::damerau_levenshtein(&name.to_ascii_lowercase(), NAME) > 2 {
        return None;
    }
    let (colon, rest) = match rest.trim_start().strip_prefix(':') {
        Some(rest) => (true, rest.trim_start()),
        None => (false, rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '-' | '_' | '.'))),
    };
    let end = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_'))).unwrap_or(rest.len());
    let (written, rule_list) = (&rest[..end], rest[end..].trim_start());
    let word = written.to_ascii_lowercase();
    let rules = parse_rules(rule_list);
    let with_rules = |word: &str| match word {
        "nonblocking" => format!("{NAME}: {word}"),
        _ if rules.is_empty() => format!("{NAME}: {word}"),
        _ => format!("{NAME}: {word}[{}]", rules.join(", ")),
    };
    let has_opening_bracket = rule_list.starts_with(['[', '(', '{', '<', '=']);
    let directive = if DIRECTIVES.contains(&word.as_str()) {
        word.as_str()
    } else {
        let is_directive = colon || has_opening_bracket;
        return match similar_directive(&word) {
            Some(directive) if is_directive => {
                Some((format!("`{written}` is not a {NAME} directive"), Some(with_rules(directive))))
            }
            None if is_directive && rule_list.starts_with(['[', '=']) && !word.is_empty() => {
                Some((format!("`{written}` is not a {NAME} directive"), None))
            }
            _ => None,
        };
    };
    let suggestion = with_rules(directive);
    if !colon {
        let is_comment = rule_list.is_empty() || has_opening_bracket || mentions_rules(rule_list);
        return is_comment.then(|| (format!("a colon is missing after `{NAME}`"), Some(suggestion)));
    }
    if name != NAME {
        let clause = if name.eq_ignore_ascii_case(NAME) {
            format!("`{name}` must be lower case")
        } else {
            format!("`{name}` is not `{NAME}`")
        };
        return Some((clause, Some(suggestion)));
    }
    if written != word {
        return Some((format!("`{written}` must be lower case"), Some(suggestion)));
    }
    let clause = match rule_list {
        _ if word == "nonblocking" => {
            if has_opening_bracket {
                format!("`{word}` takes no rules")
            } else {
                return None;
            }
        }
        rule_list if rule_list.starts_with('[') && !rule_list.contains(']') => {
            format!("the bracket after `{word}` is not closed")
        }
        rule_list
            if rule_list.starts_with('[') && rule_list[1..].trim_start_matches([',', ' ', '\t']).starts_with(']') =>
        {
            return Some((format!("the brackets after `{word}` name no rule"), None));
        }
        rule_list
            if rule_list.starts_with('[')
                && rule_list.split_once(']').is_some_and(|(_, rest)| rest.trim_start().starts_with('[')) =>
        {
            let rules: Vec<&str> = rule_words(rule_list).filter(|word| is_rule_like(word)).collect();
            let instead = format!("{NAME}: {word}[{}]", rules.join(", "));
            return Some((format!("all rules of `{word}` belong in one pair of brackets"), Some(instead)));
        }
        rule_list if rule_list.starts_with('[') || !has_opening_bracket && !mentions_rules(rule_list) => {
            return Some((format!("`{word}` must be alone on its line"), None));
        }
        _ => format!("the rules after `{word}` must be in square brackets"),
    };
    Some((clause, Some(suggestion)))
}

/// Returns the directive that a misspelt word, or a directive of another linter, probably means.
fn similar_directive(word: &str) -> Option<&'static str> {
    let nearest = DIRECTIVES.iter().map(|directive| (strsim::damerau_levenshtein(word, directive), *directive)).min();
    let similar =
        nearest.filter(|(distance, directive)| *distance <= directive.len() / 3).map(|(_, directive)| directive);
    similar.or_else(|| {
        let is_foreign = FOREIGN_DIRECTIVES.contains(&word);
        is_foreign.then(|| if word.contains("file") { "ignore-file" } else { "ignore" })
    })
}

/// Returns the mistake in a string of `@SuppressWarnings`, and the annotation that was probably meant.
fn diagnose_annotation(written: &str) -> (String, Option<String>) {
    let rest = if written.get(..NAME.len()).is_some_and(|head| head.eq_ignore_ascii_case(NAME)) {
        &written[NAME.len()..]
    } else {
        written
    };
    let rules: Vec<String> = parse_rules(rest.trim_start_matches(['.', ':', ' ', '-', '_']));
    let strings: Vec<String> = rules.iter().map(|rule| format!("\"{NAME}:{rule}\"")).collect();
    let instead = match strings.as_slice() {
        [] if rest.is_empty() => Some(format!("@SuppressWarnings(\"{NAME}\")")),
        [] => None,
        [rule] => Some(format!("@SuppressWarnings({rule})")),
        more => Some(format!("@SuppressWarnings({{{}}})", more.join(", "))),
    };
    (format!("\"{written}\" is not `\"{NAME}:BLT101\"`, one rule in each string"), instead)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(text: &str) -> Vec<u16> {
        resolve_rules(text).iter().map(|code| code.0).collect()
    }

    #[test]
    fn words_refer_to_rules_by_code_prefix_name_and_all() {
        assert_eq!(codes("blt101"), [101]);
        assert_eq!(codes("blocking-file"), [104]);
        assert_eq!(codes("BLT5"), [501, 502]);
        assert!(codes("ALL").contains(&601) && !codes("all").contains(&902));
        assert_eq!(codes("BLT"), codes("ALL"));
        assert_eq!(codes("BLT901"), [901]);
        assert!(codes("BLT9").contains(&902));
        for nothing in ["", "B", "BL", "BLT7", "BTL101", "ASYNC251", "E501"] {
            assert_eq!(codes(nothing), [], "{nothing}");
        }
    }

    #[test]
    fn a_misspelt_rule_has_a_suggestion() {
        assert_eq!(suggest_rule("BTL101").as_deref(), Some("BLT101"));
        assert_eq!(suggest_rule("blocking-fiel").as_deref(), Some("blocking-file"));
        assert_eq!(suggest_rule("ASYNC251").as_deref(), Some("BLT101"));
        assert_eq!(suggest_rule("E501"), None);
    }

    #[test]
    fn a_reason_that_refers_to_rules_is_recognised() {
        for text in [
            "BLT104",
            "BTL104 why",
            "blocking-fiel",
            "(blocking-file)",
            "- BLT1",
            "see BLT104",
            "ALL",
            "all",
            "ASYNC251",
        ] {
            assert!(mentions_rules(text), "{text}");
        }
        for text in
            ["", "start-up only", "all of this is fine", "the probe must wait", "see #12", "legacy (2 of 3)", "E501"]
        {
            assert!(!mentions_rules(text), "{text}");
        }
    }

    #[test]
    fn malformed_comments_are_diagnosed_and_sentences_are_not() {
        let diagnose =
            |text: &str| diagnose_comment(text).map(|(clause, instead)| (clause, instead.unwrap_or_default()));
        let is = |text: &str, clause: &str, instead: &str| {
            assert_eq!(diagnose(text), Some((clause.to_owned(), instead.to_owned())), "{text}");
        };
        let no_word = |word: &str| format!("`{word}` is not a blocklint directive");
        is("blocklint: ingore[BLT101] why", &no_word("ingore"), "blocklint: ignore[BLT101]");
        is("blocklint: ignored[BLT101]", &no_word("ignored"), "blocklint: ignore[BLT101]");
        is("blocklint: non-blocking", &no_word("non-blocking"), "blocklint: nonblocking");
        is("blocklint: disable=BLT101", &no_word("disable"), "blocklint: ignore[BLT101]");
        is("blocklint: file-ignore[BLT104]", &no_word("file-ignore"), "blocklint: ignore-file[BLT104]");
        is("blocklint: ignore-next-line BLT104", &no_word("ignore-next-line"), "blocklint: ignore[BLT104]");
        is("blocklint: frobnicate[x]", &no_word("frobnicate"), "");
        is("blocklint-disable(BLT101)", &no_word("disable"), "blocklint: ignore[BLT101]");
        is("blocklint ignore BLT101", "a colon is missing after `blocklint`", "blocklint: ignore[BLT101]");
        is("blocklint: ignore[BLT101", "the bracket after `ignore` is not closed", "blocklint: ignore[BLT101]");
        is("blocklint: ignore[ ]", "the brackets after `ignore` name no rule", "");
        is(
            "blocklint: ignore[BLT101] [BLT102]",
            "all rules of `ignore` belong in one pair of brackets",
            "blocklint: ignore[BLT101, BLT102]",
        );
        is("blocklint: ignore-file[BLT101]", "`ignore-file` must be alone on its line", "");
        is("blocklint: ignore-file", "`ignore-file` must be alone on its line", "");
        let brackets = "the rules after `ignore` must be in square brackets";
        for text in ["ignore BLT104 why", "ignore(BLT104)", "ignore=BLT104", "ignore: BLT104", "ignore - BTL104"] {
            is(&format!("blocklint: {text}"), brackets, "blocklint: ignore[BLT104]");
        }
        is("blocklint: ignore BLT104, blocking-sleep", brackets, "blocklint: ignore[BLT104, blocking-sleep]");
        is("blocklint: ignore as BLT104 says", brackets, "blocklint: ignore[BLT104]");
        is("Blocklint: ignore[BLT101]", "`Blocklint` must be lower case", "blocklint: ignore[BLT101]");
        is("blocklint: IGNORE[BLT101]", "`IGNORE` must be lower case", "blocklint: ignore[BLT101]");
        is("blockint: ignore[BLT101]", "`blockint` is not `blocklint`", "blocklint: ignore[BLT101]");
        is("noqa: E501, BLT101", "`noqa` is a comment of Python's linters", "blocklint: ignore[BLT101]");
        is("blocklint: nonblocking[BLT101]", "`nonblocking` takes no rules", "blocklint: nonblocking");
        is("noqa BLT101 why", "a colon is missing after `noqa`", "noqa: BLT101");
        is("noqa(BLT101)", "a colon is missing after `noqa`", "noqa: BLT101");
        let string = |written: &str| format!("\"{written}\" is not `\"blocklint:BLT101\"`, one rule in each string");
        is("\"BLT101\"", &string("BLT101"), "@SuppressWarnings(\"blocklint:BLT101\")");
        is(
            "\"blocklint:BLT101, BLT102\"",
            &string("blocklint:BLT101, BLT102"),
            "@SuppressWarnings({\"blocklint:BLT101\", \"blocklint:BLT102\"})",
        );
        for sentence in [
            "blocklint: see the manual",
            "blocklint:",
            "blocklint reads this",
            "blocklint: a linter",
            "blocklint ignores this",
            "blocklint ignore comments count",
            "Blocklint: see the manual",
            "blacklists: ignore[x]",
        ] {
            assert_eq!(diagnose(sentence), None, "{sentence}");
        }
    }
}
