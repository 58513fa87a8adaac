//! The list of the files that a run changed: `Fixed 3 findings in 2 files:`.

use std::collections::BTreeMap;
use std::io::{self, Write};

use blocklint_core::{Finding, RuleCode};
use camino::Utf8Path;

use crate::paths::path_text;
use crate::summary::count;

/// Writes the changed files, each with the number of its findings; nothing if no file was changed. `done` says what was
/// done with the findings: `Fixed`, `Ignored`. A file may have no findings, because it was changed for findings in
/// other files. With `by_rule`, the findings are also counted by rule, as ruff does.
///
/// # Errors
///
/// Those of the writer.
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
            all => writeln!(out, "- {name}: {all}")?,
        }
        for (rule, number) in rules.into_iter().filter(|_| by_rule) {
            writeln!(out, "    {number} × {rule} ({})", blocklint_rules::rule(rule).map_or("", |rule| rule.name))?;
        }
    }
    Ok(())
}
