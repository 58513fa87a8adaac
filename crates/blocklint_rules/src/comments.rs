//! What comments name: rules by code, prefix or name, and what was meant where they name none.

use blocklint_core::RuleCode;

use crate::{RULES, nearest, rule_named, rules_of_async};

/// The words of a comment that say something, beside the rules in brackets.
const WORDS: [&str; 3] = ["ignore", "ignore-file", "nonblocking"];

/// What other linters call it.
const ELSEWHERE: [&str; 9] =
    ["disable", "disable-file", "skip", "skip-file", "file-ignore", "noqa", "allow", "off", "suppress"];

/// The rules that a word of a comment means: a code, a prefix of at least `BLT`, a name, or `ALL`. Rules about sources and
/// comments (BLT9xx) are meant only where they are named. Empty where it means nothing.
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

/// The rule that was probably meant by a word that means none; nothing where none is near.
pub fn probably_meant(text: &str) -> Option<String> {
    match rules_of_async(text).as_slice() {
        [] => nearest(text),
        [rule, ..] => Some(rule.to_string()),
    }
}

/// What is wrong with a comment of which all that follows `blocklint` is given, as a clause, with what was probably meant;
/// `None` where it may be a sentence that only begins with the name.
pub fn malformed(said: &str) -> Option<(String, Option<String>)> {
    let (colon, rest) = match said.trim_start().strip_prefix(':') {
        Some(rest) => (true, rest.trim_start()),
        None => (false, said.trim_start()),
    };
    let end = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_'))).unwrap_or(rest.len());
    let (word, list) = (rest[..end].to_ascii_lowercase(), rest[end..].trim_start());
    let brackets =
        || list.split(']').next().filter(|inside| inside.starts_with('[')).map(|inside| format!("{inside}]"));
    let with_brackets = |word: &str| format!("blocklint: {word}{}", brackets().unwrap_or_default());
    if WORDS.contains(&word.as_str()) {
        if !colon {
            return Some(("a colon is missing behind `blocklint`".to_owned(), Some(with_brackets(&word))));
        }
        return match list {
            _ if word == "nonblocking" => None,
            list if list.starts_with('[') && !list.contains(']') => {
                Some((format!("the bracket behind `{word}` is not closed"), Some(with_brackets(&word))))
            }
            list if list.starts_with('[') && list[1..].trim_start_matches([',', ' ', '\t']).starts_with(']') => {
                Some((format!("the brackets behind `{word}` name no rule"), None))
            }
            _ => Some((format!("`{word}` must stand alone on its line"), None)),
        };
    }
    let near = WORDS.iter().map(|known| (strsim::damerau_levenshtein(&word, known), *known)).min();
    let near = near.filter(|(distance, known)| *distance <= known.len() / 3).map(|(_, known)| known);
    let near = near.or_else(|| {
        let elsewhere = ELSEWHERE.contains(&word.as_str());
        elsewhere.then(|| if word.contains("file") { "ignore-file" } else { "ignore" })
    });
    match near {
        Some(known) => Some((format!("`{word}` is no word of blocklint's"), Some(with_brackets(known)))),
        None if list.starts_with(['[', '=']) && !word.is_empty() => {
            Some((format!("`{word}` is no word of blocklint's"), None))
        }
        None => None,
    }
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
    fn comments_that_say_nothing_are_told_from_sentences() {
        let told = |said: &str| malformed(said).map(|(what, instead)| (what, instead.unwrap_or_default()));
        let is = |said: &str, what: &str, instead: &str| {
            assert_eq!(told(said), Some((what.to_owned(), instead.to_owned())), "{said}");
        };
        is(": ingore[BLT101] why", "`ingore` is no word of blocklint's", "blocklint: ignore[BLT101]");
        is(": ignored[BLT101]", "`ignored` is no word of blocklint's", "blocklint: ignore[BLT101]");
        is(": non-blocking", "`non-blocking` is no word of blocklint's", "blocklint: nonblocking");
        is(": disable=BLT101", "`disable` is no word of blocklint's", "blocklint: ignore");
        is(": file-ignore[BLT104]", "`file-ignore` is no word of blocklint's", "blocklint: ignore-file[BLT104]");
        is(": frobnicate[x]", "`frobnicate` is no word of blocklint's", "");
        is("ignore[BLT101]", "a colon is missing behind `blocklint`", "blocklint: ignore[BLT101]");
        is(": ignore[BLT101", "the bracket behind `ignore` is not closed", "blocklint: ignore[BLT101]");
        is(": ignore[ ]", "the brackets behind `ignore` name no rule", "");
        is(": ignore-file[BLT101]", "`ignore-file` must stand alone on its line", "");
        for sentence in [": see the manual", ":", "reads this", ": a linter"] {
            assert_eq!(told(sentence), None, "{sentence}");
        }
    }
}
