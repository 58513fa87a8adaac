//! SARIF output: valid against the official schema, with all data that services show.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::{Value, json};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = Folder(tempfile::Builder::new().prefix("sarif é ").tempdir().expect("a folder"));
        for (file, text) in files {
            folder.write(file, text);
        }
        folder
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.0.path().join(file);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    }

    fn path(&self) -> PathBuf {
        fs::canonicalize(self.0.path()).expect("it exists")
    }

    fn run(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_blocklint"));
        command.env_clear().current_dir(self.path()).args(arguments).stdin(Stdio::null());
        let output = command.output().expect("it starts");
        (output.status.code(), String::from_utf8(output.stdout).expect("UTF-8"))
    }

    /// Returns the only run of a log, after validating the log.
    fn sarif(&self, arguments: &[&str]) -> Value {
        let (_, out) = self.run(&[&["check", "--output-format", "sarif"], arguments].concat());
        let log: Value = serde_json::from_str(&out).expect("JSON");
        validate(&log);
        log["runs"][0].clone()
    }
}

/// The official schema of SARIF 2.1.0, out of the package of the registry that carries it.
fn schema() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        // The package is built for no platform, so cargo fetches it only for this test.
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        let mut metadata = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        metadata.args(["metadata", "--format-version", "1", "--locked", "--manifest-path", manifest]);
        let output = metadata.output().expect("cargo starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo describes the workspace");
        let packages = metadata["packages"].as_array().expect("packages");
        let package = packages.iter().find(|package| package["name"] == "serde-sarif").expect("it is a dependency");
        let manifest = PathBuf::from(package["manifest_path"].as_str().expect("a path"));
        let schema = fs::read(manifest.with_file_name("src").join("schema.json")).expect("it carries the schema");
        let mut schema: Value = serde_json::from_slice(&schema).expect("JSON");
        assert_eq!(schema["title"], "Static Analysis Results Format (SARIF) Version 2.1.0 JSON Schema");
        // Its patterns for languages have an unbalanced bracket, and are not needed here.
        for holder in ["run", "toolComponent"] {
            let language = schema["definitions"][holder]["properties"]["language"].as_object_mut();
            assert!(language.is_some_and(|language| language.remove("pattern").is_some()), "{holder}");
        }
        schema
    })
}

fn validate(log: &Value) {
    let validator = jsonschema::options().should_validate_formats(true).build(schema()).expect("a schema");
    let errors: Vec<String> =
        validator.iter_errors(log).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

#[test]
fn the_schema_rejects_invalid_logs() {
    let validator = jsonschema::validator_for(schema()).expect("a schema");
    let log = |level: &str| {
        json!({ "version": "2.1.0", "runs": [{ "tool": { "driver": { "name": "x" } },
            "results": [{ "message": { "text": "x" }, "level": level }] }] })
    };
    assert!(validator.is_valid(&log("note")) && !validator.is_valid(&log("bad")));
}

const STORE: &str = "import requests

class Store:
    def __init__(self):
        self.http = requests.Session()

    def load(self, key):
        é = 1; return self.http.get(key, timeout=5)
";

const MAIN: &str = "import time
from store import Store

store = Store()

def fetch(keys):
    return store.load(keys[0])

async def handler(keys):
    return fetch(keys)

async def pause():
    time.sleep(1)  # blocklint: ignore[BLT101] the robot needs it
    time.sleep(2)  # noqa
    open('x')
";

fn service() -> Folder {
    let folder = Folder::new(&[("pkg/store.py", STORE), ("pkg/main.py", MAIN), ("bad.py", "def\n")]);
    folder.write("pyproject.toml", "[tool.blocklint.per-file-ignores]\n'main.py' = ['blocking-file']\n");
    folder
}

/// The results of a rule.
fn results<'r>(run: &'r Value, rule: &str) -> Vec<&'r Value> {
    run["results"].as_array().expect("results").iter().filter(|result| result["ruleId"] == rule).collect()
}

#[test]
fn the_trace_is_a_code_flow_and_causes_are_related() {
    let run = service().sarif(&[]);
    let [found] = results(&run, "BLT102")[..] else { panic!("{run:#}") };
    let place = |file: &str, row: u32, from: u32, to: u32| {
        json!({
            "artifactLocation": { "uri": file, "uriBaseId": "%SRCROOT%" },
            "region": { "startLine": row, "startColumn": from, "endLine": row, "endColumn": to },
        })
    };
    let handler = place("pkg/main.py", 10, 12, 23);
    let get = place("pkg/store.py", 8, 23, 52);
    assert_eq!(found["locations"][0]["physicalLocation"], handler);
    assert_eq!(found["level"], "error");
    let rule = &run["tool"]["driver"]["rules"][found["ruleIndex"].as_u64().expect("an index") as usize];
    assert_eq!((&rule["id"], &rule["name"]), (&json!("BLT102"), &json!("blocking-network")));
    let flow = found["codeFlows"][0]["threadFlows"][0]["locations"].as_array().expect("a flow");
    let steps = flow.iter().map(|step| {
        let location = &step["location"];
        (location["message"]["text"].as_str().expect("words"), location["physicalLocation"].clone())
    });
    let expected = [
        ("`handler` calls `fetch`", handler),
        ("`fetch` calls `Store.load`", place("pkg/main.py", 7, 12, 31)),
        ("`Store.load` calls `requests.Session.get`, which blocks", get.clone()),
    ];
    assert_eq!(steps.collect::<Vec<_>>(), expected);
    let related = found["relatedLocations"].as_array().expect("causes");
    assert_eq!((related.len(), &related[0]["id"], &related[0]["physicalLocation"]), (1, &json!(1), &get));
    let message = found["message"]["text"].as_str().expect("text");
    assert!(message.contains("[requests.Session.get](1)") && message.contains("for up to 5 s"), "{message}");
    let fingerprint = found["partialFingerprints"]["blocklint/v1"].as_str().expect("a fingerprint");
    assert_eq!(fingerprint.len(), 16);
    assert_eq!(run["columnKind"], "unicodeCodePoints");
}

#[test]
fn paths_count_from_the_repository() {
    let folder = service();
    let root = |run: &Value| run["originalUriBaseIds"]["%SRCROOT%"]["uri"].as_str().expect("a URI").to_owned();
    let project = root(&folder.sarif(&[]));
    assert!(project.starts_with("file:///") && project.contains("/sarif%20%C3%A9%20"), "{project}");
    // Two projects in one repository.
    folder.write("pkg/pyproject.toml", "[tool.blocklint]\n");
    folder.write(".git/HEAD", "");
    let run = folder.sarif(&["pkg"]);
    assert_eq!(root(&run), project);
    let uri = &results(&run, "BLT102")[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(uri, "pkg/main.py");
}

#[test]
fn suppressed_findings_are_listed_as_suppressed() {
    let folder = service();
    let run = folder.sarif(&[]);
    let sleeps = results(&run, "BLT101").iter().map(|found| found["suppressions"].clone()).collect::<Vec<_>>();
    let comment = json!([{ "kind": "inSource", "justification": "the robot needs it" }]);
    assert_eq!(sleeps, [comment, json!([{ "kind": "inSource" }])]);
    let [file] = results(&run, "BLT104")[..] else { panic!("{run:#}") };
    assert_eq!(file["suppressions"], json!([{ "kind": "external" }]));
    // Comments on a definition whose lambda blocks, and at a function that is passed to the event loop.
    let other = Folder::new(&[(
        "a.py",
        "import asyncio, time\ndef run(f): f()\ndef tick(): time.sleep(1)\n\
         async def f():  # blocklint: ignore[BLT101]\n    run(lambda: time.sleep(1))\n\
         def g():\n    asyncio.get_event_loop().call_soon(tick)  # blocklint: ignore[BLT101] short\n",
    )]);
    let run = other.sarif(&[]);
    let silenced = |found: &&&Value| found["suppressions"][0]["kind"] == "inSource";
    assert_eq!(results(&run, "BLT101").iter().filter(silenced).count(), 2, "{run:#}");
    assert_eq!(results(&run, "BLT101").len(), 2);
    // Other formats do not show suppressed findings, and these do not fail the run.
    let (code, out) = folder.run(&["check", "pkg/main.py", "--ignore", "BLT102"]);
    assert_eq!((code, out.as_str()), (Some(0), "No findings.\n"));
    assert_eq!(results(&folder.sarif(&["--ignore", "BLT101"]), "BLT101").len(), 0);
}

#[test]
fn unreadable_files_are_notifications() {
    let run = service().sarif(&[]);
    let told = &run["invocations"][0]["toolExecutionNotifications"];
    assert_eq!((told.as_array().map(Vec::len), &told[0]["level"]), (Some(1), &json!("note")));
    assert_eq!(told[0]["descriptor"]["id"], "BLT902");
    assert_eq!(run["tool"]["driver"]["notifications"][0]["id"], "BLT902");
    assert_eq!(results(&run, "BLT902").len(), 0);
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
    let partly = service().sarif(&["pkg", "nowhere.py"]);
    assert_eq!(partly["invocations"][0]["executionSuccessful"], false);
}

#[test]
fn a_clean_run_is_a_log_too_and_goes_to_a_file() {
    let folder = Folder::new(&[("a.py", "x = 1\n")]);
    assert_eq!(folder.sarif(&[])["results"], json!([]));
    let (code, out) = folder.run(&["check", "--output-format", "sarif", "-o", "out.sarif"]);
    assert_eq!((code, out.as_str()), (Some(0), ""));
    let log = fs::read(folder.path().join("out.sarif")).expect("written");
    validate(&serde_json::from_slice(&log).expect("JSON"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_blocklint"));
    let run = command.current_dir(folder.path()).args(["check", "-o", "no/such.txt"]).output().expect("it starts");
    let told = String::from_utf8(run.stderr).expect("UTF-8");
    assert_eq!(run.status.code(), Some(2));
    assert!(told.starts_with("error: cannot write: no/such.txt: "), "{told}");
}

#[test]
fn no_two_findings_have_one_fingerprint() {
    let twice =
        "import time\nasync def f():\n    time.sleep(1)\n    time.sleep(1)\nasync def f():\n    time.sleep(1)\n";
    let run = Folder::new(&[("a.py", twice)]).sarif(&[]);
    let mut prints: Vec<_> =
        results(&run, "BLT101").iter().map(|found| found["partialFingerprints"]["blocklint/v1"].to_string()).collect();
    prints.sort();
    prints.dedup();
    assert_eq!(prints.len(), 3);
}

/// A constructed finding with edits, a place outside of the repository, and code that looks like a link.
#[test]
fn edits_and_odd_places_are_valid_too() {
    use blocklint_core::{Applicability, Edit, Fix, Location, Place, Span, Step};
    let place = |path: &str, row: u32, from: u32, to: u32| {
        let mut place = Place::unlocated(std::sync::Arc::from(camino::Utf8Path::new(path)), Span::new(0, 1));
        (place.start, place.end) = (Location { row, column: from }, Location { row, column: to });
        place
    };
    let step = |at: Place| Step {
        place: at,
        function: "a.f".to_owned(),
        call: "time.sleep".to_owned(),
        written: "x[0].sleep".to_owned(),
    };
    let edit = |place: Place, content: &str| Edit { place, content: content.to_owned() };
    let finding = |edits: Vec<Edit>| blocklint_core::Finding {
        rule: blocklint_core::RuleCode(101),
        severity: blocklint_core::Severity::Note,
        confidence: blocklint_core::Confidence::Low,
        message: "blocking sleep through `x[0].sleep`".to_owned(),
        notes: Vec::new(),
        help: None,
        place: place("/elsewhere/ä b.py", 3, 1, 9),
        effect: Some(blocklint_core::Effect::Sleep),
        context: None,
        runtime: None,
        function: "a.f".to_owned(),
        hold: blocklint_core::Hold::Unstated,
        trace: vec![step(place("/elsewhere/ä b.py", 3, 1, 9)), step(place("/p/a.py", 0, 0, 0))],
        weight: None,
        causes: Vec::new(),
        fix: Some(Fix { title: "sleep without blocking".to_owned(), applicability: Applicability::Unsafe, edits }),
        unfixed: None,
        fingerprint: "0123456789abcdef".to_owned(),
        suppression: None,
        reasons: Vec::new(),
        reached_by: Vec::new(),
        aside: None,
        held_by: None,
        confirmed: None,
    };
    let write = |edits: Vec<Edit>| {
        let findings = [finding(edits)];
        let sources = blocklint_output::Sources::default();
        let folder = camino::Utf8Path::new("/p");
        let shown = blocklint_output::RenderInput {
            page: blocklint_output::Page::PLAIN,
            findings: &findings,
            groups: &[],
            sources: &sources,
            folder,
            pages: None,
        };
        let run = blocklint_output::SarifRun { root: folder, suppressed: &[], complete: true, compares: false };
        let mut out = Vec::new();
        blocklint_output::write_sarif(&mut out, &shown, &run).expect("memory takes everything");
        let log: Value = serde_json::from_slice(&out).expect("JSON");
        validate(&log);
        log["runs"][0]["results"][0].clone()
    };
    let result = write(vec![
        edit(place("/p/a.py", 1, 1, 1), "import asyncio\n"),
        edit(place("/elsewhere/ä b.py", 3, 1, 9), "await asyncio.sleep"),
        edit(place("/p/a.py", 7, 1, 5), ""),
    ]);
    let changes = result["fixes"][0]["artifactChanges"].as_array().expect("changes");
    assert_eq!(changes.len(), 2, "edits of one file stand together");
    assert_eq!(changes[0]["replacements"].as_array().map(Vec::len), Some(2));
    assert_eq!(changes[0]["artifactLocation"], json!({ "uri": "a.py", "uriBaseId": "%SRCROOT%" }));
    assert_eq!(changes[1]["artifactLocation"], json!({ "uri": "file:///elsewhere/%C3%A4%20b.py" }));
    assert_eq!(result["message"]["text"], "blocking sleep through `x\\[0\\].sleep`.");
    let in_cell = Place { cell: Some(2), ..place("/p/a.ipynb", 1, 1, 2) };
    assert_eq!(write(vec![edit(in_cell, "x")]).get("fixes"), None, "a cell's rows are no rows of its file");
    assert_eq!(write(Vec::new()).get("fixes"), None);
}
