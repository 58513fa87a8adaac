//! The help of a finding: what to do, for the runtime it stands in.

use blocklint_core::{Effect, Language, Runtime, last_name};

use crate::words::one_line;
use crate::{SiteForm, Subject, WhyNotAlone};

/// Returns the help for a blocking call: the async twin where there is one, else how this runtime hands a call over.
pub(crate) fn help(raw: &Subject<'_>) -> Option<String> {
    if raw.rule.effect == Some(Effect::NestedLoop) {
        return Some(nested(raw));
    }
    let twin = raw.twin.filter(|_| raw.owner.kind.is_async());
    match twin {
        Some(twin) if twin.is_local && raw.direct => {
            return Some(match raw.language {
                Language::Rust => format!("use `{}(…).await`", twin.path),
                Language::Python => format!("use `await {}(…)`", twin.path),
                Language::Java => format!("use `{}`", twin.path),
            });
        }
        Some(twin) => {
            let also = offload(raw).map_or(String::new(), |offload| format!(", or {offload}"));
            return Some(format!("make the functions on this path async and use `{}`{also}", twin.path));
        }
        None => {}
    }
    if raw.holds_gil {
        return Some(
            "a thread would not help, because the call keeps the GIL: split the work into chunks or use a process pool"
                .to_owned(),
        );
    }
    offload(raw)
}

/// Returns the help for a call that runs an event loop inside of one that runs: the code that it runs can be awaited.
fn nested(raw: &Subject<'_>) -> String {
    let (word, rest) = match raw.language {
        Language::Python | Language::Rust => ("await", "what it runs"),
        Language::Java => ("compose", "what it waits for"),
    };
    match raw.direct {
        true => format!("{word} {rest} instead"),
        false => {
            let also = offload(raw).map_or(String::new(), |offload| format!(", or {offload}"));
            format!("make the functions on this path async and {word} {rest}{also}")
        }
    }
}

/// Returns how to hand the call to a thread that may block; `None` if a thread would not help.
pub(crate) fn offload(raw: &Subject<'_>) -> Option<String> {
    if raw.holds_gil {
        return None;
    }
    Some(match raw.language {
        Language::Python => match raw.why_not_alone {
            None => format!("run it in a thread: `{}`", python(raw, &callee(raw))),
            Some(WhyNotAlone::ThreadBound) => format!(
                "run the whole operation in a thread, as one function that creates the objects it uses: `{}`",
                python(raw, "work")
            ),
            Some(WhyNotAlone::ResultBlocks) => format!(
                "run it in a thread together with every use of its result, as one function: `{}`",
                python(raw, "work")
            ),
            Some(WhyNotAlone::CreatesObject) => format!(
                "create it once at start-up, or in a thread if other threads may use it: `{}`",
                python(raw, &callee(raw))
            ),
        },
        Language::Rust => rust(raw),
        Language::Java => java(raw.runtime, raw.older_workers),
    })
}

/// Returns the callable to hand over where the call itself is.
fn callee(raw: &Subject<'_>) -> String {
    match raw.site {
        SiteForm::Call | SiteForm::HandOver => one_line(raw.written),
        // A property, a `with`, an operator: no callable stands there to be handed over.
        SiteForm::Implicit => "lambda: …".to_owned(),
    }
}

fn python(raw: &Subject<'_>, callee: &str) -> String {
    let arguments = if raw.site == SiteForm::Call { ", …" } else { "" };
    if !raw.owner.kind.is_async() {
        return match raw.runtime {
            Some(Runtime::Trio) => {
                format!("nursery.start_soon(trio.to_thread.run_sync, {callee}{arguments})")
            }
            Some(Runtime::Anyio) => {
                format!("task_group.start_soon(anyio.to_thread.run_sync, {callee}{arguments})")
            }
            Some(Runtime::Twisted) => format!("deferToThread({callee}{arguments})"),
            _ => format!("asyncio.get_running_loop().run_in_executor(None, {callee}{arguments})"),
        };
    }
    match raw.runtime {
        Some(Runtime::Trio) => format!("await trio.to_thread.run_sync({callee}{arguments})"),
        Some(Runtime::Anyio) => format!("await anyio.to_thread.run_sync({callee}{arguments})"),
        Some(Runtime::Twisted) => format!("await deferToThread({callee}{arguments})"),
        Some(Runtime::Starlette) => format!("await run_in_threadpool({callee}{arguments})"),
        _ => format!("await asyncio.to_thread({callee}{arguments})"),
    }
}

fn rust(raw: &Subject<'_>) -> String {
    let (pool, _) = Runtime::blocking_pool(raw.runtime);
    let ending = if raw.owner.kind.is_async() { ".await" } else { "" };
    format!("run it on the blocking pool: `{pool}(move || …){ending}`")
}

fn java(runtime: Option<Runtime>, older: bool) -> String {
    if let Some(of) = Runtime::publishers(runtime) {
        let schedulers = last_name(of.schedulers);
        let workers = if older { of.older_workers } else { of.workers };
        return format!(
            "run it on a worker thread: `{}.fromCallable(() -> …).subscribeOn({schedulers}.{workers})`",
            last_name(of.one)
        );
    }
    let advice = match runtime {
        Some(Runtime::Rxjava) => {
            "run it on a worker thread: `Single.fromCallable(() -> …).subscribeOn(Schedulers.io())`"
        }
        Some(Runtime::Mutiny) => {
            "run it on a worker thread: `Uni.createFrom().item(() -> …).runSubscriptionOn(Infrastructure.getDefaultWorkerPool())`"
        }
        Some(Runtime::Vertx) => "run it on a worker thread: `vertx.executeBlocking(() -> …)`",
        _ => "run it on a separate executor: `executor.execute(() -> …)`",
    };
    advice.to_owned()
}

#[cfg(test)]
mod tests {
    use blocklint_core::{Hold, Mistake};

    use super::*;
    use crate::{Owner, OwnerKind, Twin, rule};

    fn raw(runtime: Runtime, kind: OwnerKind) -> Subject<'static> {
        Subject {
            rule: rule(Effect::File.rule()).expect("a rule"),
            mistake: &Mistake::Holds,
            language: Language::Python,
            runtime: Some(runtime),
            call: "builtins.open",
            written: "load",
            direct: false,
            site: SiteForm::Call,
            owner: Owner { kind, name: "handler" },
            hold: Hold::Unstated,
            takes: None,
            fails: None,
            twin: None,
            holds_gil: false,
            repeats: false,
            held_by: None,
            operation: None,
            note: None,
            more_causes: 0,
            also: &[],
            why_not_alone: None,
            older_workers: false,
        }
    }

    #[test]
    fn help_speaks_the_runtime_of_the_place() {
        let said = |runtime| help(&raw(runtime, OwnerKind::AsyncFunction)).expect("some help");
        assert!(said(Runtime::Asyncio).contains("await asyncio.to_thread(load, …)"));
        assert!(said(Runtime::Trio).contains("await trio.to_thread.run_sync(load, …)"));
        assert!(said(Runtime::Anyio).contains("await anyio.to_thread.run_sync(load, …)"));
        assert!(said(Runtime::Starlette).contains("await run_in_threadpool(load, …)"));
    }

    #[test]
    fn a_twin_behind_helpers_or_of_another_class_is_advice_beside_the_thread() {
        let mut behind = raw(Runtime::Asyncio, OwnerKind::AsyncFunction);
        behind.twin = Some(Twin { path: "httpx.AsyncClient.get", is_local: false });
        let said = help(&behind).expect("some help");
        assert!(said.contains("`httpx.AsyncClient.get`, or run it in a thread"), "{said}");
    }

    #[test]
    fn no_thread_is_offered_where_it_would_not_help() {
        let mut holding = raw(Runtime::Asyncio, OwnerKind::AsyncFunction);
        holding.holds_gil = true;
        assert!(help(&holding).expect("some help").starts_with("a thread would not help"));
    }

    #[test]
    fn a_property_has_no_callable_to_hand_over() {
        let mut property = raw(Runtime::Asyncio, OwnerKind::AsyncFunction);
        property.site = SiteForm::Implicit;
        assert!(help(&property).expect("some help").contains("to_thread(lambda: …)"));
    }
}
