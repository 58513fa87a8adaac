//! BLT302 late-monkey-patch.

use blocklint_core::{Language, Mistake, Refusal, Remedy, RuleCode};

use crate::remedy::{NO_EDIT, NO_GREENLETS};
use crate::rule::MistakeWords;
use crate::words::{FindingText, Subject};
use crate::{Advice, Rule};

/// Reports imports that precede the call that patches the imported names: those names still block.
pub(crate) static LATE_MONKEY_PATCH: Rule = Rule {
    code: RuleCode::LATE_MONKEY_PATCH,
    name: "late-monkey-patch",
    summary: "a name was imported before gevent or eventlet patched it, and still blocks the hub",
    page: include_str!("../../../rules/BLT302-late-monkey-patch.md"),
    effect: None,
    noun: "imported before patching",
    mistake_words: Some(&WORDS),
};

static WORDS: MistakeWords = MistakeWords { words, remedy, doubt };

fn words(subject: &Subject<'_>) -> Option<FindingText> {
    let Mistake::LateMonkeyPatch { imported, is_module, patch } = subject.mistake else { return None };
    let message = if subject.is_direct {
        format!("`{imported}` is imported before `{patch}()` and is not patched")
    } else {
        format!("this imports `{imported}` before `{patch}()`, so it is not patched")
    };
    let why = if *is_module {
        format!("`{imported}` copies names of patched modules when it is imported, and keeps the blocking originals")
    } else {
        let (module, name) = imported.rsplit_once('.').unwrap_or(("", imported));
        format!(
            "patching replaces `{name}` in the module `{module}`; code that imported it earlier keeps the blocking original"
        )
    };
    let help = format!("call `{patch}()` above all other imports of the file that starts the program");
    Some(FindingText { message, notes: vec![why], help: Some(help) })
}

fn remedy(subject: &Subject<'_>, _: &Advice) -> Option<Result<Remedy, Refusal>> {
    let Mistake::LateMonkeyPatch { .. } = subject.mistake else { return None };
    Some(Err(Refusal::new(match subject.language {
        Language::Python => "the order of imports must be decided by hand",
        Language::Rust => NO_GREENLETS,
        Language::Java => NO_EDIT,
    })))
}

fn doubt(mistake: &Mistake) -> Option<&'static str> {
    let clause = "the import is in a program that imports the file that patches";
    matches!(mistake, Mistake::LateMonkeyPatch { .. }).then_some(clause)
}
