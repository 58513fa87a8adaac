//! The warning about parts of a project that the analysis left out because it failed on them.

use blocklint_engine::{LeftOut, cache_version, locate_left_out};
use blocklint_project::Project;
use camino::Utf8Path;

use super::path_from;
use crate::messages::warning_with;

/// Warns about the parts that were left out, with the reason and the address for a bug report.
pub(super) fn report(project: &Project, left_out: &[LeftOut], current: &Utf8Path) {
    if left_out.is_empty() {
        return;
    }
    let mut left_out = left_out.to_vec();
    locate_left_out(project, &mut left_out);
    let mut lines: Vec<String> = left_out
        .iter()
        .map(|part| match &part.place {
            Some(place) => {
                format!("{}:{}: `{}`: {}", path_from(&place.path, current), place.start.row, part.name, part.why)
            }
            None => format!("{}: {}", part.name, part.why),
        })
        .collect();
    let (os, processor) = (std::env::consts::OS, std::env::consts::ARCH);
    let issues =
        blocklint_rules::repository().map_or_else(String::new, |repository| format!(" to {repository}/issues"));
    lines.push(format!(
        "Please report these lines{issues}, with the code if you can: blocklint {} on {os} {processor}",
        cache_version()
    ));
    let (parts, them) = match left_out.len() {
        1 => ("1 part".to_owned(), "it"),
        more => (format!("{more} parts"), "them"),
    };
    warning_with(
        format!("blocklint failed in {parts} of the analysis and left {them} out; all else was analysed"),
        &lines,
    );
}
