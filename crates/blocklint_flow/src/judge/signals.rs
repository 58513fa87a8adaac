//! The list of all signals. The signals of one stage are asked in the order of the list, and the first answer "yes"
//! decides. Of several doubts the one with the most steps counts. [`SignalScope`] lists the subjects of questions.

use blocklint_core::{Effect, Hold, Language, Severity};
use blocklint_link::effect::label::{Label, LabelHold};
use blocklint_link::linker::{LOW_STEPS, Linker};
use blocklint_link::program::ids::{BodyRef, SiteRef};
use blocklint_link::program::path_kind;

use crate::entries::root::RootKind;
use crate::judge::after_failure::{follows_several_failures, is_after_failure, runs_after_failure};
use crate::judge::beside::{
    join_rules_of_one_call, lower_failing_besides, lower_reported_twice, lower_short_beside_longer,
};
use crate::judge::climbing::{
    is_cached, is_first_time, is_once_per_key, makes_cached_object, steps_if_no_call_meets_guard,
};
use crate::judge::computing_runtime::runs_on_computing_runtime;
use crate::judge::confidence::{
    steps_of_length_in_java, steps_of_length_in_python, steps_of_length_in_rust, steps_of_two_similar_doubts,
};
use crate::judge::java::{has_branch_around, runs_after_failure_alone, tests_setting};
use crate::judge::kernel_files::ends_at_pseudo_file;
use crate::judge::moments::{cannot_fail_here, is_alone, is_never_reached, is_once_in_command, makes_on_each_request};
use crate::judge::prepared_process::prepares_process;
use crate::judge::rare_choice::{is_in_catch, steps_of_value};
use crate::judge::rust::{is_in_library_copy, is_kept_by_key};
use crate::judge::same_file::join_uses_of_one_file;
use crate::judge::signal::SignalEffect::{
    Aside, AtMostWarning, BriefNote, BriefOnceNote, LessSure, Lower, Note, OnceNote, Warning,
};
use crate::judge::signal::SignalScope::{
    Arrival, AtRoot, AtRootDoubt, Beside, Cost, Doubt, Leaving, Length, Moment, Path, PathDoubt, Root, Site,
};
use crate::judge::signal::{PathSubject, Question, Signal, SignalEffect, SignalScope};
use crate::judge::stop_then_join::was_asked_to_end;
use crate::judge::terminal::is_for_a_terminal;
use crate::judge::unused_methods::{is_deprecated_and_uncalled, is_left_over_in_program};
use crate::judge::unused_python::is_left_over_method;
use crate::lifecycle::phase::When;

const ALL: &[Language] = &[Language::Python, Language::Rust, Language::Java];
const PYTHON: &[Language] = &[Language::Python];
const RUST: &[Language] = &[Language::Rust];
const JAVA: &[Language] = &[Language::Java];
const NOT_JAVA: &[Language] = &[Language::Python, Language::Rust];
const NOT_PYTHON: &[Language] = &[Language::Rust, Language::Java];

/// The inferred steps of a doubt that alone leads to `medium` confidence, and to `low` together with another doubt.
const DOUBT_STEPS: u8 = 2;

/// A hold of at most this number of seconds is at most a `warning`.
const SHORT: f64 = 0.01;

/// Returns a question for some languages, with the effect of a "yes".
const fn question(languages: &'static [Language], effect: SignalEffect, scope: SignalScope) -> Question {
    Question { languages, effect, scope, is_last: false }
}

/// All signals.
pub static SIGNALS: &[Signal] = &[
    // A label reaches a site.
    Signal {
        name: "first-time",
        says: "it runs the first time only",
        questions: &[question(ALL, OnceNote, Arrival(may_run_once, is_first_time))],
    },
    Signal {
        name: "once-per-key",
        says: "it runs once for each key",
        // Only file access and sleeps count: a cached function reads once for each key.
        questions: &[question(
            ALL,
            Note,
            Arrival(|label| may_run_once(label) && is_file_or_sleep(label), is_once_per_key),
        )],
    },
    Signal {
        name: "kept-factory",
        says: "a cached function keeps its result",
        questions: &[question(PYTHON, OnceNote, Arrival(is_open, makes_cached_object))],
    },
    Signal {
        name: "cached",
        says: "it is read in a function with a cache",
        questions: &[question(PYTHON, BriefOnceNote, Leaving(is_file, is_cached))],
    },
    Signal {
        name: "told-to-end",
        says: "it waits for work that was just asked to stop",
        questions: &[question(
            PYTHON,
            BriefNote,
            Site(|label| label.for_end && is_above_note(label), was_asked_to_end),
        )],
    },
    Signal {
        name: "after-a-failure",
        says: "it runs only after something failed",
        questions: &[
            question(ALL, Note, Site(|label| is_file(label) && label.severity == Severity::Warning, is_after_failure)),
            question(ALL, Note, Path(is_open, |subject| follows_several_failures(subject.linker, subject.path))),
            question(
                JAVA,
                Note,
                Path(is_any, |subject| runs_after_failure_alone(subject.linker, subject.path, subject.label.effect)),
            ),
            question(
                PYTHON,
                Note,
                Path(is_open_file, |subject| runs_after_failure(subject.linker, subject.callers, subject.root, 3)),
            )
            .last(),
        ],
    },
    Signal {
        name: "for-a-terminal",
        says: "it runs only at an interactive terminal",
        questions: &[question(ALL, Note, Site(is_open, is_for_a_terminal))],
    },
    Signal {
        name: "in-a-catch",
        says: "it is in an exception handler",
        questions: &[question(JAVA, LessSure, Doubt(|linker, site| steps_if(is_in_catch(linker, site), DOUBT_STEPS)))],
    },
    Signal {
        name: "one-value-of-many",
        says: "it is for one value of many",
        questions: &[question(ALL, LessSure, Doubt(steps_of_value))],
    },
    Signal {
        name: "a-setting-asks-for-it",
        says: "a setting asks for it",
        questions: &[question(JAVA, LessSure, Doubt(steps_of_setting))],
    },
    // A label reaches a root.
    Signal {
        name: "none-calls-it-so",
        says: "every call in the project rules it out",
        questions: &[question(PYTHON, LessSure, AtRootDoubt(steps_if_no_call_meets_guard))],
    },
    Signal {
        name: "short",
        says: "it holds the thread for at most 10 ms",
        questions: &[question(ALL, AtMostWarning, AtRoot(is_short))],
    },
    // The best path of a hit is known.
    Signal {
        name: "two-doubts-of-one-kind",
        says: "two uncertain steps of the path are of the same kind",
        questions: &[question(PYTHON, LessSure, Cost(steps_of_two_similar_doubts))],
    },
    Signal {
        name: "long-way",
        says: "the path is long",
        questions: &[
            question(PYTHON, LessSure, Cost(steps_of_length_in_python)),
            question(RUST, LessSure, Length(steps_of_length_in_rust)),
            question(JAVA, LessSure, Length(steps_of_length_in_java)),
        ],
    },
    Signal {
        name: "servlet-container",
        says: "the module answers requests on a servlet container's threads",
        questions: &[question(JAVA, LessSure, PathDoubt(is_any, steps_in_servlet_container))],
    },
    Signal {
        name: "value-may-be-there",
        says: "the result that it waits for may be ready already",
        questions: &[question(JAVA, LessSure, PathDoubt(is_nested_loop, steps_if_value_may_be_there))],
    },
    // Signals of the path of a candidate, whose root delays no request that is served.
    Signal {
        name: "shows-or-measures",
        says: "it only demonstrates or measures something",
        questions: &[
            question(PYTHON, Aside, Root(|linker, root| path_kind::is_example(source_path(linker, root)))),
            question(
                JAVA,
                Note,
                Path(is_any, |subject| path_kind::is_in_example_folder(source_path(subject.linker, subject.root))),
            ),
        ],
    },
    Signal {
        name: "copy-of-a-library",
        says: "it is in a copy of a library",
        questions: &[question(RUST, Note, Root(|linker, root| is_in_library_copy(linker, root.file)))],
    },
    Signal {
        name: "never-named",
        says: "neither the function nor any of its callers has a known use",
        questions: &[
            question(PYTHON, Note, Moment(is_open, is_never_reached)),
            question(RUST, Note, Moment(is_open, |traced, moments| moments.when(traced) == When::Unused)),
        ],
    },
    Signal {
        name: "left-over-method",
        says: "the method has no known use, unlike the other methods of its class",
        questions: &[
            question(PYTHON, Note, Root(is_left_over_method)),
            question(RUST, Note, Root(is_left_over_in_program)),
            question(JAVA, Note, Root(is_deprecated_and_uncalled)),
        ],
    },
    // Blocking this thread does no harm, or the wait ends at once.
    Signal {
        name: "computing-pool",
        says: "it runs on a pool for computations",
        questions: &[
            question(JAVA, Note, Path(is_cpu, |subject| subject.entry_point.kind == RootKind::Computing)),
            question(RUST, Note, Path(|label| is_cpu(label) && is_open(label), runs_on_computing_runtime)),
        ],
    },
    Signal {
        name: "value-is-there",
        says: "the result that it waits for is ready already",
        questions: &[question(JAVA, Note, Path(is_nested_loop, has_value))],
    },
    // Signals about when the path runs.
    Signal {
        name: "fails-while-serving",
        says: "it can fail only where requests are served",
        questions: &[question(NOT_PYTHON, Note, Moment(|label| label.fails, cannot_fail_here))],
    },
    Signal {
        name: "in-tests",
        says: "it runs only in tests",
        questions: &[question(ALL, Aside, Moment(is_open, |subject, moments| moments.when(subject) == When::Test))],
    },
    Signal {
        name: "start-up-or-exit",
        says: "it runs at start-up or shutdown",
        questions: &[question(
            ALL,
            Note,
            Moment(is_open, |subject, moments| matches!(moments.when(subject), When::StartUp | When::Ending)),
        )],
    },
    Signal {
        name: "runs-once",
        says: "it runs once in the life of the program",
        // Waits are left out, because a task that waits without end takes a pool thread for good.
        questions: &[question(
            ALL,
            Note,
            Moment(is_open_and_no_wait, |subject, moments| moments.when(subject) == When::Once),
        )],
    },
    Signal {
        name: "command",
        says: "it runs in a command of a command line",
        // A command delays the one person who waits for it, but its tasks delay each other.
        questions: &[
            question(ALL, Aside, Moment(is_open, |subject, moments| moments.when(subject) == When::Command)),
            question(ALL, Lower, Moment(is_open, |subject, moments| moments.when(subject) == When::Crowd)),
            question(ALL, Aside, Moment(is_open, is_once_in_command)).last(),
        ],
    },
    Signal {
        name: "runs-apart",
        says: "it runs in a loop apart from the one that serves requests",
        // It delays no other task, so it is no error where lowered findings are shown either.
        questions: &[question(
            NOT_JAVA,
            Note,
            Moment(is_open, |subject, moments| moments.when(subject) == When::Apart),
        )],
    },
    // Work on files and keys, judged by the whole path.
    Signal {
        name: "prepares-a-process",
        says: "it writes a small file for a process that is started next",
        questions: &[question(
            PYTHON,
            Note,
            Path(is_open_file, |subject| prepares_process(subject.linker, subject.path)),
        )],
    },
    Signal {
        name: "kept-by-its-key",
        says: "its result is cached by its key",
        questions: &[question(RUST, Note, Path(may_be_kept, |subject| is_kept_by_key(subject.linker, subject.path)))],
    },
    Signal {
        name: "file-of-the-kernel",
        says: "the kernel generates the file's content",
        questions: &[question(
            RUST,
            Note,
            Path(is_open_file, |subject| ends_at_pseudo_file(subject.linker, subject.path)),
        )],
    },
    Signal {
        name: "alone-on-its-loop",
        says: "it runs once, from the start of the program, and nothing runs beside it",
        // Only one step less, because the program could do other work meanwhile.
        questions: &[question(ALL, Lower, Moment(is_open, is_alone)).last()],
    },
    Signal {
        name: "read-to-make-an-object",
        says: "it is read to make an object, on each request",
        questions: &[question(NOT_JAVA, Warning, Moment(is_file_note, makes_on_each_request))],
    },
    // All candidates are judged and compared.
    Signal {
        name: "said-already",
        says: "the call is also reported with a worse effect",
        questions: &[
            question(ALL, Note, Beside(lower_reported_twice)),
            question(ALL, Note, Beside(join_rules_of_one_call)).last(),
        ],
    },
    Signal {
        name: "short-beside-longer",
        says: "the function is reported for a longer call",
        questions: &[question(NOT_JAVA, Note, Beside(lower_short_beside_longer))],
    },
    Signal {
        name: "same-file",
        says: "the function opens the file, and that is reported",
        questions: &[question(ALL, Note, Beside(join_uses_of_one_file))],
    },
    Signal {
        name: "fails-besides",
        says: "its cause is also reported on a path without a failure",
        questions: &[question(PYTHON, Note, Beside(lower_failing_besides))],
    },
];

/// True for all labels.
fn is_any(_: &Label) -> bool {
    true
}

fn is_above_note(label: &Label) -> bool {
    label.severity > Severity::Note
}

/// True if a label is more than a note and signals may lower it. A call that fails is never lowered.
pub(crate) fn is_open(label: &Label) -> bool {
    is_above_note(label) && !label.fails
}

fn is_file(label: &Label) -> bool {
    label.effect == Effect::File
}

fn is_open_file(label: &Label) -> bool {
    is_open(label) && is_file(label)
}

fn is_file_note(label: &Label) -> bool {
    is_file(label) && !label.fails && !is_above_note(label)
}

fn is_cpu(label: &Label) -> bool {
    label.effect == Effect::Cpu
}

fn is_nested_loop(label: &Label) -> bool {
    label.effect == Effect::NestedLoop
}

fn is_open_and_no_wait(label: &Label) -> bool {
    is_open(label) && label.effect != Effect::Wait
}

/// True if the result of the call is of a kind that programs keep by a key.
fn may_be_kept(label: &Label) -> bool {
    is_open(label) && matches!(label.effect, Effect::Database | Effect::Cpu | Effect::File)
}

/// True if signals about code that runs once apply to a label.
fn may_run_once(label: &Label) -> bool {
    !label.once && !label.fails
}

fn is_file_or_sleep(label: &Label) -> bool {
    matches!(label.effect, Effect::File | Effect::Sleep)
}

/// True if a label holds the thread for at most [`SHORT`] seconds.
fn is_short(label: &Label) -> bool {
    matches!(label.hold, LabelHold::Fixed(Hold::Seconds(seconds)) if seconds <= SHORT) && !label.fails
}

/// Returns the path of the file that defines a root.
fn source_path<'l>(linker: &'l Linker<'_>, root: BodyRef) -> &'l str {
    &linker.program.files[root.file.index()].relative
}

/// Returns the steps if a doubt applies, and otherwise 0.
fn steps_if(applies: bool, steps: u8) -> u8 {
    if applies { steps } else { 0 }
}

/// Returns the steps of a call in a branch that tests a setting (Java).
fn steps_of_setting(linker: &Linker<'_>, site: SiteRef) -> u8 {
    steps_if(has_branch_around(linker, site, |linker, test| tests_setting(linker, site.file, test)), LOW_STEPS)
}

/// Returns the steps of a composed chain in a module that answers requests on a servlet container's threads (Java).
fn steps_in_servlet_container(subject: &PathSubject<'_, '_>) -> u8 {
    let is_put_together = matches!(subject.entry_point.kind, RootKind::Composed | RootKind::Assembly);
    steps_if(is_put_together && subject.linker.serves_by_servlets(subject.root.file), LOW_STEPS)
}

/// Returns the steps of a wait for a future that is possibly complete (Java).
fn steps_if_value_may_be_there(subject: &PathSubject<'_, '_>) -> u8 {
    steps_if(subject.sink_site().is_some_and(|site| subject.linker.may_wait_for_completed_publisher(site)), DOUBT_STEPS)
}

/// True if the call at the end of a path waits for a complete future (Java).
fn has_value(subject: &PathSubject<'_, '_>) -> bool {
    subject.sink_site().is_some_and(|site| subject.linker.waits_for_completed_publisher(site))
}
