//! Rules that comments name by code, prefix or name, and suggestions where a comment names no rule.

use blocklint_core::RuleCode;

use crate::{RULES, nearest, rule_named, rules_of_async};

/// The name that comments begin with.
const NAME: &str = "blocklint";

/// The words of a comment with a meaning, beside the rules in brackets.
const WORDS: [&str; 3] = ["ignore", "ignore-file", "nonblocking"];

/// Words for suppressions in other linters.
const ELSEWHERE: [&str; 16] = [
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

/// Returns the rules that a word of a comment means: a code, a prefix of at least `BLT`, a name, or `ALL`. Rules about
/// sources and comments (BLT9xx) are meant only where they are named. Empty where it means nothing.
pub fn meant(text: &str) -> Vec<RuleCode> {
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
    match typed.starts_with("BLT9") {
        true => RULES.iter().map(|rule| rule.code).filter(|code| code.to_string().starts_with(&typed)).collect(),
        false => about_code.filter(|code| code.to_string().starts_with(&typed)).collect(),
    }
}

/// Returns the rule that was probably meant by a word that means none; nothing where none is near.
pub fn probably_meant(text: &str) -> Option<String> {
    match rules_of_async(text).as_slice() {
        [] => nearest(text),
        [rule, ..] => Some(rule.to_string()),
    }
}

/// True if words behind `ignore` name rules that belong into brackets: `BLT104`, `BTL104 why`, `(blocking-file)`, `see BLT104`.
/// Words that name none are the reason of a comment for all rules.
pub fn names_rules(reason: &str) -> bool {
    let mut words = words_of(reason);
    let first = words.next();
    let is_all = first == Some("ALL") || reason.trim().eq_ignore_ascii_case("all");
    is_all || first.is_some_and(is_rule_like) || words.any(|word| word.starts_with("BLT") && is_rule_like(word))
}

/// Returns the words of a text that could be rules.
fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).map(|word| word.trim_matches('-'));
    words.filter(|word| !word.is_empty())
}

/// True if a word means a rule, or is near to one and no word of a sentence.
fn is_rule_like(word: &str) -> bool {
    let is_name = word.contains('-') || word.bytes().any(|byte| byte.is_ascii_digit());
    match word.eq_ignore_ascii_case("all") {
        true => word == "ALL",
        false => !meant(word).is_empty() || is_name && probably_meant(word).is_some(),
    }
}

/// Returns the rules at the beginning of what follows a word, in or without brackets, with near ones put right.
fn rules_in(list: &str) -> Vec<String> {
    let inside = list.trim_start_matches(['[', '(', '{', '<', '=', ':', ' ', '\t']);
    let end = inside.find([']', ')', '}', '>']).unwrap_or(inside.len());
    let is_bracketed = list.trim_start().starts_with(['[', '(', '{', '<']);
    let mut found = Vec::new();
    for word in words_of(&inside[..end]) {
        match () {
            () if !meant(word).is_empty() => found.push(word.to_owned()),
            () if is_rule_like(word) => found.extend(probably_meant(word)),
            // A word that is no rule stays; BLT903 reports it once the form is right.
            () if is_bracketed => found.push(word.to_owned()),
            () => break,
        }
    }
    if found.is_empty() {
        found.extend(words_of(list).filter(|word| word.starts_with("BLT") && is_rule_like(word)).map(str::to_owned));
    }
    found
}

/// Returns the mistake in a comment, as a clause, and the comment that was probably meant; `None` for a sentence that only
/// begins with the name. `text` is all that stands behind the comment's marker, or a string of `@SuppressWarnings`.
pub fn malformed(text: &str) -> Option<(String, Option<String>)> {
    let text = text.trim();
    if let Some(written) = text.strip_prefix('"') {
        return Some(malformed_annotation(written.trim_end_matches('"')));
    }
    if let Some(codes) = text.strip_prefix("noqa") {
        let rules = rules_in(codes).join(", ");
        return Some(match codes.trim_start().starts_with(':') {
            true => ("`noqa` is a comment of Python's linters".to_owned(), Some(format!("{NAME}: ignore[{rules}]"))),
            false => ("a colon is missing behind `noqa`".to_owned(), Some(format!("noqa: {rules}"))),
        });
    }
    let (name, rest) = match text.get(..NAME.len()).is_some_and(|head| head.eq_ignore_ascii_case(NAME)) {
        true => text.split_at(NAME.len()),
        false => text.split_at(text.find(|c: char| !(c.is_ascii_alphabetic() || matches!(c, '-' | '_')))?),
    };
    if strsim::damerau_levenshtein(&name.to_ascii_lowercase(), NAME) > 2 {
        return None;
    }
    let (colon, rest) = match rest.trim_start().strip_prefix(':') {
        Some(rest) => (true, rest.trim_start()),
        None => (false, rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '-' | '_' | '.'))),
    };
    let end = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_'))).unwrap_or(rest.len());
    let (written, list) = (&rest[..end], rest[end..].trim_start());
    let word = written.to_ascii_lowercase();
    let rules = rules_in(list);
    let with_rules = |word: &str| match word {
        "nonblocking" => format!("{NAME}: {word}"),
        _ if rules.is_empty() => format!("{NAME}: {word}"),
        _ => format!("{NAME}: {word}[{}]", rules.join(", ")),
    };
    let is_set_off = list.starts_with(['[', '(', '{', '<', '=']);
    let known = match WORDS.contains(&word.as_str()) {
        true => word.as_str(),
        false => {
            let near = WORDS.iter().map(|known| (strsim::damerau_levenshtein(&word, known), *known)).min();
            let near = near.filter(|(distance, known)| *distance <= known.len() / 3).map(|(_, known)| known);
            let near = near.or_else(|| {
                let elsewhere = ELSEWHERE.contains(&word.as_str());
                elsewhere.then(|| if word.contains("file") { "ignore-file" } else { "ignore" })
            });
            let is_word = colon || is_set_off;
            return match near {
                Some(known) if is_word => {
                    Some((format!("`{written}` is no word of {NAME}'s"), Some(with_rules(known))))
                }
                None if is_word && list.starts_with(['[', '=']) && !word.is_empty() => {
                    Some((format!("`{written}` is no word of {NAME}'s"), None))
                }
                _ => None,
            };
        }
    };
    let meant = with_rules(known);
    if !colon {
        let is_comment = list.is_empty() || is_set_off || names_rules(list);
        return is_comment.then(|| (format!("a colon is missing behind `{NAME}`"), Some(meant)));
    }
    if name != NAME {
        let what = match name.eq_ignore_ascii_case(NAME) {
            true => format!("`{name}` is written in small letters"),
            false => format!("`{name}` is not `{NAME}`"),
        };
        return Some((what, Some(meant)));
    }
    if written != word {
        return Some((format!("`{written}` is written in small letters"), Some(meant)));
    }
    let clause = match list {
        _ if word == "nonblocking" => match is_set_off {
            true => format!("`{word}` takes no rules"),
            false => return None,
        },
        list if list.starts_with('[') && !list.contains(']') => format!("the bracket behind `{word}` is not closed"),
        list if list.starts_with('[') && list[1..].trim_start_matches([',', ' ', '\t']).starts_with(']') => {
            return Some((format!("the brackets behind `{word}` name no rule"), None));
        }
        list if list.starts_with('[')
            && list.split_once(']').is_some_and(|(_, rest)| rest.trim_start().starts_with('[')) =>
        {
            let rules: Vec<&str> = words_of(list).filter(|word| is_rule_like(word)).collect();
            let instead = format!("{NAME}: {word}[{}]", rules.join(", "));
            return Some((format!("`{word}` has all its rules in one pair of brackets"), Some(instead)));
        }
        list if list.starts_with('[') || !is_set_off && !names_rules(list) => {
            return Some((format!("`{word}` must stand alone on its line"), None));
        }
        _ => format!("the rules behind `{word}` must stand in square brackets"),
    };
    Some((clause, Some(meant)))
}

/// Returns the mistake in a string of `@SuppressWarnings`, and the annotation that was probably meant.
fn malformed_annotation(written: &str) -> (String, Option<String>) {
    let rest = match written.get(..NAME.len()).is_some_and(|head| head.eq_ignore_ascii_case(NAME)) {
        true => &written[NAME.len()..],
        false => written,
    };
    let rules: Vec<String> = rules_in(rest.trim_start_matches(['.', ':', ' ', '-', '_']));
    let strings: Vec<String> = rules.iter().map(|rule| format!("\"{NAME}:{rule}\"")).collect();
    let instead = match strings.as_slice() {
        [] if rest.is_empty() => Some(format!("@SuppressWarnings(\"{NAME}\")")),
        [] => None,
        [one] => Some(format!("@SuppressWarnings({one})")),
        more => Some(format!("@SuppressWarnings({{{}}})", more.join(", "))),
    };
    (format!("\"{written}\" is not `\"{NAME}:BLT101\"`, one rule in each string"), instead)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(text: &str) -> Vec<u16> {
        meant(text).iter().map(|code| code.0).collect()
    }

    #[test]
    fn codes_prefixes_names_and_all() {
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
    fn what_was_meant() {
        assert_eq!(probably_meant("BTL101").as_deref(), Some("BLT101"));
        assert_eq!(probably_meant("blocking-fiel").as_deref(), Some("blocking-file"));
        assert_eq!(probably_meant("ASYNC251").as_deref(), Some("BLT101"));
        assert_eq!(probably_meant("E501"), None);
    }

    #[test]
    fn reasons_that_name_rules_are_told_from_others() {
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
            assert!(names_rules(text), "{text}");
        }
        for text in
            ["", "start-up only", "all of this is fine", "the probe must wait", "see #12", "legacy (2 of 3)", "E501"]
        {
            assert!(!names_rules(text), "{text}");
        }
    }

    #[test]
    fn comments_that_say_nothing_are_told_from_sentences() {
        let told = |text: &str| malformed(text).map(|(what, instead)| (what, instead.unwrap_or_default()));
        let is = |text: &str, what: &str, instead: &str| {
            assert_eq!(told(text), Some((what.to_owned(), instead.to_owned())), "{text}");
        };
        let no_word = |word: &str| format!("`{word}` is no word of blocklint's");
        is("blocklint: ingore[BLT101] why", &no_word("ingore"), "blocklint: ignore[BLT101]");
        is("blocklint: ignored[BLT101]", &no_word("ignored"), "blocklint: ignore[BLT101]");
        is("blocklint: non-blocking", &no_word("non-blocking"), "blocklint: nonblocking");
        is("blocklint: disable=BLT101", &no_word("disable"), "blocklint: ignore[BLT101]");
        is("blocklint: file-ignore[BLT104]", &no_word("file-ignore"), "blocklint: ignore-file[BLT104]");
        is("blocklint: ignore-next-line BLT104", &no_word("ignore-next-line"), "blocklint: ignore[BLT104]");
        is("blocklint: frobnicate[x]", &no_word("frobnicate"), "");
        is("blocklint-disable(BLT101)", &no_word("disable"), "blocklint: ignore[BLT101]");
        is("blocklint ignore BLT101", "a colon is missing behind `blocklint`", "blocklint: ignore[BLT101]");
        is("blocklint: ignore[BLT101", "the bracket behind `ignore` is not closed", "blocklint: ignore[BLT101]");
        is("blocklint: ignore[ ]", "the brackets behind `ignore` name no rule", "");
        is(
            "blocklint: ignore[BLT101] [BLT102]",
            "`ignore` has all its rules in one pair of brackets",
            "blocklint: ignore[BLT101, BLT102]",
        );
        is("blocklint: ignore-file[BLT101]", "`ignore-file` must stand alone on its line", "");
        is("blocklint: ignore-file", "`ignore-file` must stand alone on its line", "");
        let brackets = "the rules behind `ignore` must stand in square brackets";
        for text in ["ignore BLT104 why", "ignore(BLT104)", "ignore=BLT104", "ignore: BLT104", "ignore - BTL104"] {
            is(&format!("blocklint: {text}"), brackets, "blocklint: ignore[BLT104]");
        }
        is("blocklint: ignore BLT104, blocking-sleep", brackets, "blocklint: ignore[BLT104, blocking-sleep]");
        is("blocklint: ignore as BLT104 says", brackets, "blocklint: ignore[BLT104]");
        is("Blocklint: ignore[BLT101]", "`Blocklint` is written in small letters", "blocklint: ignore[BLT101]");
        is("blocklint: IGNORE[BLT101]", "`IGNORE` is written in small letters", "blocklint: ignore[BLT101]");
        is("blockint: ignore[BLT101]", "`blockint` is not `blocklint`", "blocklint: ignore[BLT101]");
        is("noqa: E501, BLT101", "`noqa` is a comment of Python's linters", "blocklint: ignore[BLT101]");
        is("blocklint: nonblocking[BLT101]", "`nonblocking` takes no rules", "blocklint: nonblocking");
        is("noqa BLT101 why", "a colon is missing behind `noqa`", "noqa: BLT101");
        is("noqa(BLT101)", "a colon is missing behind `noqa`", "noqa: BLT101");
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
            assert_eq!(told(sentence), None, "{sentence}");
        }
    }
}
