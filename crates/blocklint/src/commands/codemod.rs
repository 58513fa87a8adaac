//! `blocklint codemod …`: starts the codemods of the Python package, which use libcst.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::FAILED;
use crate::arguments::Codemod;
use crate::messages::Failure;

/// Python code that exits with 0 if the interpreter has the codemods.
const PROBE: &str = "import importlib.util as u, sys; sys.exit(0 if u.find_spec('blocklint.codemods') else 1)";

/// The error if no interpreter has the codemods.
const INSTALL: &str = "codemods are a part of blocklint's Python package, and no Python that was tried has it: \
    pip install 'blocklint-async[codemods]', or name one with BLOCKLINT_PYTHON";

pub(crate) fn codemod(codemod: &Codemod) -> Result<u8, Failure> {
    let python = python_candidates().into_iter().find(|python| {
        let probe = Command::new(python).args(["-c", PROBE]).stdout(Stdio::null()).stderr(Stdio::null()).status();
        probe.is_ok_and(|status| status.success())
    });
    let Some(python) = python else { return Err(Failure::new(INSTALL)) };
    let mut command = Command::new(&python);
    command.args(["-m", "blocklint.codemods"]).args(&codemod.arguments);
    if let Ok(this) = std::env::current_exe() {
        command.env("BLOCKLINT_BINARY", this);
    }
    let status = command.status().map_err(|error| Failure::new(format!("{}: {error}", python.display())))?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(FAILED))
}

/// Returns the interpreters that may have the package, the likeliest first: the one of `BLOCKLINT_PYTHON`, the one in
/// the folder of this binary, the one of the active virtual environment, and those on the `PATH`.
fn python_candidates() -> Vec<PathBuf> {
    let scripts = if cfg!(windows) { "Scripts" } else { "bin" };
    let mut candidates: Vec<PathBuf> = std::env::var_os("BLOCKLINT_PYTHON").map(PathBuf::from).into_iter().collect();
    let binary = std::env::current_exe().ok();
    let binary_folder = binary.as_ref().and_then(|binary| binary.parent()).map(PathBuf::from);
    let environment_folder = std::env::var_os("VIRTUAL_ENV").map(|folder| PathBuf::from(folder).join(scripts));
    for folder in binary_folder.into_iter().chain(environment_folder) {
        candidates.extend(
            ["python3", "python"].map(|name| folder.join(name).with_extension(std::env::consts::EXE_EXTENSION)),
        );
    }
    candidates.extend(["python3", "python"].map(PathBuf::from));
    candidates
}
