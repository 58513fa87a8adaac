//! Formats edited Rust files with rustfmt, if they were formatted before the edits.
//!
//! rustfmt reads the text from its standard input and runs in the root of the file system, so that a toolchain file of
//! the checkout is ignored, because its programs would be run. A checkout can only set options of the layout.

use std::io::Write;
use std::process::{Command, Stdio};

use blocklint_project::lies_within;
use camino::{Utf8Path, Utf8PathBuf};

/// The names of rustfmt's configuration file.
const SETTINGS: [&str; 2] = ["rustfmt.toml", ".rustfmt.toml"];

/// Returns the formatted text of a Rust file after edits; `None` if the text before the edits was not formatted, if
/// rustfmt is not installed, or if it changes nothing.
pub(super) fn reformat_edited(
    path: &Utf8Path,
    root: &Utf8Path,
    edition: u16,
    before: &str,
    after: &str,
) -> Option<String> {
    let settings = settings_for(path, root);
    let formatted = |text: &str| run_rustfmt(text, edition, settings.as_deref());
    if formatted(before)? != before {
        return None;
    }
    formatted(after).filter(|text| text != after)
}

fn settings_for(path: &Utf8Path, root: &Utf8Path) -> Option<Utf8PathBuf> {
    let folders = path.ancestors().skip(1).take_while(|folder| folder.starts_with(root));
    folders
        .flat_map(|folder| SETTINGS.map(|name| folder.join(name)))
        .find(|file| file.is_file() && lies_within(file, root))
}

fn run_rustfmt(text: &str, edition: u16, settings: Option<&Utf8Path>) -> Option<String> {
    let mut command = Command::new("rustfmt");
    command.args(["--quiet", "--emit", "stdout", "--edition", &edition.to_string()]).current_dir("/");
    if let Some(file) = settings {
        command.args(["--config-path", file.as_str()]);
    }
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let mut input = child.stdin.take()?;
    // rustfmt reads all input before it writes. If it ends early, its exit code shows that.
    let _ = input.write_all(text.as_bytes());
    drop(input);
    let output = child.wait_with_output().ok()?;
    if !output.status.success() {
        return None;
    }
    String::from_utf8(output.stdout).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLEAN: &str = "fn main() {\n    f();\n}\n";

    #[test]
    fn formatted_files_stay_formatted() {
        let root = Utf8Path::new("/nowhere");
        let again = |before: &str, after: &str| reformat_edited(&root.join("a.rs"), root, 2021, before, after);
        assert_eq!(again(CLEAN, "fn main() {\n  f( );\n}\n").as_deref(), Some(CLEAN));
        assert_eq!(again(CLEAN, CLEAN), None);
        assert_eq!(again("fn main() { f( ); }\n", "fn main() {  g( ); }\n"), None);
        assert_eq!(again(CLEAN, "fn main() {"), None, "it does not parse");
    }
}
