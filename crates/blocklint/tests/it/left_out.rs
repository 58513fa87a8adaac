//! Panics and stalls in the analysis of a function: the function is left out and reported once, and the rest is
//! analysed.

use std::time::{Duration, Instant};

use crate::support::{Project, Run};

const APP: &str = "\
import time

import helpers


async def first():
    time.sleep(1)


async def second():
    helpers.pause()


async def third():
    helpers.wait()
";

const HELPERS: &str = "\
import time


def pause():
    time.sleep(2)


def wait():
    time.sleep(3)
";

fn shop() -> Project {
    Project::new(&[("app.py", APP), ("helpers.py", HELPERS)])
}

/// Runs `check` with a fault in a function.
fn check(project: &Project, fault: &str, more: &[&str]) -> Run {
    let options = ["check", "--no-cache", "--output-format", "concise", "--inject-fault", fault];
    project.run(&[&options[..], more].concat())
}

/// Returns the lines of `app.py` with findings other than BLT902.
fn found(run: &Run) -> Vec<&str> {
    let of_app = run.out.lines().filter_map(|line| line.strip_prefix("app.py:"));
    of_app.filter(|line| !line.contains("BLT902")).filter_map(|line| line.split(':').next()).collect()
}

#[test]
fn a_panic_leaves_out_one_function_and_is_reported_once() {
    let project = shop();
    let whole = project.run(&["check", "--no-cache", "--output-format", "concise"]);
    assert_eq!(found(&whole), ["7", "11", "15"], "{}", whole.out);
    let run = check(&project, "panic:first", &[]);
    assert_eq!(found(&run), ["11", "15"], "{}", run.out);
    assert_eq!(run.code, Some(1), "{}", run.err);
    let told = "app.py:6:11: BLT902 `app.first` was left out: analysing it failed inside blocklint: a fault that a test asked for";
    assert!(run.out.contains(told), "{}", run.out);
    let lines: Vec<&str> = run.err.lines().collect();
    let [head, place, report] = lines[..] else { panic!("{}", run.err) };
    assert_eq!(head, "warning: blocklint failed in 1 part of the analysis and left it out; all else was analysed");
    assert!(place.starts_with("  app.py:6: `app.first`: a fault that a test asked for ("), "{place}");
    assert!(place.contains("work.rs:"), "{place}");
    assert!(report.starts_with("  Please report these lines, with the code if you can: blocklint 0."), "{report}");
}

#[test]
fn a_helper_that_fails_takes_its_paths_with_it_and_no_others() {
    let run = check(&shop(), "panic:pause", &[]);
    assert_eq!(found(&run), ["7", "15"], "{}", run.out);
    assert!(run.out.contains("helpers.py:4:5: BLT902 `helpers.pause` was left out"), "{}", run.out);
}

#[test]
fn a_function_that_takes_too_long_is_given_up() {
    let begun = Instant::now();
    let run = check(&shop(), "stall:second", &["--patience", "0.2"]);
    assert!(begun.elapsed() < Duration::from_secs(9), "{:?}", begun.elapsed());
    assert_eq!(found(&run), ["7", "15"], "{}", run.out);
    let told = "`app.second` was left out: analysing it took longer than 0.2 s";
    assert!(run.out.contains(told), "{}", run.out);
    assert!(run.err.contains("  app.py:10: `app.second`: it took longer than 0.2 s\n"), "{}", run.err);
}

#[test]
fn only_strict_runs_fail_for_it() {
    let project = Project::new(&[("helpers.py", HELPERS)]);
    assert_eq!(check(&project, "panic:pause", &[]).code, Some(0));
    assert_eq!(check(&project, "panic:pause", &["--strict"]).code, Some(2));
    assert_eq!(check(&project, "panic:none", &["--strict"]).code, Some(0));
    let findings = shop();
    assert_eq!(check(&findings, "panic:pause", &["--strict"]).code, Some(2));
    assert_eq!(check(&findings, "panic:none", &["--strict"]).code, Some(1));
    project.write("broken.py", "def broken(:\n");
    assert_eq!(check(&project, "panic:none", &[]).code, Some(0));
    assert_eq!(check(&project, "panic:none", &["--strict"]).code, Some(2), "a file was not read");
}

#[test]
fn a_run_fails_if_every_function_fails() {
    let functions: String = (0..40).map(|at| format!("async def same_{at}():\n    time.sleep(1)\n\n\n")).collect();
    let project = Project::new(&[("app.py", &format!("import time\n\n\n{functions}"))]);
    let few = check(&project, "panic:same_7", &[]);
    assert_eq!((few.code, found(&few).len()), (Some(1), 39), "{}", few.err);
    let nested: String =
        (0..40).map(|at| format!("class C{at}:\n    async def go(self):\n        time.sleep(1)\n\n\n")).collect();
    project.write("app.py", &format!("import time\n\n\n{nested}"));
    let run = check(&project, "panic:go", &[]);
    assert_eq!(run.code, Some(2), "{}", run.out);
    assert!(run.err.contains("nothing could be analysed: a fault that a test asked for"), "{}", run.err);
    assert!(run.err.contains("please report it"), "{}", run.err);
}

#[test]
fn the_next_run_tries_again() {
    let project = shop();
    let concise = |more: &[&str]| project.run(&[&["check", "--output-format", "concise"][..], more].concat());
    let faulty = ["--inject-fault", "panic:first"];
    assert_eq!(found(&concise(&faulty)), ["11", "15"]);
    // The first run uses cached facts, and the second reads the files again.
    let again = concise(&faulty);
    assert_eq!(found(&again), ["11", "15"], "{}", again.out);
    assert!(again.err.contains("app.first"), "{}", again.err);
    assert_eq!(found(&concise(&[])), ["7", "11", "15"]);
}

#[test]
fn other_commands_go_on_without_it() {
    let project = shop();
    let why = project.run(&["why", "app.py:11", "--inject-fault", "panic:first"]);
    assert_eq!(why.code, Some(0), "{}", why.err);
    assert!(why.out.contains("pause") && why.err.contains("`app.first`: a fault"), "{}{}", why.out, why.err);
    let plan = project.run(&["plan", "--no-cache", "--inject-fault", "panic:first"]);
    assert_eq!(plan.code, Some(0), "{}", plan.err);
    assert!(plan.out.contains("helpers") && plan.err.contains("`app.first`: a fault"), "{}{}", plan.out, plan.err);
    let diff = check(&project, "panic:first", &["--diff", "--unsafe-fixes"]);
    assert_eq!(diff.code, Some(1), "{}", diff.err);
    assert!(
        diff.out.contains("asyncio.to_thread") && diff.err.contains("`app.first`: a fault"),
        "{}{}",
        diff.out,
        diff.err
    );
    assert!(!diff.out.contains("asyncio.sleep"), "{}", diff.out);
    let fixed = check(&project, "panic:second", &["--fix"]);
    assert_eq!(
        fixed.err.matches("was left out").count() + fixed.err.matches("left it out").count(),
        1,
        "{}",
        fixed.err
    );
    assert!(project.read("app.py").contains("async def second():\n    helpers.pause()"), "{}", project.read("app.py"));
}

#[test]
fn a_comment_in_code_that_was_left_out_is_not_called_unused() {
    let app = APP.replace("    time.sleep(1)\n", "    time.sleep(1)  # blocklint: ignore[blocking-sleep]\n");
    let project = Project::new(&[("app.py", &app), ("helpers.py", HELPERS)]);
    let run = check(&project, "panic:first", &["--min-severity", "note", "--extend-select", "BLT901"]);
    assert!(!run.out.contains("BLT901"), "{}", run.out);
}

#[test]
fn a_baseline_loses_nothing_to_a_failure() {
    let project = shop();
    assert_eq!(project.run(&["baseline", "create", "--no-cache"]).code, Some(0));
    let before = project.read("blocklint-baseline.json");
    let run = project.run(&["baseline", "prune", "--no-cache", "--inject-fault", "panic:first"]);
    assert_eq!(run.code, Some(2), "{}", run.out);
    assert!(run.err.contains("nothing is removed"), "{}", run.err);
    assert_eq!(project.read("blocklint-baseline.json"), before);
    let strict = check(&project, "panic:first", &["--strict-baseline"]);
    assert_eq!(strict.code, Some(0), "{}{}", strict.out, strict.err);
}
