//! BLT403 called-instead-of-handed-over.

use blocklint_core::{Applicability, EditKind, Language, Mistake, Refusal, Remedy, RuleCode};

use crate::advice::offload;
use crate::rule::MistakeWords;
use crate::words::{FindingText, Subject, one_line};
use crate::{Advice, Rule};

/// Reports calls whose result is passed on instead of the callable.
pub(crate) static CALLED_INSTEAD_OF_HANDED_OVER: Rule = Rule {
    code: RuleCode::CALLED_INSTEAD_OF_HANDED_OVER,
    name: "called-instead-of-handed-over",
    summary: "a function is called where it should be passed as an argument",
    page: include_str!("../../../rules/BLT403-called-instead-of-handed-over.md"),
    effect: None,
    noun: "called instead of handed over",
    mistake_words: Some(&WORDS),
};

static WORDS: MistakeWords = MistakeWords { words, remedy, doubt };

fn words(subject: &Subject<'_>) -> Option<FindingText> {
    let Mistake::CalledInsteadOfHandedOver { taker } = subject.mistake else { return None };
    let (written, taker, owner) = (one_line(subject.written), one_line(taker), subject.owner.words());
    Some(match subject.language {
        Language::Java => FindingText {
            message: format!("`{written}` is called in {owner} to put `{taker}` together, and {}", subject.harm()),
            notes: vec![format!("the call runs while the chain is assembled; `{taker}` receives its value")],
            help: offload(subject),
        },
        Language::Python | Language::Rust => FindingText {
            message: format!("`{written}` is called in {owner} instead of being passed to `{taker}`"),
            notes: vec![format!("the call runs at once, on this thread; `{taker}` receives its return value")],
            help: Some(format!("pass the callable itself: `{taker}({written}, …)`")),
        },
    })
}

/// Returns the edit or refusal for Python and Rust. `None` in Java, because the call is edited like a blocking call of
/// the chain.
fn remedy(subject: &Subject<'_>, advice: &Advice) -> Option<Result<Remedy, Refusal>> {
    let Mistake::CalledInsteadOfHandedOver { .. } = subject.mistake else { return None };
    let refuse = |reason: &str| Some(Err(Refusal::new(reason)));
    match subject.language {
        Language::Python if advice.returns_coroutine => {
            refuse("the callee is a coroutine function: await it instead of using a thread")
        }
        Language::Python => {
            let edit_kinds = vec![EditKind::HandOver { forwards_arguments: advice.forwards_arguments }];
            Some(Ok(Remedy { edit_kinds, at_most: Applicability::Unsafe }))
        }
        Language::Rust => refuse("the call must be changed by hand"),
        Language::Java => None,
    }
}

fn doubt(mistake: &Mistake) -> Option<&'static str> {
    matches!(mistake, Mistake::CalledInsteadOfHandedOver { .. }).then_some("the call's result is inferred")
}
