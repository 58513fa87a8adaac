//! The HTML report: its data, its protection against hostile text, and its use in a real browser (tests/browser).

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support;

fn repository() -> PathBuf {
    fs::canonicalize(support::repository()).expect("it exists")
}

/// Writes the report of a folder to a file.
fn report(folder: &Path, file: &Path) -> Option<i32> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_blocklint"));
    command.env_clear().current_dir(folder).args(["check", "--output-format", "html", "--output-file"]).arg(file);
    let output = command.stdin(Stdio::null()).output().expect("it starts");
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    output.status.code()
}

fn write(folder: &Path, file: &str, text: &str) {
    let path = folder.join(file);
    fs::create_dir_all(path.parent().expect("a parent")).expect("made");
    fs::write(path, text).expect("written");
}

/// Writes files with names and texts that try to become markup, to reverse the text direction, or to be invisible.
fn hostile(folder: &Path) {
    write(folder, "blocklint.toml", "");
    let payload = "</script><script>window.pwned=1</script>";
    let body = |text: &str| {
        format!(
            "import time, requests\n# {text} <!-- <img src=x onerror=window.pwned=1> \"'`&amp;\nasync def f():  # {text}\n    \
             time.sleep(1)  # {text}\n    requests.get('{text}')\n"
        )
    };
    write(folder, "a/<img src=x onerror=window.pwned=1>.py", &body(payload));
    write(folder, "b/\"onload='window.pwned=1'.py", &body("crab 🦀 and שלום"));
    write(
        folder,
        "c/\u{202e}yp.lave\u{7}.py",
        &body("\u{202e}reversed\u{202c} \u{2066}isolated\u{2069} \u{7}bell \u{0}nul"),
    );
    write(folder, "d/';window.pwned=1;'{{data}}.py", &body("{{script}} ${window.pwned=1} \u{2028} ]]> %3Cscript%3E"));
}

/// Writes a project with a path of ten functions with long names.
fn deep(folder: &Path) {
    let mut text =
        "import requests\n\n\ndef level_00_of_the_way_to_the_exchange(key):\n    return requests.get(key)\n".to_owned();
    for level in 1..9 {
        let _ = write!(
            text,
            "\n\ndef level_{level:02}_of_the_way_to_the_exchange(key):\n    return level_{:02}_of_the_way_to_the_exchange(key)\n",
            level - 1
        );
    }
    text += "\n\nasync def handler_that_asks_twice(key):\n    first = level_08_of_the_way_to_the_exchange(key)\n    \
             second = level_08_of_the_way_to_the_exchange(key)\n    return first, second\n";
    write(folder, "ways_to_the_exchange_of_a_name_that_is_long.py", &text);
}

/// Writes a project with more than 2,000 findings and about 700 causes, one of which stalls hundreds of functions.
fn large(folder: &Path) {
    write(folder, "blocklint.toml", "");
    write(
        folder,
        "shared.py",
        "import requests\n\ndef fetch(key):\n    return requests.get(key)\n\ndef load(key):\n    return fetch(key)\n",
    );
    for module in 0..70 {
        let mut text = "import time, subprocess, requests\nfrom shared import load\n\n".to_owned();
        for number in 0..10 {
            let name = format!("{module}_{number}");
            let _ = write!(
                text,
                "def step_{name}(key):\n    return requests.post(key, timeout={})\n\nasync def handler_{name}(key):\n    \
                 load(key)\n    step_{name}(key)\n    time.sleep({}.5)\n\n",
                number + 1,
                module % 9
            );
        }
        write(folder, &format!("area_{}/part_{module}.py", module % 7), &text);
    }
}

/// Returns the data in a page.
fn data(page: &str) -> Value {
    let start = "<script id=\"data\" type=\"application/json\">";
    let from = page.find(start).expect("the data") + start.len();
    let to = from + page[from..].find("</script>").expect("they end");
    serde_json::from_str(&page[from..to]).expect("JSON")
}

#[test]
fn the_report_is_one_file_without_addresses() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("report.html");
    assert_eq!(
        report(&repository().join("tests/browser/shop"), &file),
        Some(1),
        "findings are findings in every format"
    );
    let page = fs::read_to_string(&file).expect("a page");
    for asked in ["http:", "https:", "//cdn", "@import", "url(", "src=", "<link", "eval(", "innerHTML"] {
        let found: Vec<&str> =
            page.lines().filter(|line| line.contains(asked) && !line.contains("application/json")).collect();
        let only_svg = found.iter().all(|line| line.contains("http://www.w3.org/2000/svg"));
        assert!(found.is_empty() || only_svg, "{asked}: {found:?}");
    }
    assert!(page.contains("default-src 'none'") && page.contains("script-src 'sha256-"), "a policy");
    assert!(!page.contains("unsafe-inline") && !page.contains("unsafe-eval"), "and nothing beside it");
}

/// Returns the data of the shop's page, and the JSON output of a command for the same project.
fn shop_and(command: &[&str]) -> (Value, Value) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("report.html");
    let shop = repository().join("tests/browser/shop");
    report(&shop, &file);
    let mut run = Command::new(env!("CARGO_BIN_EXE_blocklint"));
    run.env_clear().current_dir(&shop).args(command).stdin(Stdio::null());
    let said = serde_json::from_slice(&run.output().expect("it starts").stdout).expect("JSON");
    (data(&fs::read_to_string(&file).expect("a page")), said)
}

#[test]
fn the_report_has_the_data_of_the_other_formats() {
    let (data, json) = shop_and(&["check", "--output-format", "json"]);
    let json = json.as_array().expect("a list");
    let ids = |list: &[Value], key: &str| {
        list.iter().map(|one| one[key].as_str().expect("text").to_owned()).collect::<BTreeSet<_>>()
    };
    let findings = data["findings"].as_array().expect("a list");
    assert!(findings.len() >= 10, "{}", findings.len());
    assert_eq!(ids(findings, "id"), ids(json, "fingerprint"));
    let groups = data["groups"].as_array().expect("a list");
    let in_groups: usize = groups.iter().map(|group| group["findings"].as_array().expect("a list").len()).sum();
    assert_eq!(in_groups, findings.len());
    // Each path of a graph goes from the finding's function to the call, over its edges.
    for group in groups {
        let edges: BTreeSet<(u64, u64)> = group["graph"]["edges"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|edge| (edge[0].as_u64().expect("a number"), edge[1].as_u64().expect("a number")))
            .collect();
        for (path, finding) in group["graph"]["paths"]
            .as_array()
            .expect("a list")
            .iter()
            .zip(group["findings"].as_array().expect("a list"))
        {
            let nodes: Vec<u64> =
                path.as_array().expect("a list").iter().map(|node| node.as_u64().expect("a number")).collect();
            assert!(nodes.windows(2).all(|pair| edges.contains(&(pair[0], pair[1]))), "{nodes:?} {edges:?}");
            let finding = &findings[finding.as_u64().expect("a number") as usize];
            let name = |node: u64| group["graph"]["nodes"][node as usize][0].clone();
            assert_eq!(name(nodes[0]), finding["trace"][0]["function"]);
            assert_eq!(nodes.len(), finding["trace"].as_array().expect("a list").len() + 1);
        }
    }
}

#[test]
fn the_report_has_the_plan_of_the_command() {
    let (data, plan) = shop_and(&["plan", "--steps", "10", "--output-format", "json"]);
    let list = |of: &Value| of.as_array().expect("a list").clone();
    let finding = |number: &Value| data["findings"][number.as_u64().expect("a number") as usize].clone();
    let (steps, planned) = (list(&data["plan"]["steps"]), list(&plan["steps"]));
    assert!(steps.len() >= 4 && steps.len() == planned.len(), "{} of {}", steps.len(), planned.len());
    for (step, planned) in steps.iter().zip(&planned) {
        for key in ["kind", "function", "hold", "severity", "fix", "check"] {
            assert_eq!(step[key], planned[key], "{key}");
        }
        // In text output the sentence has the place of the call.
        let help = |of: &Value| of["help"].as_str().unwrap_or_default().to_owned();
        assert!(help(step).ends_with(&help(planned)), "{} and {}", help(step), help(planned));
        let freed: Vec<Value> = list(&step["frees"]).iter().map(|of| finding(of)["function"].clone()).collect();
        assert_eq!(freed, list(&planned["frees"]));
        let ended: Vec<Value> = list(&step["findings"]).iter().map(|of| finding(of)["id"].clone()).collect();
        assert_eq!(ended, list(&planned["findings"]).iter().map(|of| of["fingerprint"].clone()).collect::<Vec<_>>());
        assert_eq!(step["group"].is_null(), step["kind"] != "cause", "a cause leads to its group");
    }
    let functions: Vec<&Value> = steps.iter().filter(|step| step["kind"] == "function").collect();
    assert!(!functions.is_empty() && functions.iter().all(|step| !list(&step["calls"]).is_empty()));
}

#[test]
fn hostile_text_is_no_markup() {
    let folder = tempfile::tempdir().expect("a folder");
    hostile(folder.path());
    let file = folder.path().join("report.html");
    assert_eq!(report(folder.path(), &file), Some(1));
    let page = fs::read_to_string(&file).expect("a page");
    assert_eq!(page.matches("</script>").count(), 2, "only its own elements end");
    assert_eq!(page.matches("<script").count(), 2);
    assert!(!page.contains("<img") && !page.contains("<!--"));
    let data = data(&page);
    assert!(data["findings"].as_array().expect("a list").len() >= 8);
    let text = data.to_string();
    assert!(
        text.contains("</script><script>window.pwned=1</script>") && text.contains("{{script}}"),
        "nothing is lost"
    );
}

#[test]
#[ignore = "needs chromium and `npm install --prefix tests/browser`"]
fn the_report_works_in_a_browser() {
    let pages = repository().join("target/browser");
    fs::create_dir_all(&pages).expect("made");
    let folder = tempfile::tempdir().expect("a folder");
    type Make = fn(&Path);
    let projects: [(&str, Make); 4] =
        [("hostile", hostile), ("deep", deep), ("large", large), ("empty", |folder| write(folder, "a.py", "x = 1\n"))];
    for (name, make) in projects {
        let project = folder.path().join(name);
        fs::create_dir(&project).expect("made");
        make(&project);
        write(&project, "blocklint.toml", "");
        assert_eq!(report(&project, &pages.join(format!("{name}.html"))), Some(i32::from(name != "empty")), "{name}");
    }
    report(&repository().join("tests/browser/shop"), &pages.join("shop.html"));
    let script = repository().join("tests/browser/report.mjs");
    let output = Command::new("node").arg(script).arg(&pages).output().expect("node");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    let picture = fs::read(pages.join("html-report.png")).expect("a picture");
    assert!(picture.len() < 200 << 10, "{} bytes", picture.len());
    if std::env::var("UPDATE").is_ok_and(|value| value == "1") {
        let images = repository().join("docs/images");
        fs::create_dir_all(&images).expect("made");
        fs::write(images.join("html-report.png"), picture).expect("written");
    }
}
