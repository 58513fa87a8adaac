//! The output depends only on the files: not on their folder, the number of threads, or the run.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const MODULES: usize = 90;

fn run(folder: &Path, threads: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_blocklint"));
    command.env_clear().env("RAYON_NUM_THREADS", threads).current_dir(folder).args(arguments).stdin(Stdio::null());
    let output = command.output().expect("it starts");
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn write(folder: &Path, file: &str, text: &str) {
    let path = folder.join(file);
    fs::create_dir_all(path.parent().expect("a parent")).expect("made");
    fs::write(path, text).expect("written");
}

/// Returns a pseudo-random number that is the same on all machines.
fn scattered(seed: usize, below: usize) -> usize {
    (seed.wrapping_mul(2_654_435_761) >> 7) % below
}

/// Modules that import each other in all directions: helpers many hops away, cycles, wrappers, classes with fields and
/// bases, same names everywhere.
fn python_module(number: usize) -> String {
    let other = |shift: usize| scattered(number * 31 + shift, MODULES);
    let (a, b, c) = (other(1), other(2), other(3));
    let leaf = match number % 5 {
        0 => "time.sleep(wait)",
        1 => "requests.get(url, timeout=wait)",
        2 => "open(url).read()",
        3 => "subprocess.run([url])",
        _ => "self_made.helper(url)",
    };
    format!(
        "import asyncio, functools, subprocess, time
import requests
from shop import m{a}, m{b}
from shop.m{c} import Store as Base, helper as helper_of_{c}

def logged(fn):
    @functools.wraps(fn)
    def inner(*args, **kwargs):
        return fn(*args, **kwargs)
    return inner

@logged
def helper(url, wait={number}):
    if wait:
        m{a}.step(url)
    {leaf}

def step(url):
    helper_of_{c}(url)
    return m{b}.Store(url)

class Store(Base):
    def __init__(self, url):
        self.session = requests.Session()
        self.next = m{a}.Store
    def load(self, key):
        return self.session.get(key, timeout=self.wait)
    def save(self, key):
        self.load(key)
        m{b}.helper(key)

async def handler_{number}(store: Store, other: 'm{b}.Store'):
    helper('u')
    store.save('k')
    other.load('k')
    await asyncio.to_thread(store.save, 'k')
    asyncio.get_running_loop().call_soon(step, 'u')
    step('u').load('k')
"
    )
}

fn project() -> tempfile::TempDir {
    let made = tempfile::Builder::new().prefix("same-output-").tempdir().expect("a folder");
    let folder = made.path();
    write(folder, "pyproject.toml", "[project]\nname = 'shop'\n");
    write(folder, "shop/__init__.py", "");
    for number in 0..MODULES {
        write(folder, &format!("shop/m{number}.py"), &python_module(number));
    }
    write(folder, "Cargo.toml", "[package]\nname = 'shop'\n");
    let mut library = String::new();
    for number in 0..20 {
        let _ = writeln!(library, "pub mod m{number};");
        let next = scattered(number, 20);
        let text = format!(
            "pub fn helper() {{ crate::m{next}::step(); std::thread::sleep(std::time::Duration::from_secs({number})); }}
pub fn step() {{ let _ = std::fs::read(\"x\"); }}
pub async fn handler() {{ helper(); crate::m{next}::helper(); }}
"
        );
        write(folder, &format!("src/m{number}.rs"), &text);
        let text = format!(
            "package shop;
import io.netty.channel.*;
class H{number} extends ChannelInboundHandlerAdapter {{
  private final H{next} other = new H{next}();
  void helper() throws Exception {{ Thread.sleep({number}000); }}
  public void channelRead(ChannelHandlerContext c, Object m) throws Exception {{ helper(); other.helper(); }}
}}
"
        );
        write(folder, &format!("java/shop/H{number}.java"), &text);
    }
    write(folder, "src/lib.rs", &library);
    made
}

#[test]
fn threads_and_runs_change_nothing() {
    let made = project();
    for (format, threads) in [("json", &["1", "2", "2", "7"][..]), ("full", &["1", "5"]), ("sarif", &["1", "3"])] {
        let arguments = ["check", "--output-format", format, "--min-severity", "note", "--min-confidence", "low"];
        let runs: Vec<String> = threads.iter().map(|threads| run(made.path(), threads, &arguments)).collect();
        let places = runs[0].lines().filter(|line| line.contains("BLT10")).count();
        assert!(places > 300, "{format}: too little is found to compare: {places}");
        for other in &runs[1..] {
            let first = runs[0].lines().zip(other.lines()).find(|(a, b)| a != b);
            assert_eq!(first, None, "{format}");
            assert_eq!(runs[0].len(), other.len(), "{format}");
        }
    }
}

#[test]
fn a_fingerprint_is_one_finding_s_and_survives_new_lines() {
    let made = project();
    let fingerprints = || -> Vec<String> {
        let text = run(made.path(), "2", &["check", "--output-format", "json", "--min-severity", "note"]);
        let findings: Vec<serde_json::Value> = serde_json::from_str(&text).expect("JSON");
        findings.iter().map(|finding| finding["fingerprint"].as_str().expect("text").to_owned()).collect()
    };
    let before = fingerprints();
    let different: BTreeSet<&String> = before.iter().collect();
    assert_eq!(different.len(), before.len(), "no two findings share one");
    for number in 0..MODULES {
        write(made.path(), &format!("shop/m{number}.py"), &format!("# moved\n\n{}", python_module(number)));
    }
    assert_eq!(fingerprints(), before);
}

#[test]
fn facts_do_not_know_where_their_file_lies() {
    let made = tempfile::Builder::new().prefix("same-facts-").tempdir().expect("a folder");
    let texts = [
        ("py", python_module(7)),
        ("rs", "use std::fs;\npub async fn f() { fs::read(\"x\").unwrap(); }\n".to_owned()),
        ("java", "package a.b;\nclass C { void f() throws Exception { Thread.sleep(1); } }\n".to_owned()),
    ];
    for (extension, text) in texts {
        let places = [format!("one.{extension}"), format!("deep/below/src/other.{extension}")];
        for place in &places {
            write(made.path(), place, &text);
        }
        let [here, there] = places.map(|place| run(made.path(), "1", &["debug", "facts", &place]));
        assert!(here.lines().count() > 5, "{here}");
        assert_eq!(here, there);
        assert!(!here.contains("one.") && !here.contains(made.path().to_str().expect("UTF-8")), "{here}");
    }
}
