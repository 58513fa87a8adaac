//! Every signal, in the order in which those of one kind are asked: the first that makes a note decides.

use blocklint_core::{Effect, Language, Severity};
use blocklint_link::effect::label::Label;
use blocklint_link::linker::{LOW_STEPS, Linker};
use blocklint_link::program::ids::{BodyRef, SiteRef};
use blocklint_link::program::path_kind;

use crate::entries::root::RootKind;
use crate::guards::constant_branch::{is_left_over_method, is_never_named};
use crate::judge::after_failure::{is_after_failure, removes_at_the_end, runs_after_failure};
use crate::judge::create_if_missing::{makes_what_lacks, prepares_process};
use crate::judge::java_rare::{asks_for_setting, is_asked_around};
use crate::judge::java_slight::runs_after_failure_alone;
use crate::judge::kernel_files::ends_at_pseudo_file;
use crate::judge::rare_choice::{stands_in_catch, steps_of_value};
use crate::judge::rust::{is_kept_by_key, is_of_copy};
use crate::judge::signal::{OfLabel, Signal, SignalEffect, SignalScope, Traced};
use crate::judge::stop_then_join::is_told_to_end;
use crate::judge::terminal::is_for_a_terminal;

const ALL: &[Language] = &[Language::Python, Language::Rust, Language::Java];
const PYTHON: &[Language] = &[Language::Python];
const RUST: &[Language] = &[Language::Rust];
const JAVA: &[Language] = &[Language::Java];

/// What a chain of doubts adds: with any other, it is one too many.
const TWO: u8 = 2;

const fn site(
    (name, languages, says): (&'static str, &'static [Language], &'static str),
    makes: SignalEffect,
    of: OfLabel,
    asks: fn(&Linker<'_>, SiteRef) -> bool,
) -> Signal {
    Signal { name, says, languages, makes, asks: SignalScope::Site(of, asks) }
}

const fn doubt(
    (name, languages, says): (&'static str, &'static [Language], &'static str),
    asks: fn(&Linker<'_>, SiteRef) -> u8,
) -> Signal {
    Signal { name, says, languages, makes: SignalEffect::LessSure, asks: SignalScope::Doubt(asks) }
}

const fn root(
    (name, languages, says): (&'static str, &'static [Language], &'static str),
    asks: fn(&Linker<'_>, BodyRef) -> bool,
) -> Signal {
    Signal { name, says, languages, makes: SignalEffect::Note, asks: SignalScope::Root(asks) }
}

const fn way(
    (name, languages, says): (&'static str, &'static [Language], &'static str),
    of: OfLabel,
    asks: fn(&Traced<'_, '_>) -> bool,
) -> Signal {
    Signal { name, says, languages, makes: SignalEffect::Note, asks: SignalScope::Way(of, asks) }
}

const fn way_doubt(
    (name, languages, says): (&'static str, &'static [Language], &'static str),
    of: OfLabel,
    asks: fn(&Traced<'_, '_>) -> u8,
) -> Signal {
    Signal { name, says, languages, makes: SignalEffect::LessSure, asks: SignalScope::WayDoubt(of, asks) }
}

const fn elsewhere(
    (name, languages, says): (&'static str, &'static [Language], &'static str),
    makes: SignalEffect,
) -> Signal {
    Signal { name, says, languages, makes, asks: SignalScope::Elsewhere }
}

fn is_felt(label: &Label) -> bool {
    label.severity > Severity::Note
}

fn is_file(label: &Label) -> bool {
    label.effect == Effect::File && label.severity == Severity::Warning
}

fn steps(speaks: bool, steps: u8) -> u8 {
    if speaks { steps } else { 0 }
}

/// What the signals that are decided elsewhere are called there.
#[expect(missing_docs, reason = "each is the name that it holds")]
pub mod named {
    pub const FIRST_TIME: &str = "first-time";
    pub const ONCE_PER_KEY: &str = "once-per-key";
    pub(crate) const KEPT_FACTORY: &str = "kept-factory";
    pub const CACHED: &str = "cached";
    pub(crate) const SHORT: &str = "short";
    pub const IN_TESTS: &str = "in-tests";
    pub const START_UP: &str = "start-up-or-exit";
    pub const RUNS_ONCE: &str = "runs-once";
    pub const ALONE: &str = "alone-on-its-loop";
    pub const COMMAND: &str = "command";
    pub const APART: &str = "runs-apart";
    pub const FAILS_ELSEWHERE: &str = "fails-where-somebody-waits";
    pub const MADE_PER_REQUEST: &str = "read-to-make-an-object";
    pub const SAID_ALREADY: &str = "said-already";
    pub const SAME_FILE: &str = "same-file";
    pub const SHORT_BESIDE_LONGER: &str = "short-beside-longer";
    pub const FAILS_BESIDES: &str = "fails-besides";
    pub const TWO_OF_ONE_KIND: &str = "two-doubts-of-one-kind";
    pub const LONG_WAY: &str = "long-way";
    pub const SHOWS: &str = "shows-or-measures";
    pub(crate) const NONE_CALLS_IT_SO: &str = "none-calls-it-so";
}

/// All signals.
pub static SIGNALS: &[Signal] = &[
    // While labels climb: what is decided with more than the site.
    elsewhere((named::FIRST_TIME, ALL, "it runs the first time only"), SignalEffect::Note),
    elsewhere((named::ONCE_PER_KEY, ALL, "it runs once for each key"), SignalEffect::Note),
    elsewhere((named::KEPT_FACTORY, PYTHON, "what it makes is kept by a cached function"), SignalEffect::Note),
    elsewhere((named::CACHED, PYTHON, "it is read in a function whose answers are cached"), SignalEffect::BriefNote),
    elsewhere((named::SHORT, ALL, "it holds the thread for at most 10 ms"), SignalEffect::Warning),
    // While labels climb, of a site.
    site(
        ("told-to-end", PYTHON, "what it waits for was told to end just before"),
        SignalEffect::BriefNote,
        |label, _| label.for_end && is_felt(label),
        is_told_to_end,
    ),
    site(
        ("after-a-failure", ALL, "it runs only after something failed"),
        SignalEffect::Note,
        |label, _| is_file(label),
        is_after_failure,
    ),
    site(
        ("for-a-terminal", ALL, "it runs only where a person sits at a terminal"),
        SignalEffect::Note,
        |label, _| is_felt(label) && !label.fails,
        is_for_a_terminal,
    ),
    // Doubts about where a site stands.
    doubt(("in-a-catch", JAVA, "it stands where something was caught"), |linker, site| {
        steps(stands_in_catch(linker, site), TWO)
    }),
    doubt(("one-value-of-many", ALL, "it is for one value of many"), steps_of_value),
    doubt(("a-setting-asks-for-it", JAVA, "a setting asks for it"), |linker, at| {
        steps(is_asked_around(linker, at, |linker, test| asks_for_setting(linker, at.file, test)), LOW_STEPS)
    }),
    // Of a root: it serves nobody.
    root((named::SHOWS, PYTHON, "it is there to show or to measure something"), |linker, root| {
        path_kind::is_example(&linker.program.files[root.file.index()].relative)
    }),
    root(("copy-of-a-library", RUST, "it stands in a copy of a library"), |linker, root| is_of_copy(linker, root.file)),
    root(("never-named", PYTHON, "nobody names the function"), is_never_named),
    root(("left-over-method", PYTHON, "nobody names the method, but those beside it"), |linker, root| {
        is_left_over_method(linker, root)
    }),
    // When it runs.
    elsewhere((named::IN_TESTS, ALL, "it runs only in tests"), SignalEffect::Note),
    elsewhere(
        (named::START_UP, ALL, "it runs before anybody is served, or while the program ends"),
        SignalEffect::Note,
    ),
    elsewhere((named::RUNS_ONCE, ALL, "it runs once in the life of the program"), SignalEffect::Note),
    elsewhere(
        (named::ALONE, ALL, "the program comes there once, from its beginning, and nothing runs beside it"),
        SignalEffect::Lower,
    ),
    elsewhere((named::COMMAND, ALL, "it runs in a command of a command line"), SignalEffect::Note),
    elsewhere(
        (named::APART, &[Language::Python, Language::Rust], "it runs apart from all that is served"),
        SignalEffect::Note,
    ),
    elsewhere(
        (named::FAILS_ELSEWHERE, &[Language::Rust, Language::Java], "it would fail only where others are served"),
        SignalEffect::Note,
    ),
    // Of the whole way.
    way(("made-where-it-lacks-at-the-end", PYTHON, "a folder is made only where it lacks"), of_file, |on| {
        makes_what_lacks(on.linker, on.ways)
    }),
    way(("removed-in-a-finally", PYTHON, "one file is removed at the end"), of_file, |on| {
        removes_at_the_end(on.linker, on.ways)
    }),
    way(("prepares-a-process", PYTHON, "a small file is written for a process that is started next"), of_file, |on| {
        prepares_process(on.linker, on.ways)
    }),
    way(("called-after-failures", PYTHON, "all its calls stand where something failed"), of_file, |on| {
        runs_after_failure(on.linker, on.callers, on.root, 3)
    }),
    way(("kept-by-its-key", RUST, "it is kept by its key"), of_kept, |on| is_kept_by_key(on.linker, on.ways)),
    way(("file-of-the-kernel", RUST, "the kernel makes up the file"), of_file, |on| {
        ends_at_pseudo_file(on.linker, on.ways)
    }),
    way(("folder-where-it-lacks", RUST, "a folder is made only where it lacks"), of_file, |on| {
        makes_what_lacks(on.linker, on.ways)
    }),
    way(("for-show", JAVA, "it belongs to a program that shows or measures something"), of_any, |on| {
        path_kind::is_for_show(&on.linker.program.files[on.root.file.index()].relative)
    }),
    way(("after-a-failure-alone", JAVA, "it runs only after something failed"), of_any, |on| {
        runs_after_failure_alone(on.linker, on.ways, on.label.effect)
    }),
    way(("computing-pool", JAVA, "it computes on a pool that is there for that"), of_any, |on| {
        on.label.effect == Effect::Cpu && on.kind.kind == RootKind::Computing
    }),
    way(("value-is-there", JAVA, "what it waits for has its value already"), of_any, |on| {
        on.label.effect == Effect::NestedLoop && on.leaf_site().is_some_and(|site| on.linker.waits_for_complete(site))
    }),
    // Doubts about the whole way.
    way_doubt(
        ("servlet-container", JAVA, "the module answers requests on a servlet container's threads"),
        of_any,
        |on| {
            let is_put_together = matches!(on.kind.kind, RootKind::Composed | RootKind::Assembly);
            steps(is_put_together && on.linker.serves_by_servlets(on.root.file), LOW_STEPS)
        },
    ),
    way_doubt(("value-may-be-there", JAVA, "what it waits for may have its value already"), of_nested_loop, |on| {
        steps(on.leaf_site().is_some_and(|site| on.linker.may_wait_for_complete(site)), TWO)
    }),
    elsewhere((named::NONE_CALLS_IT_SO, PYTHON, "every call in the project rules it out"), SignalEffect::LessSure),
    elsewhere((named::TWO_OF_ONE_KIND, PYTHON, "two doubts on the way are of one kind"), SignalEffect::LessSure),
    elsewhere((named::LONG_WAY, ALL, "the way is long"), SignalEffect::LessSure),
    // Worse than the row says.
    elsewhere(
        (named::MADE_PER_REQUEST, &[Language::Python, Language::Rust], "it is read to make an object, on each request"),
        SignalEffect::Warning,
    ),
    // Beside other findings.
    elsewhere((named::SAID_ALREADY, ALL, "the call is reported for something worse"), SignalEffect::Note),
    elsewhere((named::SAME_FILE, ALL, "the function opens the file, and that is reported"), SignalEffect::Note),
    elsewhere(
        (
            named::SHORT_BESIDE_LONGER,
            &[Language::Python, Language::Rust],
            "the function is reported for what takes longer",
        ),
        SignalEffect::Note,
    ),
    elsewhere((named::FAILS_BESIDES, PYTHON, "its cause is shown where nothing failed"), SignalEffect::Note),
];

fn of_any(_: &Label, _: &crate::graph::FlowEdge) -> bool {
    true
}

fn of_file(label: &Label, _: &crate::graph::FlowEdge) -> bool {
    label.effect == Effect::File
}

fn of_kept(label: &Label, _: &crate::graph::FlowEdge) -> bool {
    matches!(label.effect, Effect::Database | Effect::Cpu | Effect::File)
}

fn of_nested_loop(label: &Label, _: &crate::graph::FlowEdge) -> bool {
    label.effect == Effect::NestedLoop
}
