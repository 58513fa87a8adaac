//! BLT301 native-call-blocks-hub.

use blocklint_core::{Applicability, EditKind, FixKind, Language, Mistake, Refusal, Remedy, RuleCode};

use crate::remedy::{NO_EDIT, NO_GREENLETS};
use crate::rule::MistakeWords;
use crate::words::{FindingText, Subject, one_line};
use crate::{Advice, Rule, SiteForm};

/// Reports native calls in greenlets that no patch makes cooperative.
pub(crate) static NATIVE_CALL_BLOCKS_HUB: Rule = Rule {
    code: RuleCode::NATIVE_CALL_BLOCKS_HUB,
    name: "native-call-blocks-hub",
    summary: "a native call holds the hub of gevent or eventlet, and with it every greenlet",
    page: include_str!("../../../rules/BLT301-native-call-blocks-hub.md"),
    effect: None,
    noun: "native call",
    mistake_words: Some(&WORDS),
};

static WORDS: MistakeWords = MistakeWords { words, remedy, doubt: |_| None };

fn words(subject: &Subject<'_>) -> Option<FindingText> {
    let Mistake::NativeCallBlocksHub { entries, adapter, pool } = subject.mistake else { return None };
    let owner = subject.owner.words();
    let entered = match entries {
        0 | 1 => format!("a greenlet enters at {owner}"),
        2 => format!("a greenlet enters at {owner} and in 1 more place"),
        more => format!("a greenlet enters at {owner} and in {} more places", more - 1),
    };
    Some(FindingText {
        message: format!("{} `{}` {}", subject.rule.noun, subject.call, subject.harm()),
        notes: vec![subject.why().to_owned(), entered],
        help: help(subject, adapter.as_deref(), pool.as_deref()),
    })
}

/// Returns the help: the adapter that makes the library cooperative, or the pool of real threads.
fn help(subject: &Subject<'_>, adapter: Option<&str>, pool: Option<&str>) -> Option<String> {
    if subject.holds_gil {
        return Some("a thread would not help, because the call keeps the GIL: use a process".to_owned());
    }
    let pool = pool.map(|pool| {
        let (holder, _) = pool.rsplit_once('.').unwrap_or((pool, ""));
        let thread_function = if holder.ends_with("ThreadPool") { "gevent.get_hub().threadpool.apply" } else { pool };
        format!("run it in a real thread: `{thread_function}({}, …)`", one_line(subject.written))
    });
    match (adapter, pool) {
        (Some(adapter), Some(pool)) => Some(format!("call `{adapter}()` at start-up, or {pool}")),
        (Some(adapter), None) => Some(format!("call `{adapter}()` at start-up")),
        (None, pool) => pool,
    }
}

fn remedy(subject: &Subject<'_>, advice: &Advice) -> Option<Result<Remedy, Refusal>> {
    let Mistake::NativeCallBlocksHub { adapter, .. } = subject.mistake else { return None };
    let reason = match &advice.rewrite {
        _ if subject.language == Language::Rust => NO_GREENLETS,
        _ if subject.language == Language::Java => NO_EDIT,
        _ if adapter.is_some() => "one call at start-up is the fix: it makes all of the library's calls cooperative",
        _ if subject.site != SiteForm::Call => "there is no call here that could run in a thread",
        _ if subject.holds_gil => "a thread would not help, because the call keeps the GIL",
        _ if advice.lazy => "the call only builds a lazy result: the code that consumes it blocks",
        _ if advice.kind == Some(FixKind::None) => "no model describes a correct edit of this call",
        Some(template) => {
            let edit_kinds = vec![EditKind::Rewrite { template: template.clone() }];
            return Some(Ok(Remedy { edit_kinds, at_most: Applicability::Unsafe }));
        }
        None => "no model describes a pool of real threads for it",
    };
    Some(Err(Refusal::new(reason)))
}
