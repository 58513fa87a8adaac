//! Every signal, in the order in which those of one kind are asked: the first that makes a note decides.

use blocklint_core::{Effect, Hold, Language, Severity};

use crate::entries::roots::RootKind;
use crate::graph::Next;
use crate::judge::signal::{Asks, Makes, OfLabel, Signal, Traced};
use crate::labels::label::{Label, LabelHold};
use crate::link::{LOW_STEPS, Link};
use crate::program::folder;
use crate::program::ids::{BodyRef, SiteRef};

const ALL: &[Language] = &[Language::Python, Language::Rust, Language::Java];
const PYTHON: &[Language] = &[Language::Python];
const RUST: &[Language] = &[Language::Rust];
const JAVA: &[Language] = &[Language::Java];

/// What a chain of doubts adds: with any other, it is one too many.
const TWO: u8 = 2;

const fn site(
    (name, languages, says): (&'static str, &'static [Language], &'static str),
    makes: Makes,
    of: OfLabel,
    asks: fn(&Link<'_>, SiteRef) -> bool,
) -> Signal {
    Signal { name, says, languages, makes, asks: Asks::Site(of, asks) }
}

const fn doubt(
    (name, languages, says): (&'static str, &'static [Language], &'static str),
    asks: fn(&Link<'_>, SiteRef) -> u8,
) -> Signal {
    Signal { name, says, languages, makes: Makes::LessSure, asks: Asks::Doubt(asks) }
}

const fn root(
    (name, languages, says): (&'static str, &'static [Language], &'static str),
    asks: fn(&Link<'_>, BodyRef) -> bool,
) -> Signal {
    Signal { name, says, languages, makes: Makes::Note, asks: Asks::Root(asks) }
}

const fn way(
    (name, languages, says): (&'static str, &'static [Language], &'static str),
    of: OfLabel,
    asks: fn(&Traced<'_, '_>) -> bool,
) -> Signal {
    Signal { name, says, languages, makes: Makes::Note, asks: Asks::Way(of, asks) }
}

const fn way_doubt(
    (name, languages, says): (&'static str, &'static [Language], &'static str),
    of: OfLabel,
    asks: fn(&Traced<'_, '_>) -> u8,
) -> Signal {
    Signal { name, says, languages, makes: Makes::LessSure, asks: Asks::WayDoubt(of, asks) }
}

const fn elsewhere((name, languages, says): (&'static str, &'static [Language], &'static str), makes: Makes) -> Signal {
    Signal { name, says, languages, makes, asks: Asks::Elsewhere }
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
pub(crate) mod named {
    pub(crate) const FIRST_TIME: &str = "first-time";
    pub(crate) const ONCE_PER_KEY: &str = "once-per-key";
    pub(crate) const KEPT_FACTORY: &str = "kept-factory";
    pub(crate) const CACHED: &str = "cached";
    pub(crate) const SHORT: &str = "short";
    pub(crate) const IN_TESTS: &str = "in-tests";
    pub(crate) const START_UP: &str = "start-up-or-exit";
    pub(crate) const RUNS_ONCE: &str = "runs-once";
    pub(crate) const COMMAND: &str = "command";
    pub(crate) const FAILS_ELSEWHERE: &str = "fails-where-somebody-waits";
    pub(crate) const MADE_PER_REQUEST: &str = "read-to-make-an-object";
    pub(crate) const SAID_ALREADY: &str = "said-already";
    pub(crate) const SHORT_BESIDE_LONGER: &str = "short-beside-longer";
    pub(crate) const FAILS_BESIDES: &str = "fails-besides";
    pub(crate) const TWO_OF_ONE_KIND: &str = "two-doubts-of-one-kind";
    pub(crate) const LONG_WAY: &str = "long-way";
    pub(crate) const UNSERVED: &str = "no-loop-leads-there";
    pub(crate) const NONE_CALLS_IT_SO: &str = "none-calls-it-so";
}

/// All signals.
pub static SIGNALS: &[Signal] = &[
    // While labels climb: what is decided with more than the site.
    elsewhere((named::FIRST_TIME, ALL, "it runs the first time only"), Makes::Note),
    elsewhere((named::ONCE_PER_KEY, ALL, "it runs once for each key"), Makes::Note),
    elsewhere((named::KEPT_FACTORY, PYTHON, "what it makes is kept by a cached function"), Makes::Note),
    elsewhere((named::CACHED, PYTHON, "it is read in a function whose answers are cached"), Makes::BriefNote),
    elsewhere((named::SHORT, ALL, "it holds the thread for at most 10 ms"), Makes::Warning),
    // While labels climb, of a site.
    site(
        ("told-to-end", PYTHON, "what it waits for was told to end just before"),
        Makes::BriefNote,
        |label, _| label.for_end && is_felt(label),
        |link, site| link.is_told_to_end(site),
    ),
    site(
        ("after-a-failure", ALL, "it runs only after something failed"),
        Makes::Note,
        |label, _| is_file(label),
        |link, site| link.is_after_failure(site),
    ),
    site(
        ("made-where-it-lacks", JAVA, "it is made only where it lacks"),
        Makes::Note,
        |label, _| is_file(label),
        |link, site| link.is_made_where_it_lacks(site),
    ),
    site(
        ("installed-where-it-lacks", PYTHON, "it installs what could not be imported"),
        Makes::Note,
        |label, _| label.effect == Effect::Subprocess && is_felt(label),
        |link, site| link.is_after_failed_import(site),
    ),
    site(
        ("for-a-terminal", ALL, "it runs only where a person sits at a terminal"),
        Makes::Note,
        |label, _| is_felt(label) && !label.fails,
        |link, site| link.is_for_a_terminal(site),
    ),
    site(
        ("after-its-own-end", PYTHON, "the process has told itself to end"),
        Makes::Note,
        |label, _| label.effect == Effect::Sleep && is_felt(label),
        |link, site| link.is_after_own_end(site),
    ),
    site(
        ("lock-of-ones-own", PYTHON, "it takes a lock that is made of a condition"),
        Makes::Note,
        |label, way| label.effect == Effect::Wait && is_felt(label) && matches!(way.next, Next::Leaf(_)),
        |link, site| link.waits_for_own_lock(site),
    ),
    // Doubts about where a site stands.
    doubt(("rare-platform", PYTHON, "it runs on one operating system alone"), |link, site| {
        steps(link.is_for_rare_platform(site), LOW_STEPS)
    }),
    doubt(("in-a-catch", JAVA, "it stands where something was caught"), |link, site| {
        steps(link.stands_in_catch(site), TWO)
    }),
    doubt(("address-by-its-test", JAVA, "the host is an address, which a test around says"), |link, site| {
        steps(link.looks_up_address(site), LOW_STEPS)
    }),
    doubt(("optional-part", JAVA, "it is for a part that only a setter gives"), |link, site| {
        steps(link.is_for_optional_part(site), TWO)
    }),
    doubt(("lacking-part", RUST, "it is for the lack of a part that a builder gives"), |link, site| {
        steps(link.is_for_lacking_part(site), TWO)
    }),
    doubt(("never-expected", RUST, "an assertion says that it is never reached"), |link, site| {
        steps(link.is_in_unexpected_branch(site), LOW_STEPS)
    }),
    doubt(("one-variant-of-many", RUST, "it is for one variant of many"), |link, site| link.steps_of_variant(site)),
    doubt(("text-of-a-rare-kind", PYTHON, "it is for a text of a rare kind"), |link, site| {
        steps(link.is_for_kind_of_text(site), LOW_STEPS)
    }),
    doubt(("one-value-of-many", ALL, "it is for one value of many"), |link, site| link.steps_of_value(site)),
    doubt(("one-text-of-many", ALL, "it is for one text of many that the file tells apart"), |link, site| {
        steps(link.is_one_of_many_texts(site), LOW_STEPS)
    }),
    doubt(("address-by-its-name", JAVA, "the host is an address by its name, or demanded to be one"), |link, site| {
        steps(link.is_given_host_address(site), LOW_STEPS)
    }),
    doubt(("reads-a-setting", JAVA, "it reads a setting, which is kept"), |link, site| {
        steps(link.reads_setting(site), LOW_STEPS)
    }),
    doubt(("worker-demanded", JAVA, "a call before it fails on a loop's thread"), |link, site| {
        steps(link.demands_worker(site), LOW_STEPS)
    }),
    doubt(("where-no-executor-is", JAVA, "it runs here only where there is no executor"), |link, site| {
        steps(link.runs_where_no_executor_is(site), LOW_STEPS)
    }),
    doubt(("flag-of-tests", JAVA, "only tests set the flag that it asks for"), |link, site| {
        steps(link.asks_for_flag_of_tests(site), LOW_STEPS)
    }),
    doubt(("handed-over-beside", JAVA, "another branch hands the same call to a worker"), |link, site| {
        steps(link.is_handed_over_else(site), LOW_STEPS)
    }),
    doubt(("optional-field", JAVA, "it is for an optional part of the object"), |link, site| {
        steps(link.is_of_optional_part(site), LOW_STEPS)
    }),
    doubt(("one-kind-of-many", JAVA, "it is for one kind of many"), |link, site| {
        steps(link.is_for_one_kind(site), LOW_STEPS)
    }),
    doubt(
        ("while-something-goes-on", JAVA, "what it waits for is there only while something goes on"),
        |link, site| steps(link.waits_while_something_goes_on(site), LOW_STEPS),
    ),
    doubt(("a-setting-asks-for-it", JAVA, "a setting asks for it"), |link, at| {
        steps(link.is_asked_around(at, |link, test| link.asks_for_setting(at.file, test)), LOW_STEPS)
    }),
    doubt(("a-kept-setting-asks-for-it", JAVA, "a setting that a field keeps asks for it"), |link, at| {
        steps(link.is_asked_around(at, |link, test| link.asks_for_kept_setting(at.file, test)), LOW_STEPS)
    }),
    doubt(("conditional-part", JAVA, "it is for a part that is made under a condition"), |link, at| {
        steps(link.is_asked_around(at, |link, test| link.asks_for_conditional_part(at.file, test)), LOW_STEPS)
    }),
    doubt(("asked-if-made", JAVA, "it is for what is made already"), |link, at| {
        steps(link.is_asked_around(at, |link, test| link.asks_if_made(at, test)), LOW_STEPS)
    }),
    doubt(("not-kept-yet", JAVA, "it runs once for each key"), |link, site| {
        steps(link.runs_first_time(site).is_some_and(|found| found.per_key), TWO)
    }),
    // Of a root: it serves nobody.
    root(("shows-or-measures", PYTHON, "it is there to show or to measure something"), |link, root| {
        folder::is_example(&link.program.files[root.file.index()].relative)
    }),
    root(("copy-of-a-library", RUST, "it stands in a copy of a library"), |link, root| link.is_of_copy(root.file)),
    root(("never-named", PYTHON, "nobody names the function"), |link, root| link.is_never_named(root)),
    root(("left-over-method", PYTHON, "nobody names the method, but those beside it"), |link, root| {
        link.is_left_over_method(root)
    }),
    root(("left-over-module", PYTHON, "nobody imports the module, but those beside it"), |link, root| {
        link.is_left_over_module(root.file)
    }),
    // When it runs.
    elsewhere((named::IN_TESTS, ALL, "it runs only in tests"), Makes::LevelLower),
    elsewhere((named::START_UP, ALL, "it runs before anybody is served, or while the program ends"), Makes::Note),
    elsewhere((named::RUNS_ONCE, ALL, "it runs once in the life of the program"), Makes::Note),
    elsewhere((named::COMMAND, ALL, "it runs in a command of a command line"), Makes::Note),
    elsewhere(
        (named::FAILS_ELSEWHERE, &[Language::Rust, Language::Java], "it would fail only where others are served"),
        Makes::Note,
    ),
    // Of the whole way.
    way(("made-where-it-lacks-at-the-end", PYTHON, "a folder is made only where it lacks"), of_file, |on| {
        on.link.makes_what_lacks(on.ways)
    }),
    way(("removed-in-a-finally", PYTHON, "one file is removed at the end"), of_file, |on| {
        on.link.removes_at_the_end(on.ways)
    }),
    way(("prepares-a-process", PYTHON, "a small file is written for a process that is started next"), of_file, |on| {
        on.link.prepares_process(on.ways)
    }),
    way(("made-at-import", PYTHON, "a module makes the same folder when it is imported"), of_file, |on| {
        on.last().is_some_and(|last| on.link.is_made_at_import(last.site))
    }),
    way(("called-after-failures", PYTHON, "all its calls stand where something failed"), of_file, |on| {
        on.link.runs_after_failure(on.callers, on.root, 3)
    }),
    way(
        ("a-millisecond", RUST, "it holds the thread for at most a millisecond"),
        of_wait,
        |on| matches!(on.label.hold, LabelHold::Fixed(Hold::Seconds(time)) if time <= 0.001),
    ),
    way(("input-is-there", RUST, "a poll before it says that there is input"), of_input, |on| {
        on.last().is_some_and(|last| on.link.is_ready(last.site))
    }),
    way(("asks-for-none-of-it", RUST, "the caller asks for none of it"), of_database, |on| {
        on.link.asks_for_none_of(on.ways)
    }),
    way(("kept-by-its-key", RUST, "it is kept by its key"), of_kept, |on| on.link.is_kept_by_key(on.ways)),
    way(("file-of-the-kernel", RUST, "the kernel makes up the file"), of_file, |on| {
        on.link.ends_at_pseudo_file(on.ways)
    }),
    way(("folder-where-it-lacks", RUST, "a folder is made only where it lacks"), of_file, |on| {
        on.link.makes_what_lacks(on.ways)
    }),
    way(("folder-where-it-lacks-by-test", RUST, "a test makes the folder where it lacks"), of_file, |on| {
        on.last().is_some_and(|last| on.link.makes_what_lacks_in_test(last.site))
    }),
    way(("cleans-up", RUST, "it removes files after a failure"), of_file, |on| on.link.cleans_up(on.ways)),
    way(("little-of-a-job", RUST, "it is one file of a job"), of_file, |on| on.link.is_little_of_job(on.ways)),
    way(("loads-or-makes", RUST, "it loads what is kept, or makes it"), of_file, |on| on.link.loads_or_makes(on.ways)),
    way(("kept-by-the-object", RUST, "the object keeps it"), of_file, |on| on.link.is_kept_by_object(on.ways)),
    way(("measures-itself", RUST, "it measures the program itself"), of_file, |on| {
        on.link.measures_itself(on.root.file)
    }),
    way(("configures-anew", RUST, "it configures the program anew"), of_file, |on| on.link.configures_anew(on.root)),
    way(("author-says-so", RUST, "a comment says that it is meant to block"), of_file, |on| on.link.is_meant(on.ways)),
    way(("renewal", RUST, "it renews what is too old"), of_file, |on| {
        on.ways.iter().any(|way| on.link.is_renewal(way.site))
    }),
    way(("for-show", JAVA, "it belongs to a program that shows or measures something"), of_any, |on| {
        folder::is_for_show(&on.link.program.files[on.root.file.index()].relative)
    }),
    way(("host-that-is-known", JAVA, "the host is an address, or known to the program"), of_any, |on| {
        on.link.asks_for_known_host(on.ways)
    }),
    way(("after-a-failure-alone", JAVA, "it runs only after something failed"), of_any, |on| {
        on.link.runs_after_failure_alone(on.ways, on.label.effect)
    }),
    way(("after-a-failed-bind", JAVA, "it runs only where a server could not start"), of_any, |on| {
        on.link.follows_failed_bind(on.root, on.ways)
    }),
    way(("called-by-replaced-methods", JAVA, "only methods that derived classes replace call it"), of_any, |on| {
        on.link.is_called_by_replaced_alone(on.root)
    }),
    way(("shown-on-purpose", JAVA, "it shows how a thread is held, as its name says"), of_any, |on| {
        on.link.is_shown_on_purpose(on.root, on.ways, on.label.effect)
    }),
    way(("little-of-a-timer", JAVA, "a timer reads one file"), of_any, |on| {
        on.link.is_little_of_timer(on.root, on.label.effect)
    }),
    way(("of-another-program", JAVA, "the own module has another implementation"), of_any, |on| {
        on.link.is_of_another_program(on.root, on.ways, &|way| on.entered(way))
    }),
    way(("computing-pool", JAVA, "it computes on a pool that is there for that"), of_any, |on| {
        on.label.effect == Effect::Cpu && on.kind.kind == RootKind::Computing
    }),
    way(("value-is-there", JAVA, "what it waits for has its value already"), of_any, |on| {
        on.label.effect == Effect::NestedLoop && on.leaf_site().is_some_and(|site| on.link.waits_for_complete(site))
    }),
    // Doubts about the whole way.
    way_doubt(("modules-that-never-meet", JAVA, "no program is built of all modules on the way"), of_any, |on| {
        let leaves = |ways: &[crate::graph::Way]| ways[0].shared && !on.link.may_meet(on.root.file, ways[1].site.file);
        steps(on.ways.windows(2).any(leaves), LOW_STEPS)
    }),
    way_doubt(
        ("leaves-the-rest-undone", ALL, "the implementation does not do the rest that is asked of it"),
        of_any,
        |on| {
            let undone = on.ways.first().filter(|way| way.shared).and_then(|way| Some((way.site, on.entered(way)?)));
            steps(undone.is_some_and(|(site, entered)| on.link.is_undone_besides(site, entered)), LOW_STEPS)
        },
    ),
    way_doubt(("another-object", JAVA, "the object on the way is another one"), of_felt, |on| {
        steps(on.link.is_of_another_object(on.ways, &|way| on.entered(way)), LOW_STEPS)
    }),
    way_doubt(("installed-by-nobody", JAVA, "nobody installs the handler"), of_felt, |on| {
        steps(on.link.is_installed_by_nobody(on.root), LOW_STEPS)
    }),
    way_doubt(("own-channel", JAVA, "it waits for the channel that it closed"), of_felt, |on| {
        steps(on.link.waits_for_own_channel(on.ways, &|way| on.entered(way)), LOW_STEPS)
    }),
    way_doubt(("relative-address", JAVA, "the address has no host to look up"), of_felt, |on| {
        steps(on.link.asks_for_relative_address(on.ways, &|way| on.entered(way)), LOW_STEPS)
    }),
    way_doubt(("value-may-be-there", JAVA, "what it waits for may have its value already"), of_nested_loop, |on| {
        steps(on.leaf_site().is_some_and(|site| on.link.may_wait_for_complete(site)), TWO)
    }),
    elsewhere((named::UNSERVED, JAVA, "nothing that runs on a loop is seen to lead there"), Makes::LessSure),
    elsewhere((named::NONE_CALLS_IT_SO, PYTHON, "every call in the project rules it out"), Makes::LessSure),
    elsewhere((named::TWO_OF_ONE_KIND, PYTHON, "two doubts on the way are of one kind"), Makes::LessSure),
    elsewhere((named::LONG_WAY, ALL, "the way is long"), Makes::LessSure),
    // Worse than the row says.
    elsewhere(
        (named::MADE_PER_REQUEST, &[Language::Python, Language::Rust], "it is read to make an object, on each request"),
        Makes::Warning,
    ),
    // Beside other findings.
    elsewhere((named::SAID_ALREADY, ALL, "the call is reported for something worse"), Makes::Note),
    elsewhere(
        (
            named::SHORT_BESIDE_LONGER,
            &[Language::Python, Language::Rust],
            "the function is reported for what takes longer",
        ),
        Makes::Note,
    ),
    elsewhere((named::FAILS_BESIDES, PYTHON, "its cause is shown where nothing failed"), Makes::Note),
];

fn of_any(_: &Label, _: &crate::graph::Way) -> bool {
    true
}

fn of_felt(label: &Label, _: &crate::graph::Way) -> bool {
    is_felt(label)
}

fn of_file(label: &Label, _: &crate::graph::Way) -> bool {
    label.effect == Effect::File
}

fn of_wait(label: &Label, _: &crate::graph::Way) -> bool {
    matches!(label.effect, Effect::Wait | Effect::Sleep)
}

fn of_input(label: &Label, _: &crate::graph::Way) -> bool {
    label.effect == Effect::Input
}

fn of_database(label: &Label, _: &crate::graph::Way) -> bool {
    label.effect == Effect::Database
}

fn of_kept(label: &Label, _: &crate::graph::Way) -> bool {
    matches!(label.effect, Effect::Database | Effect::Cpu | Effect::File)
}

fn of_nested_loop(label: &Label, _: &crate::graph::Way) -> bool {
    label.effect == Effect::NestedLoop
}
