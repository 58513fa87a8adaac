//! Runs the documents and annotated directories of this repository, one test each section.
//!
//! `cargo test --workspace --test fixtures -- names` runs those whose name holds `names`; `UPDATE=1` rewrites the
//! blocks that documents pin, `KEEP=1` keeps the folders of the projects and prints their paths,
//! `ASK_FIRST=1` demands equal findings in three random orders of questions, and `PROJECTS=FOLDER:FOLDER` demands this of real projects instead.

use std::io::{self, Write};
use std::process::ExitCode;
use std::{env, fs};

use blocklint_core::{Confidence, Severity};
use blocklint_test::{
    Keep, Options, Project, demand_equal_findings, engine, parse_document, read_directory, run, update_pinned,
};
use camino::{Utf8Path, Utf8PathBuf};
use libtest_mimic::{Arguments, Failed, Trial};

/// The maximum memory of all trials together, in MiB; on two cores they need 60.
const MOST_MEMORY: u64 = 1500;

/// The seeds of random orders of questions.
const SEEDS: [u64; 3] = [1, 2, 3];

/// The switches of a run, from the environment.
#[derive(Clone, Copy)]
struct Switches {
    /// Rewrites pinned blocks of documents (`UPDATE=1`).
    update: bool,
    /// Keeps the folders of projects and prints their paths (`KEEP=1`).
    keep: bool,
    /// Each project is checked in three random orders of questions, too.
    ask_first: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let repository = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let is_set = |name| env::var(name).is_ok_and(|value| value == "1");
    let switches = Switches { update: is_set("UPDATE"), keep: is_set("KEEP"), ask_first: is_set("ASK_FIRST") };
    let trials = match env::var("PROJECTS") {
        Ok(folders) => Ok(folders.split(':').map(|folder| order_trial(folder.into())).collect()),
        Err(_) => collect(&repository, switches),
    };
    let is_small = env::var("PROJECTS").is_err();
    let trials = match trials {
        Ok(trials) => trials,
        // A folder that cannot be listed is a failure, and not a folder without tests.
        Err(error) => vec![Trial::test("documents", move || Err(Failed::from(error)))],
    };
    let conclusion = libtest_mimic::run(&arguments, trials);
    if let Some(held) = most_memory().filter(|held| is_small && *held > MOST_MEMORY) {
        let told = "a trial does not give its memory back";
        let _ = writeln!(io::stderr(), "the trials held {held} MiB, more than {MOST_MEMORY}: {told}");
        return ExitCode::FAILURE;
    }
    conclusion.exit_code()
}

/// Returns the peak memory of this process in MiB; `None` on systems other than Linux.
fn most_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let held = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = held.trim().trim_end_matches(" kB").parse().ok()?;
    Some(kib / 1024)
}

fn collect(repository: &Utf8Path, switches: Switches) -> Result<Vec<Trial>, String> {
    let mut trials = Vec::new();
    let fixtures = repository.join("tests/fixtures");
    let mut documents = Vec::new();
    list_documents(&fixtures, &mut documents)?;
    let pages = repository.join("rules");
    if pages.is_dir() {
        documents.extend(entries(&pages)?.into_iter().filter(|path| is_document(path) && is_page(path)));
    }
    for path in documents {
        let name = path.strip_prefix(&fixtures).or_else(|_| path.strip_prefix(repository)).unwrap_or(&path);
        let text = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        let document = parse_document(name, &text);
        let problems: Vec<String> = document.problems.iter().map(ToString::to_string).collect();
        trials.push(Trial::test(name.to_string(), move || match problems.is_empty() {
            true => Ok(()),
            false => Err(Failed::from(problems.join("\n"))),
        }));
        trials.extend(document.projects.into_iter().map(|project| trial(project, Some(path.clone()), switches)));
    }
    for folder in entries(&fixtures.join("projects"))? {
        let name = folder.strip_prefix(&fixtures).unwrap_or(&folder);
        let project = read_directory(&folder, name).map_err(|error| format!("{folder}: {error}"))?;
        trials.push(trial(project, None, switches));
    }
    Ok(trials)
}

fn trial(project: Project, document: Option<Utf8PathBuf>, switches: Switches) -> Trial {
    Trial::test(project.name.clone(), move || {
        let print = |folder: &Utf8Path| {
            let _ = writeln!(io::stderr(), "{} is kept in {folder}", project.name);
        };
        let keep: Option<Keep<'_>> = if switches.keep { Some(&print) } else { None };
        let changed =
            run(&project, engine(), keep, if switches.ask_first { &SEEDS } else { &[] }).map_err(Failed::from)?;
        let Some(file) = &document else { return Ok(()) };
        for (pin, rendered) in changed {
            update_pinned(&project, pin, &rendered, file, switches.update).map_err(Failed::from)?;
        }
        Ok(())
    })
}

/// Demands that the findings of a real project at all levels are equal in random orders of questions.
fn order_trial(folder: Utf8PathBuf) -> Trial {
    Trial::test(folder.to_string(), move || {
        let Some(check) = engine() else { return Ok(()) };
        let options = Options { min_severity: Severity::Note, min_confidence: Confidence::Low, ..Options::default() };
        let root = folder.canonicalize_utf8()?;
        let usual = check.check(&root, &options)?;
        Ok(demand_equal_findings(check, &root, &options, &usual, &SEEDS)?)
    })
}

fn is_document(path: &Utf8Path) -> bool {
    path.extension() == Some("md")
}

/// True for the page of a rule (`rules/BLT101-….md`); `rules/` can have other files.
fn is_page(path: &Utf8Path) -> bool {
    path.file_name().is_some_and(|name| name.starts_with("BLT"))
}

fn list_documents(folder: &Utf8Path, documents: &mut Vec<Utf8PathBuf>) -> Result<(), String> {
    for path in entries(folder)? {
        if path.is_dir() && path.file_name() != Some("projects") {
            list_documents(&path, documents)?;
        } else if is_document(&path) {
            documents.push(path);
        }
    }
    Ok(())
}

/// Returns the entries of a folder, by name.
fn entries(folder: &Utf8Path) -> Result<Vec<Utf8PathBuf>, String> {
    let read = || -> std::io::Result<Vec<Utf8PathBuf>> {
        let entries: Result<Vec<_>, _> = folder.read_dir_utf8()?.collect();
        Ok(entries?.into_iter().map(|entry| entry.into_path()).collect())
    };
    let mut paths = read().map_err(|error| format!("{folder}: {error}"))?;
    paths.sort();
    Ok(paths)
}
