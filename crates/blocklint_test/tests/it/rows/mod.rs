//! Tests every row of the built-in models with generated source: names resolve, and each call has the effect of its
//! row.

#![expect(clippy::print_stdout, reason = "`--nocapture` tells which rows no line uses, and why")]

mod calls;
mod draft;
mod handovers;
mod java;
mod python;
mod rows_of;
mod rust;
mod types;
mod uses;

use std::collections::{BTreeMap, BTreeSet};

use blocklint_core::Language;
use blocklint_models::{
    Argument, CallRow, Condition, File, LanguageModels, Role, Selector, Subject, Test, TypeExpr, Via, separator,
};
use draft::Reason;
use python::{Wish, World};
use uses::{Difference, Expected, RowPath, Use, differences};

/// Calls without the effect of their row (known gaps).
const KNOWN_CALLS: &[&str] = &[
    // A name with two underscores at both ends is treated as an attribute of the module.
    "builtins.__import__",
    // A `for` over an object whose `__iter__` is brief does not count as a loop around it.
    "tempfile.SpooledTemporaryFile.__iter__",
    // Iteration over an object of a module whose type has no name is not followed.
    "sys.stdin.__next__",
    "sys.stdin.buffer.__next__",
];

/// Calls whose path is not resolved (known gaps).
const KNOWN_NAMES: &[&str] = &[
    "builtins.__import__",
    // These calls have the effect of iterating over their argument, which is missing here.
    "builtins.list",
    "builtins.sorted",
    "builtins.set",
    "builtins.frozenset",
    "builtins.next",
    "builtins.min",
    "builtins.max",
    "builtins.tuple",
    "builtins.dict",
    "builtins.sum",
    "builtins.any",
    "builtins.all",
    "builtins.bytearray",
    // A row with `wraps` returns the function it wraps, not the type of `returns`.
    "asgiref.sync.<wrapped>.__call__",
    // `async for` over an object of a library resolves no method.
    "asyncio.StreamReader.__anext__",
    "aiocsv.AsyncReader.__anext__",
    "aiocsv.AsyncDictReader.__anext__",
    "aiofiles.<file>.__anext__",
    "tenacity.AsyncRetrying.__anext__",
    // Iteration over an object of a module whose type has no name is not followed.
    "sys.stdin.__next__",
    "sys.stdin.buffer.__next__",
];

/// Twins with a finding (known gaps).
const KNOWN_TWINS: &[&str] = &[];

/// Callables that do not run on the thread of their row (known gaps).
const KNOWN_HANDOVERS: &[&str] = &[
    // The uses in a file share their callable, which one registers for start-up and others for serving.
    "fastapi.FastAPI",
    "fastapi.APIRouter",
    "fastapi.APIRouter.add_event_handler",
    "aiohttp.web.<startup>.append",
    "aiohttp.web.<cleanup>.append",
    "starlette.applications.Starlette",
    "starlette.routing.Router",
    "starlette.applications.Starlette.add_event_handler",
    "starlette.routing.Router.add_event_handler",
    "twisted.internet.reactor.callWhenRunning",
    "twisted.internet.interfaces.IReactorCore.callWhenRunning",
];

/// Callables whose row is not found (known gaps).
const KNOWN_REGISTRATIONS: &[&str] = &[];

/// Types that are not inferred (known gaps).
const KNOWN_TYPES: &[&str] = &[
    // As in `KNOWN_NAMES`.
    "anyio.Path.__rtruediv__",
    "pathlib.PurePath.__rtruediv__",
    "trio.Path.__rtruediv__",
    "asgiref.sync.<wrapped>",
    "asgiref.sync.sync_to_async",
    "asgiref.sync.SyncToAsync",
    "asgiref.sync.<wrapped>.__call__",
    // The constructor of such a value passes on its argument, which is missing here.
    "sqlalchemy.orm.sessionmaker.<begin>",
    // The index decides which of its rows matches.
    "django.db.models.QuerySet.__getitem__",
    "tortoise.Model.<one>",
];

/// Aliases that are not resolved (known gaps).
const KNOWN_ALIASES: &[&str] = &[];

/// Java calls without the effect of their row (known gaps).
const KNOWN_JAVA: &[&str] = &[];

/// Fails on every difference that is not in `known`, and on every path in `known` without a difference.
fn check_known_gaps(what: &str, different: &[Difference], known: &[&str]) {
    let unknown: Vec<&str> = different.iter().filter(|d| !known.contains(&&*d.path)).map(|d| &*d.text).collect();
    assert!(unknown.is_empty(), "{} of {what} differ:\n{}", unknown.len(), unknown.join("\n"));
    let gone: Vec<&&str> = known.iter().filter(|path| !different.iter().any(|d| d.path == ***path)).collect();
    assert!(gone.is_empty(), "these are right now; drop them from the list of what is known: {gone:?}");
}

/// Prints the rows without a use, by reason.
fn print_skipped(what: &str, skipped: &[(RowPath, Reason)]) {
    let mut by_reason: BTreeMap<Reason, BTreeSet<&RowPath>> = BTreeMap::new();
    for (row_path, reason) in skipped {
        by_reason.entry(reason).or_default().insert(row_path);
    }
    for (reason, rows) in by_reason {
        println!("{what}: {} not used: {reason}", rows.len());
        rows.iter().for_each(|row_path| println!("    {row_path}"));
    }
}

#[test]
fn python_calls_do_what_their_rows_say() {
    let files = rows_of::read(&[]);
    let python: Vec<&File> = rows_of::files_of_language(&files, Language::Python).collect();
    let models = rows_of::models(&files);
    let world = World::new(models.lang(Language::Python), &python);
    let mut number = 0;
    let mut all = calls::Uses::default();
    for file in &python {
        for entry in &file.calls {
            for path in &entry.paths {
                let row_path = RowPath { label: file.info.label.clone(), line: entry.line, path: path.text.clone() };
                all.add(calls::uses(&world, &row_path, &entry.row, &mut number));
            }
        }
    }
    print_skipped("Python calls", &all.skipped);
    let what = format!("{} calls", all.effect_uses.len() + all.path_uses.len());
    check_known_gaps(&what, &differences(&all.effect_uses, Language::Python, &models), KNOWN_CALLS);
    let sleeping = rows_of::models(&rows_of::all_calls_sleep(&files));
    check_known_gaps(&what, &differences(&all.path_uses, Language::Python, &sleeping), KNOWN_NAMES);
}

/// Async twins have no findings.
#[test]
fn python_twins_are_silent() {
    let files = rows_of::read(&[]);
    let python: Vec<&File> = rows_of::files_of_language(&files, Language::Python).collect();
    let models = rows_of::models(&files);
    let world = World::new(models.lang(Language::Python), &python);
    let mut number = 0;
    let (mut uses, mut skipped) = (Vec::new(), Vec::new());
    for file in &python {
        for entry in &file.calls {
            for path in &entry.paths {
                let row_path = RowPath { label: file.info.label.clone(), line: entry.line, path: path.text.clone() };
                for twin in calls::twins(&world, &row_path, &entry.row, &mut number) {
                    match twin {
                        Ok(made) => uses.push(made),
                        Err(reason) => skipped.push((row_path.clone(), reason)),
                    }
                }
            }
        }
    }
    print_skipped("Python twins", &skipped);
    assert!(uses.len() > 1000, "only {} twins are called", uses.len());
    check_known_gaps(&format!("{} twins", uses.len()), &differences(&uses, Language::Python, &models), KNOWN_TWINS);
}

/// Aliases have the rows of their target.
#[test]
fn python_aliases_lead_to_their_rows() {
    let files = rows_of::read(&[]);
    let python: Vec<&File> = rows_of::files_of_language(&files, Language::Python).collect();
    let models = rows_of::models(&files);
    let world = World::new(models.lang(Language::Python), &python);
    let rows: Vec<(&str, &CallRow)> = python
        .iter()
        .flat_map(|file| &file.calls)
        .flat_map(|entry| entry.paths.iter().map(|path| (&*path.text, &entry.row)))
        .collect();
    let (mut number, mut uses, mut skipped) = (0, Vec::new(), Vec::new());
    for file in &python {
        for (spelling, target, line) in &file.aliases {
            let row_path = RowPath { label: file.info.label.clone(), line: *line, path: spelling.clone() };
            // The row of the path itself, else the first row below it.
            let row = rows.iter().find(|(path, _)| path == target).or_else(|| {
                let plain = |rest: &str| !rest.contains(['<', '*', '_']);
                rows.iter().find(|(path, _)| {
                    path.strip_prefix(&**target).and_then(|rest| rest.strip_prefix('.')).is_some_and(plain)
                })
            });
            let Some((path, row)) = row else {
                skipped.push((row_path, "no row lies below it"));
                continue;
            };
            let below = path.strip_prefix(&**target).unwrap_or_default();
            let mut draft = draft::Draft::default();
            number += 1;
            match world.call(&mut draft, &format!("{spelling}{below}"), row.property, &Wish::default(), world.depth()) {
                Ok(made) => {
                    draft.line(made.statement());
                    let call = (*path).to_owned();
                    let expected = Expected::Found { rule: "BLT101", severity: None, hold: None, call };
                    uses.push(draft.finish(&row_path, number, expected));
                }
                Err(reason) => skipped.push((row_path, reason)),
            }
        }
    }
    print_skipped("Python aliases", &skipped);
    let sleeping = rows_of::models(&rows_of::all_calls_sleep(&files));
    check_known_gaps(
        &format!("{} aliases", uses.len()),
        &differences(&uses, Language::Python, &sleeping),
        KNOWN_ALIASES,
    );
}

#[test]
fn python_handovers_run_where_their_rows_say() {
    let files = rows_of::read(&[]);
    let python: Vec<&File> = rows_of::files_of_language(&files, Language::Python).collect();
    let models = rows_of::models(&files);
    let world = World::new(models.lang(Language::Python), &python);
    let mut number = 0;
    let mut all = calls::Uses::default();
    for file in &python {
        for entry in &file.handovers {
            for path in &entry.paths {
                let row_path = RowPath { label: file.info.label.clone(), line: entry.line, path: path.text.clone() };
                all.add(handovers::uses(&world, &row_path, &entry.row, &mut number));
            }
        }
    }
    print_skipped("Python handovers", &all.skipped);
    let what = format!("{} handovers", all.effect_uses.len() + all.path_uses.len());
    check_known_gaps(&what, &differences(&all.effect_uses, Language::Python, &models), KNOWN_HANDOVERS);
    let running = rows_of::models(&rows_of::all_handovers_run(&files));
    check_known_gaps(&what, &differences(&all.path_uses, Language::Python, &running), KNOWN_REGISTRATIONS);
}

#[test]
fn python_types_are_what_their_rows_say() {
    let files = rows_of::read(&[]);
    let python: Vec<&File> = rows_of::files_of_language(&files, Language::Python).collect();
    let models = rows_of::models(&files);
    let world = World::new(models.lang(Language::Python), &python);
    let (mut number, mut probes) = (0, types::Probes::default());
    let mut all = calls::Uses::default();
    for file in &python {
        let row_path = |line, path: &blocklint_models::Path| RowPath {
            label: file.info.label.clone(),
            line,
            path: path.text.clone(),
        };
        for entry in &file.types {
            for path in &entry.paths {
                all.add(types::of_type(&world, &row_path(entry.line, path), &entry.row, &mut probes, &mut number));
            }
        }
        for entry in &file.calls {
            for path in &entry.paths {
                all.add(types::result_uses(&world, &row_path(entry.line, path), &entry.row, &mut probes, &mut number));
            }
        }
    }
    print_skipped("Python types", &all.skipped);
    let probed = rows_of::models(&rows_of::read(&[probes.model()]));
    check_known_gaps(
        &format!("{} types", all.effect_uses.len()),
        &differences(&all.effect_uses, Language::Python, &probed),
        KNOWN_TYPES,
    );
}

/// Checks that each row of Rust or Java is found by at least one kind of method call (one of them may not exist). The
/// number of rows that cannot be called, and of rows that are not found, is pinned and can only shrink.
fn check_rows_are_found(
    language: Language,
    pinned: [usize; 2],
    make: impl Fn(&RowPath, &CallRow, usize, usize) -> MadeUse,
) {
    let files = rows_of::read(&[]);
    let make = |row_path: &RowPath, row: &CallRow, way, number| {
        let call = shown_path(language, &row_path.path) + if row.via.is_some() { ".load" } else { "" };
        let expected = Expected::Found { rule: "BLT101", severity: None, hold: None, call };
        Ok(Use { expected, ..make(row_path, row, way, number)? })
    };
    let (mut number, mut skipped) = (0, Vec::new());
    let mut ways: [Vec<Use>; 2] = [Vec::new(), Vec::new()];
    let mut paths = BTreeSet::new();
    // An attribute is written above a function and not called.
    let attributes: BTreeSet<&str> = rows_of::files_of_language(&files, language)
        .flat_map(|file| &file.handovers)
        .filter(|entry| entry.row.selector == Selector::Via(Via::Decorator))
        .flat_map(|entry| entry.paths.iter().map(|path| &*path.text))
        .filter(|path| path.ends_with('!'))
        .collect();
    for file in rows_of::files_of_language(&files, language) {
        for entry in &file.calls {
            for path in entry.paths.iter().filter(|path| !attributes.contains(&*path.text)) {
                let row_path = RowPath { label: file.info.label.clone(), line: entry.line, path: path.text.clone() };
                if !paths.insert(row_path.path.clone()) {
                    continue;
                }
                for (way, uses) in ways.iter_mut().enumerate() {
                    number += 1;
                    match make(&row_path, &entry.row, way, number) {
                        Ok(made) => uses.push(made),
                        Err(reason) => skipped.push((row_path.clone(), reason)),
                    }
                }
            }
        }
    }
    let sleeping = rows_of::models(&rows_of::all_calls_sleep(&files));
    let used: BTreeSet<RowPath> = ways.iter().flatten().map(|one| one.row_path.clone()).collect();
    let [first, second] = ways.map(|uses| {
        let different = differences(&uses, language, &sleeping);
        let unparsed: Vec<&str> = different.iter().filter(|one| one.path.is_empty()).map(|one| &*one.text).collect();
        assert!(unparsed.is_empty(), "{}", unparsed.join("\n"));
        different.into_iter().map(|one| one.path).collect::<BTreeSet<_>>()
    });
    skipped.retain(|(row_path, _)| !used.contains(row_path));
    let neither: Vec<&String> = first.intersection(&second).collect();
    let what = language.as_str();
    print_skipped(what, &skipped);
    println!("{what}: of {} paths {} are found in neither way: {neither:#?}", paths.len(), neither.len());
    let unused: BTreeSet<&RowPath> = skipped.iter().map(|(row_path, _)| row_path).collect();
    let now = [unused.len(), neither.len()];
    assert_eq!(
        now, pinned,
        "rows that cannot be called, and that are not found: lower these numbers, never raise them"
    );
}

type MadeUse = Result<Use, Reason>;

/// Returns the path of a call as in a trace: in Java without parameter types, and with the written name for a glob; in
/// Rust with the type in place of a trait.
fn shown_path(language: Language, path: &str) -> String {
    if let Some((types, method)) = path.strip_prefix('<').and_then(|rest| rest.split_once(">::")) {
        return format!("{}::{method}", types.split(" as ").next().unwrap_or(types));
    }
    let path = path.split_once('(').map_or(path, |(path, _)| path);
    if language == Language::Java { java::sample_path(path) } else { path.to_owned() }
}

/// Checks that each row with an effect, and without conditions besides the receiver's type, has the effect in at least
/// one kind of call, and that rows without an effect have no finding in both.
fn check_effects(language: Language, known: &[&str], make: impl Fn(&RowPath, &CallRow, usize, usize) -> MadeUse) {
    let files = rows_of::read(&[]);
    let models = rows_of::models(&files);
    let lang = models.lang(language);
    let (mut number, mut skipped) = (0, Vec::new());
    let mut ways: [Vec<Use>; 2] = [Vec::new(), Vec::new()];
    let mut silent = Vec::new();
    for file in rows_of::files_of_language(&files, language) {
        for entry in file.calls.iter().filter(|entry| entry.row.has_effect_group()) {
            for path in &entry.paths {
                let row_path = RowPath { label: file.info.label.clone(), line: entry.line, path: path.text.clone() };
                let only_receiver = |condition: &Condition| {
                    let is_type = |test: &Test| matches!(test, Test::Type(_));
                    condition.subject == Subject::Argument(Argument::Receiver) && condition.tests.iter().all(is_type)
                };
                if entry.row.lazy || !entry.row.when.iter().all(only_receiver) {
                    skipped.push((row_path, "it is lazy or has conditions"));
                    continue;
                }
                let mut wish = Wish::default();
                let given = path.text.split_once('(').map_or(0, |(_, list)| list.split([',', ')']).count() - 1);
                if let Some(timeout @ Argument::Position(at)) = &entry.row.timeout
                    && usize::try_from(*at).is_ok_and(|at| at < given)
                {
                    wish.arguments.put(timeout, "unseen", false);
                }
                // A trace has the type of the receiver in place of that of the row.
                let shown = shown_path(language, &row_path.path);
                let member = shown.rsplit(separator(language)).next().unwrap_or(&shown).to_owned();
                // A method with an annotation has the path of a member of the annotation.
                let member = if entry.row.via.is_some() { "load".to_owned() } else { member };
                let of_shown = RowPath { path: member, ..row_path.clone() };
                let expected =
                    calls::expected_finding(&of_shown, &entry.row, &wish, is_lock(lang, &row_path.path), false, true);
                for (way, uses) in ways.iter_mut().enumerate() {
                    number += 1;
                    match make(&row_path, &entry.row, way, number) {
                        // Only the type of a receiver shows that it is a lock.
                        Ok(_) if way == 0 && is_lock(lang, &row_path.path) => {}
                        Ok(made) if matches!(expected, Expected::Silent { .. }) => {
                            silent.push(Use { expected: expected.clone(), ..made });
                        }
                        Ok(made) => uses.push(Use { expected: expected.clone(), ..made }),
                        Err(reason) => skipped.push((row_path.clone(), reason)),
                    }
                }
            }
        }
    }
    print_skipped(language.as_str(), &skipped);
    let rows: BTreeSet<String> = ways.iter().flatten().map(|one| one.row_path.to_string()).collect();
    let [first, second] = ways.map(|uses| {
        let called: BTreeSet<String> = uses.iter().map(|one| one.row_path.to_string()).collect();
        (called, differences(&uses, language, &models))
    });
    let right = |(called, different): &(BTreeSet<String>, Vec<Difference>), row: &String| {
        called.contains(row) && !different.iter().any(|one| one.row == *row)
    };
    let wrong: BTreeSet<&String> = rows.iter().filter(|row| !right(&first, row) && !right(&second, row)).collect();
    let all = first.1.iter().chain(&second.1);
    let mut different: Vec<Difference> = all.filter(|one| wrong.contains(&one.row)).cloned().collect();
    different.extend(differences(&silent, language, &models));
    check_known_gaps("calls", &different, known);
}

/// True if the receiver of a method is a lock, because acquiring a lock alone is no finding.
fn is_lock(lang: &LanguageModels, path: &str) -> bool {
    let path = shown_path(lang.language(), path);
    let owner = path.rsplit_once(separator(lang.language())).map_or("", |(owner, _)| owner);
    fn locks(lang: &LanguageModels, ty: &str) -> bool {
        lang.ty(ty).is_some_and(|rows| rows.role().is_some_and(Role::is_lock))
            || lang.bases(ty).iter().filter_map(TypeExpr::path).any(|base| locks(lang, base))
    }
    locks(lang, owner)
}

#[test]
fn rust_calls_do_what_their_rows_say() {
    let files = rows_of::read(&[]);
    let models = rows_of::models(&files);
    let make = |row_path: &RowPath, row: &CallRow, way: usize, number| {
        rust::call(
            models.lang(Language::Rust),
            &files,
            row_path,
            row,
            [rust::Way::Path, rust::Way::Method][way],
            number,
        )
    };
    check_rows_are_found(Language::Rust, [0, 0], make);
    check_effects(Language::Rust, &[], make);
}

#[test]
fn java_calls_do_what_their_rows_say() {
    let files = rows_of::read(&[]);
    let models = rows_of::models(&files);
    let make = |row_path: &RowPath, row: &CallRow, way: usize, number| {
        java::call(
            models.lang(Language::Java),
            &files,
            row_path,
            row,
            [java::Way::Static, java::Way::Instance][way],
            number,
        )
    };
    check_rows_are_found(Language::Java, [0, 0], make);
    check_effects(Language::Java, KNOWN_JAVA, make);
}
