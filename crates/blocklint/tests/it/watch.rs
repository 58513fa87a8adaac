//! `blocklint check --watch`: a run for each change, in a process that does not grow.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use std::{fs, os::unix::process::ExitStatusExt};

use crate::support::Project;

/// Reads lines of a child in another thread, so that a test can wait for one of them.
struct Lines(Receiver<String>);

impl Lines {
    fn new(from: impl Read + Send + 'static) -> Self {
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            BufReader::new(from).lines().map_while(Result::ok).all(|line| sender.send(line).is_ok());
        });
        Lines(receiver)
    }

    /// Waits for the next line with this text.
    fn until(&self, text: &str) -> String {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let line = self.0.recv_timeout(left).unwrap_or_else(|error| panic!("{text}: {error}"));
            if line.contains(text) {
                return line;
            }
        }
    }
}

/// A process that watches a project, and its output.
struct Watching {
    child: Child,
    out: Lines,
    err: Lines,
}

impl Watching {
    fn new(project: &Project) -> Self {
        let mut command = project.command(&["check", "--watch", "--no-cache", "--output-format", "concise"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let out = Lines::new(child.stdout.take().expect("a pipe"));
        let err = Lines::new(child.stderr.take().expect("a pipe"));
        Watching { child, out, err }
    }

    /// Ends the process.
    fn end(&mut self) {
        // SIGINT is not used, because it is ignored if a shell runs the tests in the background.
        let kill = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().expect("kill");
        assert!(kill.success());
        let status = self.child.wait().expect("it ends");
        assert_eq!(status.signal(), Some(15), "{status:?}");
    }

    /// Returns the resident memory of the process in KiB.
    #[cfg(target_os = "linux")]
    fn resident(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.trim().trim_end_matches(" kB").parse().ok()
    }
}

#[test]
fn a_change_makes_a_new_run_until_it_is_ended() {
    let project = Project::new(&[("a.py", "x = 1\n")]);
    let mut watching = Watching::new(&project);
    let first = watching.out.until("No findings");
    assert!(!first.contains('\u{1b}'), "a pipe is not cleared");
    watching.err.until("Watching ");
    // A file that blocklint does not read starts no run; a source file does.
    project.write("notes.md", "x");
    fs::create_dir(project.path().join("new")).expect("made");
    project.write("a.py", "import time\nasync def f(): time.sleep(1)\n");
    watching.out.until("a.py:2:16: BLT101");
    watching.out.until("Found 1 finding");
    watching.err.until("Watching ");
    project.write("blocklint.toml", "nonsense = 1\n");
    project.write("a.py", "x = 2\n");
    watching.err.until("Watching ");
    watching.end();
}

/// Tests that read the memory of a process from `/proc`.
#[cfg(target_os = "linux")]
mod memory {
    use std::fmt::Write as _;

    use super::{Project, Watching};

    /// Returns a module with handlers that reach a blocking call through helpers.
    fn module(number: usize) -> String {
        let mut text = "import time\nimport requests\n\n".to_owned();
        for at in 0..40 {
            let _ = write!(
                text,
                "def helper_{number}_{at}(key):\n    return requests.get(key)\n\n\nasync def handler_{number}_{at}(key):\n    \
                 time.sleep(1)\n    return helper_{number}_{at}(key)\n\n\n"
            );
        }
        text
    }

    #[test]
    fn twenty_five_saves_need_no_more_memory_than_the_first() {
        let project = Project::new(&[]);
        for number in 0..60 {
            project.write(&format!("m{number}.py"), &module(number));
        }
        let mut watching = Watching::new(&project);
        watching.err.until("Watching ");
        let first = watching.resident().expect("Linux tells");
        for save in 0..25 {
            project.write("saved.py", &format!("import time\nasync def save_{save}(): time.sleep(1)\n"));
            watching.out.until("saved.py:2:");
            watching.err.until("Watching ");
        }
        let last = watching.resident().expect("Linux tells");
        watching.end();
        assert!(last * 10 < first * 13, "{first} KiB after the first run, {last} KiB after 25 saves");
    }
}
