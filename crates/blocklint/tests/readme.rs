//! The README shows what its first command prints. `UPDATE=1` rewrites what it shows.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

/// Stands in the README above the block with the output of the command it names.
const MARK: &str = "<!-- the output of `blocklint check examples/service` -->\n\n```text\n";
const END: &str = "```\n";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The exit code and the output of `blocklint check examples/service`, in an environment that says nothing.
fn check(repository: &Path) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_blocklint"));
    command.env_clear().current_dir(repository).args(["check", "examples/service"]).stdin(Stdio::null());
    let output = command.output().expect("it starts");
    let text = |bytes| String::from_utf8(bytes).expect("utf-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn the_readme_shows_what_its_command_prints() {
    let repository = repository();
    let (code, printed, errors) = check(&repository);
    assert_eq!((code, errors.as_str()), (Some(1), ""), "the README says that it exits with 1");
    let file = repository.join("README.md");
    let readme = fs::read_to_string(&file).expect("a README");
    let start = readme.find(MARK).expect("the mark stands in the README") + MARK.len();
    let end = start + readme[start..].find(END).expect("the block ends");
    if env::var("UPDATE").is_ok_and(|value| value == "1") {
        let updated = format!("{}{printed}{}", &readme[..start], &readme[end..]);
        fs::write(&file, updated).expect("the README is written");
    } else {
        assert_eq!(&readme[start..end], printed, "run this test with UPDATE=1 to renew the README");
    }
}

#[test]
fn the_first_example_tells_the_whole_story() {
    let (_, printed, _) = check(&repository());
    // Which function stalls, for how long, the way through three files, the call, and what to do.
    for part in [
        "async function `quote`",
        "for up to 30 s",
        "examples/service/main.py:22:17",
        "examples/service/pricing.py:27:22",
        "examples/service/rates.py:14:20",
        "path: quote → price_in → latest → self.session.get",
        "help: ",
    ] {
        assert!(printed.contains(part), "{part} is missing in\n{printed}");
    }
}
