//! The files that a run changed.

use std::collections::BTreeMap;
use std::io::{self, Write};

use blocklint_core::{Finding, RuleCode};
use camino::Utf8Path;

use crate::paths::shown;
use crate::summary::count;

/// Writes which files were changed and how many findings in each that was about; nothing where none was. `done` is what was done with
/// the findings, as `Fixed`. A file may be changed for findings in others. With `by_rule`, as ruff does, the rules as well.
///
/// # Errors
///
/// Those of the writer.
pub fn changed_files(
    out: &mut dyn Write,
    done: &str,
    files: &[&Utf8Path],
    findings: &[&Finding],
    folder: &Utf8Path,
    by_rule: bool,
) -> io::Result<()> {
    if files.is_empty() {
        return Ok(());
    }
    writeln!(out, "{done} {} in {}:", count(findings.len(), "finding"), count(files.len(), "file"))?;
    for file in files {
        let mut rules: BTreeMap<RuleCode, usize> = BTreeMap::new();
        findings.iter().filter(|finding| &*finding.place.path == *file).for_each(|finding| {
            *rules.entry(finding.rule).or_default() += 1;
        });
        let name = shown(file, folder);
        match rules.values().sum::<usize>() {
            0 => writeln!(out, "- {name}")?,
            _ if by_rule => writeln!(out, "- {name}:")?,
            all => writeln!(out, "- {name}: {all}")?,
        }
        for (rule, number) in rules.into_iter().filter(|_| by_rule) {
            writeln!(out, "    {number} × {rule} ({})", blocklint_rules::rule(rule).map_or("", |rule| rule.name))?;
        }
    }
    Ok(())
}
