//! BLT403 called-instead-of-handed-over.

use blocklint_core::{Applicability, EditKind, Language, Mistake, Refusal, Remedy, RuleCode};

use crate::advice::offload;
use crate::rule::MistakeWords;
use crate::words::{FindingText, Subject, one_line};
use crate::{Advice, Rule};

/// Handing over the result of a call where the callable was meant.
pub(crate) static CALLED_INSTEAD_OF_HANDED_OVER: Rule = Rule {
    code: RuleCode::CALLED_INSTEAD_OF_HANDED_OVER,
    name: "called-instead-of-handed-over",
    summary: "a function is called where it should be handed over",
    page: include_str!("../../../rules/BLT403-called-instead-of-handed-over.md"),
    effect: None,
    noun: "called instead of handed over",
    words: Some(&WORDS),
};

static WORDS: MistakeWords = MistakeWords { words, remedy, doubt };

fn words(raw: &Subject<'_>) -> Option<FindingText> {
    let Mistake::CalledInsteadOfHandedOver { taker } = raw.mistake else { return None };
    let (written, taker, owner) = (one_line(raw.written), one_line(taker), raw.owner.words());
    Some(match raw.language {
        Language::Java => FindingText {
            message: format!("`{written}` is called in {owner} to put `{taker}` together, and {}", raw.harm()),
            notes: vec![format!("the call runs while the chain is assembled; `{taker}` receives its value")],
            help: offload(raw),
        },
        Language::Python | Language::Rust => FindingText {
            message: format!("`{written}` is called in {owner} instead of being passed to `{taker}`"),
            notes: vec![format!("the call runs at once, on this thread; `{taker}` receives its return value")],
            help: Some(format!("pass the callable itself: `{taker}({written}, …)`")),
        },
    })
}

/// The call is one of a chain, and mended like one that blocks there (Java).
fn remedy(raw: &Subject<'_>, advice: &Advice) -> Option<Result<Remedy, Refusal>> {
    let Mistake::CalledInsteadOfHandedOver { .. } = raw.mistake else { return None };
    let refuse = |reason: &str| Some(Err(Refusal::new(reason)));
    match raw.language {
        Language::Python if advice.returns_coroutine => {
            refuse("the callee is a coroutine function: await it instead of using a thread")
        }
        Language::Python => {
            let edit_kinds = vec![EditKind::HandOver { passes: advice.forwards_arguments }];
            Some(Ok(Remedy { edit_kinds, at_most: Applicability::Unsafe }))
        }
        Language::Rust => refuse("the call must be changed by hand"),
        Language::Java => None,
    }
}

fn doubt(mistake: &Mistake) -> Option<&'static str> {
    matches!(mistake, Mistake::CalledInsteadOfHandedOver { .. }).then_some("what the call gives is inferred")
}
