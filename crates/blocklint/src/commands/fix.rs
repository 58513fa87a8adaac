//! `blocklint check --fix` and `--diff`.

use std::io::{self, BufWriter, Write};

use blocklint_core::Applicability;
use blocklint_engine::{Fixed, Levels, Options, Rules, Wanted, apply, write};
use blocklint_models::Models;
use blocklint_output::diff;
use blocklint_project::Project;
use camino::Utf8Path;

use super::unless_closed;
use crate::arguments::Check;
use crate::messages::{Failure, error, warning};
use crate::{CLEAN, FAILED, FOUND};

/// What fixing did.
pub(crate) struct Outcome {
    /// How many findings are gone, or would be.
    pub(crate) fixed: usize,
    /// Whether a file could not be written.
    pub(crate) failed: bool,
}

impl Outcome {
    /// Of a run that only says what would change.
    pub(crate) fn exit_code(&self) -> u8 {
        match (self.failed, self.fixed) {
            (true, _) => FAILED,
            (false, 0) => CLEAN,
            (false, _) => FOUND,
        }
    }
}

/// Applies fixes: writes the files, or with `--diff` prints what would change in them.
pub(crate) fn fix(
    check: &Check,
    project: &Project,
    models: &Models,
    rules: &Rules,
    levels: Levels,
    current: &Utf8Path,
) -> Result<Outcome, Failure> {
    let least = if check.unsafe_fixes { Applicability::Unsafe } else { Applicability::Safe };
    let options = Options { min_confidence: levels.confidence };
    let done = apply(project, models, options, &Wanted { least, rules, levels })?;
    for refused in &done.refused {
        let path = &refused.finding.place.path;
        let path = path.strip_prefix(current).unwrap_or(path);
        warning(format!(
            "{path}: {} in `{}` was not fixed: {}",
            refused.finding.rule, refused.finding.function, refused.reason
        ));
    }
    match check.diff {
        true => {
            unless_closed(print(&done, current))?;
            let would = match done.fixed.len() {
                0 => "No findings would be fixed".to_owned(),
                1 => "Would fix 1 finding".to_owned(),
                more => format!("Would fix {more} findings"),
            };
            // Nobody is left to tell that stderr is closed.
            let _ = writeln!(io::stderr(), "{would}.");
            Ok(Outcome { fixed: done.fixed.len(), failed: !project.missing.is_empty() })
        }
        false => Ok(save(&done, project, current)),
    }
}

fn print(done: &Fixed, current: &Utf8Path) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    for file in &done.files {
        diff(&mut out, &file.path, current, &file.before, &file.after)?;
    }
    out.flush()
}

fn save(done: &Fixed, project: &Project, current: &Utf8Path) -> Outcome {
    let mut fixed = done.fixed.len();
    let mut failed = false;
    for file in &done.files {
        if let Err(reason) = write(file, &project.base) {
            failed = true;
            error(format!("{}: {reason}", file.path.strip_prefix(current).unwrap_or(&file.path)));
            fixed -= done.fixed.iter().filter(|finding| finding.place.path == file.path).count();
        }
    }
    Outcome { fixed, failed }
}
