//! Keeps the list of signals in the documentation current: `UPDATE=1 cargo test --workspace --test it signals::`.

use std::fmt::Write;

use blocklint_core::Language;
use blocklint_engine::{SIGNALS, signal_named};

use crate::pages::assert_current;

/// The effects of signals, in the words of `why`; each effect has a table.
const KINDS: &[(&str, &str, &str)] = &[
    (
        "note",
        "A note",
        "The finding is true, but few readers would act on it. Notes are shown with `--min-severity note`. Findings of `in-tests`, `command`\n\
         and `shows-or-measures` are left aside: the last line counts them, and `--include-aside` reports them like all others.",
    ),
    (
        "warning",
        "A warning",
        "What would be an error is over too soon for one, or what would be a note is worse than that.",
    ),
    ("one step less", "One step less", "What would be an error is a warning, and what would be a warning a note."),
    (
        "less sure",
        "Less sure",
        "The way to the call counts one inferred step more, or several: with one or two it is of `medium` confidence, with more `low`, which\n\
         `--min-confidence low` shows.",
    ),
];

/// Notes that are counted separately.
const ASIDE: [&str; 3] = ["in-tests", "command", "shows-or-measures"];

#[test]
fn the_page_is_current() {
    assert_current("signals.md", &page(), "signals");
}

#[test]
fn every_signal_has_a_name_of_its_own_and_a_table() {
    for name in ASIDE {
        assert!(signal_named(name).is_some(), "the page speaks of `{name}`");
    }
    for (at, signal) in SIGNALS.iter().enumerate() {
        let name = signal.name;
        assert!(name.split('-').all(|word| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase())), "{name}");
        assert!(!SIGNALS[..at].iter().any(|other| other.name == name), "`{name}` is there twice");
        for effect in signal.effects() {
            assert!(KINDS.iter().any(|(words, ..)| *words == effect.words()), "`{name}` stands in no table");
        }
        assert!(signal.effects().next().is_some(), "`{name}` has no effect");
        assert!(signal.languages().next().is_some(), "`{name}` speaks of no language");
    }
}

fn page() -> String {
    let mut text = format!(
        "# Signals\n\n\
         A signal makes a finding less bad, less sure or worse than the model of the library says. There are {}. `blocklint why PATH:LINE` names\n\
         those that spoke of a finding after `because`, JSON as `reasons`, SARIF as `signals` among the properties of a result. What a signal\n\
         says is said of the finding, of the call at its end or of the function that must not block.\n\n\
         Made from the list in `crates/blocklint_flow/src/judge/signals.rs` by a test; CONTRIBUTING says how one is added and removed.\n",
        SIGNALS.len()
    );
    for (words, title, meaning) in KINDS {
        let _ =
            write!(text, "\n## {title}\n\n{meaning}\n\n| signal | languages | what it says |\n| --- | --- | --- |\n");
        for signal in SIGNALS.iter().filter(|signal| signal.effects().any(|effect| effect.words() == *words)) {
            let all: Vec<Language> = signal.languages().collect();
            let _ = writeln!(text, "| `{}` | {} | {} |", signal.name, languages(&all), signal.says);
        }
    }
    text
}

fn languages(all: &[Language]) -> String {
    if Language::ALL.iter().all(|language| all.contains(language)) {
        return "all".to_owned();
    }
    let names: Vec<&str> = all.iter().map(|language| title(*language)).collect();
    names.join(", ")
}

fn title(language: Language) -> &'static str {
    match language {
        Language::Python => "Python",
        Language::Rust => "Rust",
        Language::Java => "Java",
    }
}
