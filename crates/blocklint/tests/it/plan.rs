//! `blocklint plan`: the few changes that free most functions.

use serde_json::Value;

use crate::support::{Project, Run};

/// A store with two blocking calls in one method, which three handlers reach, and another handler that blocks.
const STORE: &str = "import time\nimport requests\n\n\nclass Store:\n    def load(self, key):\n        time.sleep(1)\n        return requests.get(key)\n";
const APP: &str = "from store import Store\n\nstore = Store()\n\n\nasync def one():\n    return store.load('1')\n\n\nasync def two():\n    return store.load('2')\n\n\nasync def three():\n    return store.load('3')\n";
const FOUR: &str = "import time\n\n\nasync def four():\n    time.sleep(4)\n";

fn project() -> Project {
    Project::new(&[("app.py", APP), ("four.py", FOUR), ("store.py", STORE)])
}

#[test]
fn a_function_on_all_ways_comes_first() {
    let run = project().run(&["plan"]);
    insta::assert_snapshot!(run.out, @r#"
    4 findings in 4 functions: 2 changes free all of them.

    1. the whole function `store.Store.load`  store.py:6:9
       frees  3 functions (3 findings): `app.one`, `app.two`, `app.three`
       blocks `requests.get` at store.py:8:16, `time.sleep` at store.py:7:9
       held   without bound
       help   at app.py:15:12: make the functions on this path async and use `httpx.AsyncClient.get`, or run it in a thread: `await asyncio.to_thread(store.load, …)`
       fix    blocklint check --fix --unsafe-fixes --select BLT102 app.py
       or     blocklint codemod asyncify --finding app.py:7 --diff
       check  blocklint check --select BLT102 app.py

    2. `time.sleep` in `four.four`  four.py:5:5
       frees  1 function (1 finding): `four.four`
       held   up to 4 s
       help   use `await asyncio.sleep(…)`
       fix    blocklint check --fix --unsafe-fixes --select BLT101 four.py
       check  blocklint check --select BLT101 four.py
    "#);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
}

#[test]
fn the_plan_begins_with_the_first_cause_of_check() {
    let out = project().run(&["check"]).out;
    assert!(
        out.ends_with("Begin with the whole function `store.Store.load`: a change of it clears 3 of 4 findings.\n"),
        "{out}"
    );
    // A cause that frees fewer functions than a helper comes later, also if it is worse.
    let app = "import time\n\ndef a(): time.sleep(1)\ndef b(): time.sleep(2)\n\nasync def f(): a()\nasync def g(): b()\nasync def h(): b()\n";
    let project = Project::new(&[("app.py", app)]);
    let (found, planned) = (project.run(&["check"]).out, project.run(&["plan"]).out);
    assert!(
        found.ends_with("Begin with `time.sleep` at app.py:4:10: one edit there clears 2 of 3 findings.\n"),
        "{found}"
    );
    assert!(planned.contains("\n1. `time.sleep` in `app.b`  app.py:4:10\n"), "{planned}");
}

#[test]
fn as_many_steps_as_are_asked_for() {
    let run = project().run(&["plan", "--steps", "1"]);
    let steps = |run: &Run| run.out.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())).count();
    assert!(run.out.ends_with("1 finding would be left; --steps NUMBER plans further.\n"), "{}", run.out);
    // The first line begins with a number too, and the last one if findings are left.
    assert_eq!((steps(&run), steps(&project().run(&["plan"]))), (1 + 1 + 1, 1 + 2));
    assert_eq!(project().run(&["plan", "--steps", "0"]).code, Some(2));
}

#[test]
fn the_plan_is_available_as_json() {
    let project = project();
    let run = project.run(&["plan", "--output-format", "json"]);
    let plan: Value = serde_json::from_str(&run.out).expect("JSON");
    assert_eq!((&plan["functions"], &plan["findings"]), (&Value::from(4), &Value::from(4)));
    assert_eq!(plan["left"], serde_json::json!({ "functions": 0, "findings": 0 }));
    let first = &plan["steps"][0];
    assert_eq!((&first["kind"], &first["function"]), (&Value::from("function"), &Value::from("store.Store.load")));
    assert_eq!(first["location"], serde_json::json!({ "row": 6, "column": 9 }));
    assert_eq!(first["frees"], serde_json::json!(["app.one", "app.two", "app.three"]));
    assert_eq!(first["findings"].as_array().map(Vec::len), Some(3));
    // The second step changes one call, and no function.
    let codemod = "blocklint codemod asyncify --finding app.py:7 --diff";
    assert_eq!((&first["codemod"], &plan["steps"][1]["codemod"]), (&Value::from(codemod), &Value::Null));
    assert_eq!(project.run(&["plan", "--output-format", "sarif"]).code, Some(2));
}

#[test]
fn the_commands_of_a_step_do_what_it_says() {
    let project = project();
    let run = project.run(&["plan", "--output-format", "json"]);
    let plan: Value = serde_json::from_str(&run.out).expect("JSON");
    for step in plan["steps"].as_array().expect("steps") {
        let command = |of: &str| -> Vec<String> {
            let text = step[of].as_str().expect("a command").to_owned();
            text.split(' ').skip(1).map(str::to_owned).collect()
        };
        let run = |of: &str| project.run(&command(of).iter().map(String::as_str).collect::<Vec<_>>());
        let codes = ["check", "fix", "check"].map(|of| run(of).code);
        assert_eq!(codes, [Some(1), Some(0), Some(0)], "{step}");
    }
    let after = project.run(&["plan"]);
    assert_eq!(after.out, "No findings: there is nothing to plan.\n");
}

#[test]
fn the_command_of_a_fix_over_two_files_names_both() {
    let manifest = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n\
                    tokio = { version = \"1\", features = [\"full\"] }\n";
    let store = "pub fn load(name: &str) -> std::io::Result<String> {\n    std::fs::read_to_string(name)\n}\n";
    let main = "mod store;\n\nasync fn one(name: &str) -> std::io::Result<String> {\n    store::load(name)\n}\n\n\
                async fn two(name: &str) -> bool {\n    store::load(name).is_ok()\n}\n";
    let project = Project::new(&[("Cargo.toml", manifest), ("src/store.rs", store), ("src/main.rs", main)]);
    let run = project.run(&["plan", "--output-format", "json"]);
    let plan: Value = serde_json::from_str(&run.out).expect("JSON");
    let fix = plan["steps"][0]["fix"].as_str().expect("a command").to_owned();
    assert!(fix.contains("src/main.rs") && fix.contains("src/store.rs"), "{fix}");
    let run = project.run(&fix.split(' ').skip(1).collect::<Vec<_>>());
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
}

#[test]
fn baselined_findings_are_not_planned() {
    let project = project();
    project.run(&["baseline", "create"]);
    assert_eq!(project.run(&["plan"]).out, "No findings: there is nothing to plan.\n");
}

#[test]
fn new_findings_of_a_change_are_planned() {
    let project = project();
    project.commit();
    project.write("five.py", &FOUR.replace("four", "five"));
    let run = project.run(&["plan", "--changed"]);
    assert!(
        run.out.starts_with("1 finding in 1 function: 1 change frees all of them.\n\n1. `time.sleep` in `five.five`"),
        "{}",
        run.out
    );
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
}

#[test]
fn options_without_effect_on_a_plan_are_refused() {
    let project = project();
    for option in ["--fix", "--diff", "--watch", "--add-ignore", "--statistics"] {
        let run = project.run(&["plan", option]);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{option}");
        assert!(run.err.contains("do not apply"), "{option}: {}", run.err);
    }
    assert_eq!(project.read("four.py"), FOUR);
}

#[test]
fn the_plan_is_the_same_with_a_cache() {
    let project = project();
    let cold = project.run(&["plan", "--no-cache"]);
    project.run(&["check"]);
    assert_eq!(project.run(&["plan"]), cold);
    assert_eq!(project.run(&["plan"]), cold);
}
