//! Keeps the table of kinds of work in the documentation current: `UPDATE=1 cargo test --workspace --test it
//! severity::`.

use std::fmt::Write;

use blocklint_models::{ReachPoints, SeverityTable};

use crate::pages::assert_current;
use crate::support::Project;

#[test]
fn the_page_is_current() {
    assert_current("severity.md", &page(), "severity");
}

#[test]
fn the_command_shows_every_kind() {
    let shown = Project::new(&[]).run(&["rule", "--severity"]).out;
    for (work, line) in SeverityTable::default().lines() {
        let row = format!("| `{}` | {} | {} |", work.name(), line.severity, line.points);
        assert!(shown.contains(&row), "{row} is missing:\n{shown}");
    }
}

#[test]
fn a_line_of_the_configuration_wins() {
    let project = Project::new(&[("a.py", "import os\n\n\nasync def remove():\n    os.remove(\"a\")\n")]);
    let check = |configuration: &str| {
        project.write("blocklint.toml", configuration);
        project.run(&["check", "--no-cache", "--min-severity", "note", "--output-format", "json", "."])
    };
    assert!(check("").out.contains(r#""severity": "note""#), "{}", check("").out);
    let own = check("[severity]\nfile-entry = \"error\"\n");
    assert!(own.out.contains(r#""severity": "error""#), "{}", own.out);
    let wrong = check("[severity]\nfile-entri = \"error\"\n");
    assert!(
        wrong
            .err
            .contains("blocklint.toml:2: severity: `file-entri` is not a kind of work; did you mean `file-entry`?"),
        "{}",
        wrong.err
    );
}

#[test]
fn a_run_fails_only_on_findings_that_are_bad_enough() {
    let source = "import time\n\n\nasync def handler(path):\n    path = open(path)\n    return path.read()\n";
    let project = Project::new(&[("a.py", source)]);
    let run = |arguments: &[&str]| project.run(&[&["check", "--no-cache", "."], arguments].concat());
    let all = run(&[]);
    assert!(all.code == Some(1) && all.out.contains("warning[BLT104]"), "{}", all.out);
    let bad = run(&["--fail-on", "error"]);
    assert_eq!((bad.code, bad.out), (Some(0), all.out), "all is shown, and nothing is bad enough");
    assert_eq!(run(&["--fail-on", "warning"]).code, Some(1));
    project.write("b.py", "import time\n\n\nasync def handler():\n    time.sleep(1)\n");
    assert_eq!(run(&["--fail-on", "error"]).code, Some(1));
}

#[test]
fn where_nothing_else_was_found_notes_are_listed_and_count_for_nothing() {
    let source = "import os\n\n\nasync def remove(path):\n    os.remove(path)\n";
    let project = Project::new(&[("a.py", source)]);
    let run = project.run(&["check", "--no-cache", "."]);
    assert_eq!(run.code, Some(0));
    assert!(run.out.starts_with("No findings"), "{}", run.out);
    assert!(
        run.out.contains("Minor, seldom worth an edit (1 note):\n   a.py:5:5: note[BLT104] blocking file access"),
        "{}",
        run.out
    );
    project.write("b.py", "import time\n\n\nasync def handler():\n    time.sleep(1)\n");
    assert!(!project.run(&["check", "--no-cache", "."]).out.contains("Minor"), "a finding says enough");
}

/// Returns the section about the points of the code that waits for a call.
fn who_waits() -> String {
    let ReachPoints { functions, serving, outside_serving } = ReachPoints::builtin();
    let numbers = functions.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    format!(
        "\n## Who waits\n\nA cause has the points of its kind of work, and these besides:\n\n\
         | the code that waits for the call | points |\n| --- | ---: |\n\
         | {numbers} functions that must not block, or more: for each of these numbers | +1 |\n\
         | requests or messages reach it | {serving:+} |\n\
         | only the start, the end or a reload of the program, commands, or the handling of an error reach it | {outside_serving:+} |\n\n\
         Timers, tasks and code whose callers are not known change nothing. The points were checked with 355 findings of 46 projects that readers\n\
         judged: of two findings in one project, of which one was worth acting on, that one comes first in 66 % of the pairs; without these points\n\
         it did in 58 %.\n"
    )
}

fn page() -> String {
    let mut text = "# Severity\n\n\
        How bad a finding is follows from the kind of work of the call at its end: `file-entry` (`stat`, `mkdir`, `rename`) takes a hundredth of\n\
        a millisecond, `network-request` as long as the other end pleases. Rows of [models](teach.md) state `effect` and `kind`; this table\n\
        says how bad each kind is while the program serves. What the code shows then lowers it: a bound on a wait, a short SQL statement, a time\n\
        at which nothing is served ([signals](signals.md)). A row with a severity of its own keeps it.\n\n\
        `points` order findings of one severity. Readers judged findings of 203 projects: for entries, whole and opened files, walks, copies,\n\
        archives, embedded databases, servers, mappers, pools, network, images, hashes and processes the points are the tenths that they found\n\
        worth acting on. The other kinds are estimated. `takes` is the time of one call where it was measured ([below](#measured)).\n\n\
        A project sets lines of its own, see [`severity`](configuration.md#severity):\n\n\
        ```toml\n[tool.blocklint.severity]\nfile-entry = \"warning\"\n```\n\n\
        Made from `rules/severity.toml` by a test. `blocklint rule --severity` shows the same table.\n"
        .to_owned();
    let lines: Vec<_> = SeverityTable::default().lines().collect();
    text += "\n| kind | what it is | severity | points | takes |\n| --- | --- | --- | ---: | ---: |\n";
    for (work, line) in lines {
        let takes = line.duration.map_or(String::new(), |takes| takes.to_string());
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} | {takes} |",
            work.name(),
            SeverityTable::description(work),
            line.severity,
            line.points
        );
    }
    text += &who_waits();
    text += "\n## Measured\n\nOrders of magnitude, by `benchmarks/takes` on one machine with a warm cache:\n\n";
    text += include_str!("severity/measured.md");
    text
}
