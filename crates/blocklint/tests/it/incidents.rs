//! The findings of a default run on the four incidents in `examples/incidents` and on their fixed versions.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Returns the file, line, rule and severity of each finding in an incident's program.
fn found(incident: &str) -> Vec<(String, u64, String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = format!("examples/incidents/{incident}");
    let run = Command::new(env!("CARGO_BIN_EXE_blocklint"))
        .args(["check", "--output-format", "json", &folder])
        .current_dir(&root)
        .output()
        .expect("blocklint runs");
    assert!(matches!(run.status.code(), Some(0 | 1)), "{}", String::from_utf8_lossy(&run.stderr));
    let findings: serde_json::Value = serde_json::from_slice(&run.stdout).expect("JSON");
    let text = |finding: &serde_json::Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    findings
        .as_array()
        .expect("a list")
        .iter()
        .map(|finding| {
            let file = text(finding, "filename").replace('\\', "/");
            let file = file.split_once(&format!("{folder}/")).map_or(file.clone(), |(_, rest)| rest.to_owned());
            let line = finding["location"]["row"].as_u64().unwrap_or_default();
            (file, line, text(finding, "code"), text(finding, "severity"))
        })
        .collect()
}

/// Checks that the findings of an incident are those in `wanted`.
fn expect(incident: &str, wanted: &[(&str, &str, &str, &str)]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/incidents").join(incident);
    let found: BTreeSet<(String, String, String, String)> = found(incident)
        .into_iter()
        .map(|(file, line, code, severity)| {
            let text = std::fs::read_to_string(folder.join(&file)).expect("the file of a finding");
            let line = text.lines().nth(line as usize - 1).unwrap_or_default().trim().to_owned();
            (file, line, code, severity)
        })
        .collect();
    let wanted: BTreeSet<(String, String, String, String)> = wanted
        .iter()
        .map(|&(file, line, code, severity)| (file.to_owned(), line.to_owned(), code.to_owned(), severity.to_owned()))
        .collect();
    // The fixed version has no findings.
    assert_eq!(found, wanted);
}

#[test]
fn a_large_response_of_fastapi() {
    expect(
        "fastapi",
        &[
            ("current/main.py", "@app.get(\"/clients\")", "BLT201", "warning"),
            ("current/main.py", "@app.get(\"/clients/flat\")", "BLT201", "warning"),
            ("pydantic1/main.py", "@app.get(\"/clients\", response_model=Clients)", "BLT201", "warning"),
            ("pydantic1/main.py", "@app.get(\"/clients/flat\", response_model=List[Client])", "BLT201", "warning"),
        ],
    );
}

#[test]
fn a_native_call_under_gevent() {
    expect(
        "gevent",
        &[
            ("app/app.py", "producer.flush()", "BLT301", "error"),
            ("late/main.py", "monkey.patch_all()", "BLT302", "warning"),
        ],
    );
}

#[test]
fn threads_for_each_client_of_reactor() {
    let file = "client/src/main/java/client/Client.java";
    expect(
        "reactor",
        &[
            (file, "private final Scheduler scheduler = Schedulers.newSingle(\"refresh\");", "BLT501", "warning"),
            (
                file,
                "private final ExecutorService callbacks = Executors.newSingleThreadExecutor();",
                "BLT501",
                "warning",
            ),
            (file, "connections = new HikariDataSource(config);", "BLT502", "warning"),
        ],
    );
}

#[test]
fn offloads_without_a_bound_of_tokio() {
    let file = "blog/src/main.rs";
    expect(
        "tokio",
        &[
            (file, "spawn_blocking(move || render(&text)).await.unwrap()", "BLT401", "warning"),
            (file, "tasks.spawn_blocking(move || render(&text));", "BLT401", "warning"),
            (file, "let text = text_of(&pool, id).await;", "BLT402", "error"),
            (file, "let client = reqwest::Client::new();", "BLT502", "warning"),
        ],
    );
}
