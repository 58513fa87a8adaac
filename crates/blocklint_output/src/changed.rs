//! The list of the files that a run changed: `Fixed 3 findings in 2 files:`.

use std::collections::BTreeMap;
use std::io::{self, Write};

use blocklint_core::{Finding, RuleCode};
use camino::Utf8Path;

use crate::paths::path_text;
use crate::summary::count;

/// Writes the changed files, each with the number of its findings; nothing if no file was changed. `done` is the action
/// on the findings: `Fixed`, `Ignored`. A file without findings was changed for findings in other files. With
/// `by_rule`, the findings are also counted by rule, as ruff does.
///
/// # Errors
///
/// Returns the errors of the writer.
pub fn write_changed_files(
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
        let name = path_text(file, folder);
        match rules.values().sum::<usize>() {
            0 => writeln!(out, "- {name}")?,
            _ if by_rule => writeln!(out, "- {name}:")?,
            findings_of_file => writeln!(out, "- {name}: {findings_of_file}")?,
        }
        for (rule, findings_of_rule) in rules.into_iter().filter(|_| by_rule) {
            writeln!(
                out,
                "    {findings_of_rule} × {rule} ({})",
                blocklint_rules::rule(rule).map_or("", |rule| rule.name)
            )?;
        }
    }
    Ok(())
}
