//! The cache: output is the same with and without it, also if it is damaged, forged or not writable.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, SystemTime};

use xxhash_rust::xxh3::xxh3_64;

use crate::support::{Project, Run};

const HELPER: &str = "import time\n\ndef wait():\n    time.sleep(3)\n";
const APP: &str = "from helper import wait\n\nasync def handler():\n    wait()\n";
const RUST: &str = "pub async fn f() { std::thread::sleep(std::time::Duration::from_secs(1)); }\n";
const JAVA: &str = "import io.netty.channel.*;\nclass H extends ChannelInboundHandlerAdapter {\n  public void \
                    channelRead(ChannelHandlerContext c, Object m) throws Exception { Thread.sleep(1000); }\n}\n";

fn project() -> Project {
    let project = Project::new(&[
        ("helper.py", HELPER),
        ("app.py", APP),
        ("broken.py", "async def f(:\n    pass\n"),
        ("Cargo.toml", "[package]\nname = \"x\"\n"),
        ("src/lib.rs", RUST),
        ("java/H.java", JAVA),
    ]);
    age(&project.path());
    project
}

/// Sets the times of all files to long ago, as in most projects.
fn age(folder: &Path) {
    for entry in fs::read_dir(folder).expect("listed") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            age(&path);
        } else {
            let file = fs::File::options().write(true).open(&path).expect("opened");
            file.set_modified(SystemTime::now() - Duration::from_secs(3600)).expect("set");
        }
    }
}

/// Waits until files are so old that the cache trusts their times.
fn settle() {
    thread::sleep(Duration::from_millis(2100));
}

fn uncached(project: &Project, format: &str) -> Run {
    project.run(&["check", "--no-cache", "--output-format", format])
}

fn cached(project: &Project, format: &str) -> Run {
    project.run(&["check", "--output-format", format])
}

/// Returns the files of the cache, without its marker files.
fn kept(project: &Project) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![project.path().join(".blocklint_cache")];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(folder) else { continue };
        for entry in entries {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name().is_some_and(|name| name != ".gitignore" && name != "CACHEDIR.TAG") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn output_is_the_same_with_and_without() {
    let project = project();
    settle();
    for format in ["full", "concise", "json", "sarif", "github"] {
        let expected = uncached(&project, format);
        assert!(expected.out.contains("BLT101"), "{}", expected.out);
        for round in 0..3 {
            assert_eq!(cached(&project, format), expected, "{format}, round {round}");
        }
    }
    // The cache keeps results of runs with different options apart.
    for arguments in [&["--select", "BLT102"][..], &["--min-severity", "note"], &["app.py"], &["--statistics"]] {
        let of = |more: &[&str]| project.run(&[&["check"], more, arguments].concat());
        assert_eq!(of(&[]), of(&["--no-cache"]), "{arguments:?}");
        assert_eq!(of(&[]), of(&["--no-cache"]), "{arguments:?}");
    }
}

#[test]
fn every_change_of_a_file_is_noticed() {
    let project = project();
    let same = |what: &str| {
        for _ in 0..2 {
            assert_eq!(cached(&project, "json"), uncached(&project, "json"), "{what}");
        }
    };
    same("at first");
    project.write("helper.py", "import time\n\ndef wait():\n    time.sleep(4)\n");
    same("the same length, written just now");
    project.write("new.py", "import time\nasync def g():\n    time.sleep(9)\n");
    same("a new file");
    fs::remove_file(project.path().join("new.py")).expect("removed");
    same("a file that is gone");
    fs::rename(project.path().join("helper.py"), project.path().join("other.py")).expect("renamed");
    same("a file with another name");
    project.write("pyproject.toml", "[tool.blocklint]\nignore = [\"BLT101\"]\n");
    same("another configuration");
    project.write("pyproject.toml", "[tool.blocklint]\nmodels = [\"m.toml\"]\n");
    project.write("m.toml", "schema = 1\nlanguage = \"python\"\n[[call]]\npath = \"other.wait\"\neffect = \"none\"\n");
    same("a model");
    project
        .write("m.toml", "schema = 1\nlanguage = \"python\"\n[[call]]\npath = \"acme.wait\"\neffect = \"network\"\n");
    project.write("app.py", "import acme\n\nasync def handler():\n    acme.wait()\n");
    same("another model");
    project.write("Dockerfile", "CMD gunicorn -k gevent app:app\n");
    same("another server");
}

#[test]
fn facts_of_unchanged_files_are_reused() {
    let project = project();
    let work = || {
        let run = project.run(&["check", "--timings"]);
        let line = run.err.lines().find(|line| line.starts_with("work ")).expect("what was done").to_owned();
        let numbers: Vec<usize> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        (numbers[0], numbers[1])
    };
    assert_eq!(work(), (5, 1), "all five source files, and once the program");
    assert_eq!(work(), (0, 0), "nothing changed");
    // A file with a new time and the same bytes is read and compared, but not parsed.
    fs::File::options()
        .write(true)
        .open(project.path().join("app.py"))
        .expect("opened")
        .set_modified(SystemTime::now())
        .expect("set");
    assert_eq!(work(), (0, 0), "only a time changed");
    project.write("helper.py", &format!("{HELPER}# another\n"));
    assert_eq!(work(), (1, 1), "one file changed");
    // Other rules use the same facts.
    let run = project.run(&["check", "--timings", "--select", "BLT101"]);
    assert!(run.err.contains(" 0 files read for their facts, 1 of all analysed"), "{}", run.err);
}

#[test]
fn a_change_that_keeps_size_and_time_is_noticed() {
    let project = project();
    let before = cached(&project, "json");
    let path = project.path().join("helper.py");
    let time = fs::metadata(&path).expect("there").modified().expect("a time");
    // The inode may stay the same too; then only the time of the last status change differs.
    project.write("helper.py", &HELPER.replace('3', "0"));
    fs::File::options().write(true).open(&path).expect("opened").set_modified(time).expect("set");
    let after = cached(&project, "json");
    assert_eq!(after, uncached(&project, "json"));
    assert_ne!(after, before);
}

#[test]
fn the_folder_marks_itself_and_is_cleaned() {
    let project = project();
    cached(&project, "concise");
    let folder = project.path().join(".blocklint_cache");
    let tag = fs::read_to_string(folder.join("CACHEDIR.TAG")).expect("a tag");
    assert!(tag.starts_with("Signature: 8a477f597d28d172789f06886806bc55"), "{tag}");
    assert!(fs::read_to_string(folder.join(".gitignore")).expect("it").lines().any(|line| line == "*"));
    assert!(!kept(&project).is_empty());
    let clean = |code, out: &str| {
        assert_eq!(project.run(&["clean"]), Run { code: Some(code), out: out.to_owned(), err: String::new() });
    };
    clean(0, "Removed the cache .blocklint_cache.\n");
    assert!(!folder.exists());
    clean(0, "No cache at .blocklint_cache.\n");
    fs::create_dir(&folder).expect("made");
    fs::write(folder.join("mine"), "precious").expect("written");
    let refused = project.run(&["clean"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("blocklint made no cache there"), "{}", refused.err);
    assert!(folder.join("mine").exists());
}

#[test]
fn no_cache_leaves_nothing_and_a_named_folder_is_used() {
    let project = project();
    uncached(&project, "json");
    assert!(!project.path().join(".blocklint_cache").exists());
    let elsewhere = tempfile::tempdir().expect("a folder");
    let named = elsewhere.path().join("kept");
    let named = named.to_str().expect("UTF-8");
    let expected = uncached(&project, "json");
    for _ in 0..2 {
        assert_eq!(project.run(&["check", "--output-format", "json", "--cache-dir", named]), expected);
    }
    assert!(Path::new(named).join("CACHEDIR.TAG").exists());
    assert!(!project.path().join(".blocklint_cache").exists());
    assert_eq!(project.run(&["clean", "--cache-dir", named]).code, Some(0));
    assert!(!Path::new(named).exists());
}

#[test]
fn every_truncation_and_every_flipped_byte_is_harmless() {
    let project = Project::new(&[("helper.py", HELPER), ("app.py", APP)]);
    settle();
    let expected = uncached(&project, "concise");
    assert_eq!(cached(&project, "concise"), expected);
    assert_eq!(cached(&project, "concise"), expected);
    let files = kept(&project);
    assert_eq!(files.len(), 3, "a list, facts, a run: {files:?}");
    for file in files {
        let whole = fs::read(&file).expect("read");
        // All lengths of short files are tried, and longer files in steps.
        let step = (whole.len() / 24).max(1);
        for length in (0..whole.len()).step_by(step) {
            for broken in [whole[..length].to_vec(), flipped(&whole, length)] {
                fs::write(&file, broken).expect("written");
                assert_eq!(cached(&project, "concise"), expected, "{} at {length}", file.display());
            }
        }
        // The run has repaired the broken file, so only the next one is broken.
        assert_eq!(cached(&project, "concise"), expected);
    }
}

fn flipped(bytes: &[u8], at: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at] ^= 0x55;
    bytes
}

/// Checksums protect against accidents. The author of a repository can commit a cache with valid checksums, which must
/// not end the run.
#[test]
fn a_forged_cache_does_not_end_the_run() {
    let project = Project::new(&[("helper.py", HELPER), ("app.py", APP), ("src/lib.rs", RUST)]);
    settle();
    let expected = cached(&project, "concise");
    let whole: Vec<(PathBuf, Vec<u8>)> =
        kept(&project).into_iter().map(|file| (file.clone(), fs::read(file).expect("read"))).collect();
    let of = |end: &str| {
        let found = whole.iter().find(|(file, _)| file.to_str().is_some_and(|name| name.ends_with(end)));
        found.unwrap_or_else(|| panic!("no {end}"))
    };
    let (list, facts, run) = (of("files"), of(".facts"), of(".run"));
    let put = |files: &[(&PathBuf, Vec<u8>)]| {
        whole.iter().for_each(|(file, bytes)| fs::write(file, bytes).expect("written"));
        files.iter().for_each(|(file, bytes)| fs::write(file, bytes).expect("written"));
    };
    let ends = |what: &str, at: usize| {
        let told = cached(&project, "concise");
        assert!(matches!(told.code, Some(0 | 1)), "{what} at {at}: {}", told.err);
    };
    for (file, bytes) in [list, run] {
        for at in (16..bytes.len()).step_by((bytes.len() / 40).max(1)) {
            put(&[(file, sealed(&flipped(bytes, at)))]);
            ends("a value", at);
        }
    }
    // The list has the checksums of the facts.
    let pieces = pieces(&list.1, &facts.1);
    assert_eq!(pieces.len(), 3, "a file each");
    for Piece { offset, length, sum } in pieces {
        for at in (offset..offset + length).step_by((length / 40).max(1)) {
            let broken = flipped(&facts.1, at);
            let new = xxh3_64(&broken[offset..offset + length]);
            let renewed = [&list.1[..sum.start], &varint(new), &list.1[sum.end..]].concat();
            put(&[(&facts.0, broken), (&list.0, sealed(&renewed))]);
            fs::remove_file(&run.0).expect("removed");
            ends("facts", at);
        }
    }
    put(&[]);
    assert_eq!(cached(&project, "concise"), expected);
}

/// Returns the bytes of a cache file with a valid checksum.
fn sealed(bytes: &[u8]) -> Vec<u8> {
    [&bytes[..8], &xxh3_64(&bytes[16..]).to_le_bytes(), &bytes[16..]].concat()
}

/// The position of a file's facts, and of their checksum in the list.
struct Piece {
    offset: usize,
    length: usize,
    sum: std::ops::Range<usize>,
}

/// Finds the pieces by trying: three consecutive numbers, of which the last is the checksum of the range that the first
/// two describe.
fn pieces(list: &[u8], facts: &[u8]) -> Vec<Piece> {
    let pieces = (16..list.len()).filter_map(|at| {
        let (offset, at) = number(list, at)?;
        let (length, start) = number(list, at)?;
        let (sum, end) = number(list, start)?;
        let (offset, length) = (usize::try_from(offset).ok()?, usize::try_from(length).ok()?);
        let piece = facts.get(offset..offset.checked_add(length)?)?;
        (length > 0 && xxh3_64(piece) == sum).then_some(Piece { offset, length, sum: start..end })
    });
    pieces.collect()
}

/// Reads a variable-length number (seven bits in a byte), and returns it with its end.
fn number(bytes: &[u8], mut at: usize) -> Option<(u64, usize)> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(at)?;
        at += 1;
        value |= u64::from(byte & 127) << shift;
        if byte & 128 == 0 {
            return Some((value, at));
        }
    }
    None
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value > 127 {
        bytes.push(value as u8 | 128);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

#[test]
fn foreign_things_in_its_place_are_left_alone() {
    let project = project();
    let expected = uncached(&project, "json");
    project.write(".blocklint_cache", "a file");
    assert_eq!(cached(&project, "json"), expected);
    assert_eq!(project.read(".blocklint_cache"), "a file");
}

#[cfg(unix)]
#[test]
fn links_out_of_the_project_are_not_followed() {
    let project = project();
    let expected = uncached(&project, "json");
    let elsewhere = tempfile::tempdir().expect("a folder");
    let folder = project.path().join(".blocklint_cache");
    std::os::unix::fs::symlink(elsewhere.path(), &folder).expect("linked");
    assert_eq!(cached(&project, "json"), expected);
    assert_eq!(fs::read_dir(elsewhere.path()).expect("listed").count(), 0, "nothing is written behind a link");
    assert_eq!(project.run(&["clean"]).code, Some(2));
    // Links inside of the cache are not followed either.
    fs::remove_file(&folder).expect("removed");
    cached(&project, "json");
    let version = kept(&project)[0].parent().expect("a folder").to_owned();
    fs::remove_dir_all(&version).expect("removed");
    std::os::unix::fs::symlink(elsewhere.path(), &version).expect("linked");
    assert_eq!(cached(&project, "json"), expected);
    assert_eq!(fs::read_dir(elsewhere.path()).expect("listed").count(), 0);
}

#[test]
fn runs_without_a_writable_cache_print_the_same() {
    let project = project();
    let expected = uncached(&project, "json");
    // A file in place of the folder, where not even root can write.
    project.write("taken", "");
    let named = project.run(&["check", "--output-format", "json", "--cache-dir", "taken/inner"]);
    assert_eq!((named.code, &named.out), (expected.code, &expected.out));
    assert!(named.err.contains("taken/inner: no cache is kept there"), "{}", named.err);
}

#[test]
fn processes_that_write_at_once_do_not_disturb_each_other() {
    let project = project();
    let expected = uncached(&project, "json");
    for round in 0..4 {
        project.write("extra.py", &format!("import time\nasync def g{round}():\n    time.sleep({round})\n"));
        let expected = if round == 0 { None } else { Some(uncached(&project, "json")) };
        let runs: Vec<_> = (0..4)
            .map(|_| {
                let mut command: Command = project.command(&["check", "--output-format", "json"]);
                thread::spawn(move || command.output().expect("it starts"))
            })
            .collect();
        let outs: Vec<_> = runs.into_iter().map(|run| run.join().expect("it ends")).collect();
        for out in &outs {
            assert_eq!(String::from_utf8_lossy(&out.stderr), String::from_utf8_lossy(&outs[0].stderr));
            assert_eq!(out.stdout, outs[0].stdout, "round {round}");
        }
        if let Some(expected) = expected {
            assert_eq!(String::from_utf8_lossy(&outs[0].stdout), expected.out);
        }
    }
    fs::remove_file(project.path().join("extra.py")).expect("removed");
    assert_eq!(cached(&project, "json"), expected);
}

#[test]
fn entries_that_no_run_reads_are_removed() {
    let project = project();
    for seconds in 0..14 {
        project.write("app.py", &APP.replace("wait()", &format!("wait()  # {seconds}")));
        cached(&project, "concise");
        cached(&project, ["json", "full", "sarif"][seconds % 3]);
        project.run(&["check", "--min-confidence", "high", "--ignore", &format!("BLT10{}", seconds % 9 + 1)]);
    }
    let count = |extension: &str| {
        kept(&project).iter().filter(|path| path.extension().is_some_and(|of| of == extension)).count()
    };
    assert!(count("run") <= 24, "{:?}", kept(&project));
    // Entries that are in no list stay for some minutes, because another process may be about to add them.
    for path in kept(&project).iter().filter(|path| path.extension().is_some_and(|of| of == "facts")) {
        let file = fs::File::options().write(true).open(path).expect("opened");
        file.set_modified(SystemTime::now() - Duration::from_secs(7200)).expect("set");
    }
    let version = kept(&project)[0].parent().expect("a folder").to_owned();
    let old = version.with_file_name("0.0.1-old");
    fs::create_dir(&old).expect("made");
    let left = old.join("files");
    fs::write(&left, "x").expect("written");
    let file = fs::File::options().write(true).open(&left).expect("opened");
    file.set_modified(SystemTime::now() - Duration::from_secs(30 * 24 * 3600)).expect("set");
    project.write("app.py", APP);
    cached(&project, "concise");
    assert!(count("facts") <= 13, "{:?}", kept(&project));
    assert!(!old.exists());
    assert_eq!(cached(&project, "json"), uncached(&project, "json"));
}
