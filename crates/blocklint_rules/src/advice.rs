//! The help of a blocking call: the async twin, or the function of its runtime that runs the call in a worker thread.

use blocklint_core::{Effect, Language, Runtime, last_name};

use crate::words::one_line;
use crate::{SiteForm, Subject, WhyNotAlone};

/// Returns the help for a blocking call: the async twin if it has one, else the function that runs it in a worker
/// thread.
pub(crate) fn help(subject: &Subject<'_>) -> Option<String> {
    if subject.rule.effect == Some(Effect::NestedLoop) {
        return Some(nested_loop_help(subject));
    }
    let twin = subject.twin.filter(|_| subject.owner.kind.is_async());
    match twin {
        Some(twin) if twin.is_local && subject.is_direct => {
            return Some(match subject.language {
                Language::Rust => format!("use `{}(…).await`", twin.path),
                Language::Python => format!("use `await {}(…)`", twin.path),
                Language::Java => format!("use `{}`", twin.path),
            });
        }
        Some(twin) => {
            let alternative = offload(subject).map_or(String::new(), |offload| format!(", or {offload}"));
            return Some(format!("make the functions on this path async and use `{}`{alternative}", twin.path));
        }
        None => {}
    }
    if subject.holds_gil {
        return Some(
            "a thread would not help, because the call keeps the GIL: split the work into chunks or use a process pool"
                .to_owned(),
        );
    }
    offload(subject)
}

/// Returns the help for a call that runs an event loop inside of an event loop: await the inner code instead.
fn nested_loop_help(subject: &Subject<'_>) -> String {
    let (verb, object) = match subject.language {
        Language::Python => ("await", "the coroutine"),
        Language::Rust => ("await", "the future"),
        Language::Java => ("compose", "the publisher"),
    };
    if subject.is_direct {
        format!("{verb} {object} instead")
    } else {
        let alternative = offload(subject).map_or(String::new(), |offload| format!(", or {offload}"));
        format!("make the functions on this path async and {verb} {object}{alternative}")
    }
}

/// Returns the advice to run the call in a thread that may block; `None` if a thread would not help.
pub(crate) fn offload(subject: &Subject<'_>) -> Option<String> {
    if subject.holds_gil {
        return None;
    }
    Some(match subject.language {
        Language::Python => match subject.why_not_alone {
            None => format!("run it in a thread: `{}`", python_offload(subject, &callable_text(subject))),
            Some(WhyNotAlone::ThreadBound) => format!(
                "run the whole operation in a thread, as one function that creates the objects it uses: `{}`",
                python_offload(subject, "work")
            ),
            Some(WhyNotAlone::ResultBlocks) => format!(
                "run it in a thread together with every use of its result, as one function: `{}`",
                python_offload(subject, "work")
            ),
            Some(WhyNotAlone::CreatesObject) => format!(
                "create it once at start-up, or in a thread if other threads may use it: `{}`",
                python_offload(subject, &callable_text(subject))
            ),
        },
        Language::Rust => rust_offload(subject),
        Language::Java => java_offload(subject.runtime, subject.older_workers),
    })
}

/// Returns the callable that a thread can run: the callee (`store.load`), or a lambda for a site without a callee.
fn callable_text(subject: &Subject<'_>) -> String {
    match subject.site {
        SiteForm::Call | SiteForm::HandOver => one_line(subject.written),
        // A property, a `with`, an operator: the source has no callable that could be passed to a thread.
        SiteForm::Implicit => "lambda: …".to_owned(),
    }
}

/// Returns the expression that runs a callable in a thread of the subject's runtime (Python).
fn python_offload(subject: &Subject<'_>, callee: &str) -> String {
    let arguments = if subject.site == SiteForm::Call { ", …" } else { "" };
    if !subject.owner.kind.is_async() {
        return match subject.runtime {
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
    match subject.runtime {
        Some(Runtime::Trio) => format!("await trio.to_thread.run_sync({callee}{arguments})"),
        Some(Runtime::Anyio) => format!("await anyio.to_thread.run_sync({callee}{arguments})"),
        Some(Runtime::Twisted) => format!("await deferToThread({callee}{arguments})"),
        Some(Runtime::Starlette) => format!("await run_in_threadpool({callee}{arguments})"),
        _ => format!("await asyncio.to_thread({callee}{arguments})"),
    }
}

/// Returns the advice to run the call in the runtime's pool of blocking threads (Rust).
fn rust_offload(subject: &Subject<'_>) -> String {
    let (pool, _) = Runtime::blocking_pool(subject.runtime);
    let ending = if subject.owner.kind.is_async() { ".await" } else { "" };
    format!("run it on the blocking pool: `{pool}(move || …){ending}`")
}

/// Returns the advice to run the call on a worker thread of the runtime (Java).
fn java_offload(runtime: Option<Runtime>, older_workers: bool) -> String {
    if let Some(publishers) = Runtime::publishers(runtime) {
        let schedulers = last_name(publishers.schedulers);
        let workers = if older_workers { publishers.older_workers } else { publishers.workers };
        return format!(
            "run it on a worker thread: `{}.fromCallable(() -> …).subscribeOn({schedulers}.{workers})`",
            last_name(publishers.one)
        );
    }
    let advice = match runtime {
        Some(Runtime::Rxjava) => {
            "run it on a worker thread: `Single.fromCallable(() -> …).subscribeOn(Schedulers.io())`"
        }
        Some(Runtime::Mutiny) => {
            "run it on a worker thread: `Uni.createFrom().item(() -> \
             …).runSubscriptionOn(Infrastructure.getDefaultWorkerPool())`"
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

    fn subject(runtime: Runtime, kind: OwnerKind) -> Subject<'static> {
        Subject {
            rule: rule(Effect::File.rule()).expect("a rule"),
            mistake: &Mistake::BlockingCall,
            language: Language::Python,
            runtime: Some(runtime),
            call: "builtins.open",
            written: "load",
            is_direct: false,
            site: SiteForm::Call,
            owner: Owner { kind, name: "handler" },
            hold: Hold::Unstated,
            duration: None,
            fails: None,
            twin: None,
            holds_gil: false,
            is_repeated: false,
            held_by: None,
            operation: None,
            note: None,
            more_causes: 0,
            other_rule_causes: &[],
            why_not_alone: None,
            older_workers: false,
        }
    }

    #[test]
    fn help_uses_the_thread_function_of_the_runtime() {
        let help_for = |runtime| help(&subject(runtime, OwnerKind::AsyncFunction)).expect("some help");
        assert!(help_for(Runtime::Asyncio).contains("await asyncio.to_thread(load, …)"));
        assert!(help_for(Runtime::Trio).contains("await trio.to_thread.run_sync(load, …)"));
        assert!(help_for(Runtime::Anyio).contains("await anyio.to_thread.run_sync(load, …)"));
        assert!(help_for(Runtime::Starlette).contains("await run_in_threadpool(load, …)"));
    }

    #[test]
    fn help_offers_a_thread_as_well_as_a_twin_of_another_class() {
        let mut indirect = subject(Runtime::Asyncio, OwnerKind::AsyncFunction);
        indirect.twin = Some(Twin { path: "httpx.AsyncClient.get", is_local: false });
        let text = help(&indirect).expect("some help");
        assert!(text.contains("`httpx.AsyncClient.get`, or run it in a thread"), "{text}");
    }

    #[test]
    fn help_offers_no_thread_to_a_call_that_keeps_the_gil() {
        let mut holding = subject(Runtime::Asyncio, OwnerKind::AsyncFunction);
        holding.holds_gil = true;
        assert!(help(&holding).expect("some help").starts_with("a thread would not help"));
    }

    #[test]
    fn help_for_a_property_passes_a_lambda() {
        let mut property = subject(Runtime::Asyncio, OwnerKind::AsyncFunction);
        property.site = SiteForm::Implicit;
        assert!(help(&property).expect("some help").contains("to_thread(lambda: …)"));
    }
}
