//! `--evidence FILE`: findings that were seen while the program ran.

use crate::support::{Project, Run};

const STORE: &str =
    "import os\nimport time\n\ndef load():\n    time.sleep(3)\n\ndef look():\n    return os.stat('x')\n";
const APP: &str = "import time\nimport store\n\nasync def handler():\n    store.load()\n\nasync def brief():\n    store.look()\n\n\
                   async def other():\n    time.sleep(1)\n";

fn project() -> Project {
    Project::new(&[("store.py", STORE), ("app.py", APP)])
}

/// A recorded stall with this stack: files, lines and functions, outermost first.
fn recorded(seconds: f64, stack: &[(&str, u32, &str)]) -> String {
    let frames = stack
        .iter()
        .map(|(file, line, function)| serde_json::json!({ "file": file, "line": line, "function": function }))
        .collect::<Vec<_>>();
    let samples = serde_json::json!([{ "seconds": seconds, "stack": frames }]);
    let stall = serde_json::json!({ "seconds": seconds, "test": "tests/test_a.py::test_a", "samples": samples });
    serde_json::json!({ "blocklint_evidence": 1, "stalls": [stall] }).to_string()
}

fn check(project: &Project, evidence: &str, arguments: &[&str]) -> Run {
    project.write("evidence", evidence);
    project.run(&[&["check", "--evidence", "evidence"], arguments].concat())
}

/// Returns the lines of findings with their evidence.
fn seen(project: &Project, evidence: &str) -> Vec<(u64, String)> {
    let run = check(project, evidence, &["--output-format", "json"]);
    assert_eq!(run.err, "");
    let found: Vec<serde_json::Value> = serde_json::from_str(&run.out).expect("JSON");
    let row = |of: &serde_json::Value| of["location"]["row"].as_u64().expect("a row");
    found.iter().map(|of| (row(of), format!("{} {}", of["confirmed"]["of"], of["confirmed"]["seconds"]))).collect()
}

const NOT: &str = "null null";

fn all(handler: &str, other: &str) -> Vec<(u64, String)> {
    vec![(5, handler.to_owned()), (11, other.to_owned())]
}

#[test]
fn a_stack_confirms_the_findings_on_its_path() {
    let project = project();
    // The evidence is from another machine, with other folders.
    for (app, store) in [("/srv/app.py", "/srv/store.py"), ("app.py", "store.py"), ("C:\\x\\app.py", "C:\\x\\store.py")]
    {
        let evidence = recorded(1.5, &[(app, 5, "handler"), (store, 5, "load")]);
        assert_eq!(seen(&project, &evidence), all("\"call\" 1.5", NOT), "{app}");
    }
    for stack in [
        // Stacks that do not match: another line, another end, a longer path in the project, a library of the same
        // name.
        &[("app.py", 4, "handler"), ("store.py", 5, "load")][..],
        &[("app.py", 5, "handler"), ("store.py", 8, "look")],
        &[("app.py", 5, "handler"), ("store.py", 5, "load"), ("app.py", 8, "brief")],
        &[("/usr/lib/python3.12/app.py", 5, "handler"), ("/usr/lib/python3.12/store.py", 5, "load")],
        &[("/v/site-packages/other/app.py", 5, "handler"), ("/v/site-packages/other/store.py", 5, "load")],
        &[],
    ] {
        assert_eq!(seen(&project, &recorded(1.5, stack)), all(NOT, NOT), "{stack:?}");
    }
}

#[test]
fn each_form_is_read() {
    let project = project();
    let log = "WARNING Executing <Task finished name='Task-1' coro=<handler() done, defined at /srv/app.py:4> result=None> took 0.301 seconds\n";
    assert_eq!(seen(&project, log), all("\"function\" 0.301", NOT));
    let stacks = "main (app.py:30);handler (app.py:5);load (store.py:5) 12\nmain (app.py:30) 7\n";
    assert_eq!(seen(&project, stacks), all("\"call\" null", NOT));
    let run = check(&project, stacks, &["-v"]);
    assert!(
        run.err.contains("evidence evidence: sampled stacks, 19 in all; 12 of a finding, 7 of none"),
        "{}",
        run.err
    );
}

#[test]
fn java_s_frames_lie_in_the_folders_of_their_packages() {
    let project = Project::new(&[(
        "src/main/java/org/acme/Web.java",
        "package org.acme;\n\nimport reactor.core.publisher.Mono;\n\nclass Web {\n    Mono<String> get() {\n        return Mono.just(\"x\").map(x -> {\n            \
         load();\n            return x;\n        });\n    }\n\n    static void load() {\n        try {\n            Thread.sleep(500);\n        } catch \
         (InterruptedException e) {\n        }\n    }\n}\n",
    )]);
    let error = "reactor.blockhound.BlockingOperationError: Blocking call! java.lang.Thread.sleep\n\
                 \tat java.base/java.lang.Thread.sleep(Thread.java)\n\tat org.acme.Web.load(Web.java:15)\n\
                 \tat org.acme.Web.lambda$get$0(Web.java:8)\n\tat reactor.core.publisher.FluxMap.onNext(FluxMap.java:106)\n";
    let run = check(&project, error, &["--output-format", "json"]);
    let found: Vec<serde_json::Value> = serde_json::from_str(&run.out).expect("JSON");
    assert!(found.iter().any(|of| of["confirmed"]["of"] == "call"), "{}", run.out);
}

#[test]
fn seen_findings_come_first_and_are_shown_at_every_level() {
    let project = project();
    let brief = recorded(0.2, &[("app.py", 8, "brief"), ("store.py", 8, "look")]);
    let run = check(&project, &brief, &[]);
    assert!(run.out.contains("note[BLT104]"), "{}", run.out);
    assert!(run.out.contains("= note: confirmed: 200 ms, in tests/test_a.py::test_a"), "{}", run.out);
    let first = run.out.find("app.py:8").expect("shown");
    assert!(first < run.out.find("app.py:5").expect("shown"), "{}", run.out);
    let nothing = check(&project, "", &[]);
    assert_eq!(nothing.out, project.run(&["check"]).out, "no evidence changes nothing");
}

#[test]
fn other_formats_have_the_evidence_too() {
    let project = project();
    let evidence = recorded(1.5, &[("app.py", 5, "handler"), ("store.py", 5, "load")]);
    let sarif = check(&project, &evidence, &["--output-format", "sarif"]).out;
    assert!(sarif.contains("\"confirmed\"") && sarif.contains("1.5"), "{sarif}");
    assert!(check(&project, &evidence, &["--output-format", "html"]).out.contains("confirmed: 1.5 s, in "));
}

#[test]
fn a_file_that_is_no_evidence_ends_the_run() {
    let project = project();
    for (text, why) in [
        ("nonsense", "error: --evidence: evidence:1:1: this is no evidence"),
        ("{\"blocklint_evidence\": 1,\n\"stalls\": 3}", "error: --evidence: evidence:2:11: invalid type"),
    ] {
        let run = check(&project, text, &[]);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{}", run.err);
        assert!(run.err.starts_with(why), "{}", run.err);
    }
    let run = project.run(&["check", "--evidence", "nowhere"]);
    assert_eq!(run.code, Some(2));
    assert!(run.err.contains("nowhere"), "{}", run.err);
}
