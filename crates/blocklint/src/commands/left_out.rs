//! Tells the user which parts of a project the analysis left out because it failed there.

use blocklint_engine::{LeftOut, cache_version, locate_left_out};
use blocklint_project::Project;
use camino::Utf8Path;

use super::from_here;
use crate::messages::warning_with;

/// Says on stderr what was left out, why, and how to report it.
pub(super) fn tell(project: &Project, left_out: &[LeftOut], current: &Utf8Path) {
    if left_out.is_empty() {
        return;
    }
    let mut left_out = left_out.to_vec();
    locate_left_out(project, &mut left_out);
    let mut lines: Vec<String> = left_out
        .iter()
        .map(|of| match &of.place {
            Some(place) => {
                format!("{}:{}: `{}`: {}", from_here(&place.path, current), place.start.row, of.name, of.why)
            }
            None => format!("{}: {}", of.name, of.why),
        })
        .collect();
    let (os, processor) = (std::env::consts::OS, std::env::consts::ARCH);
    let to = blocklint_rules::repository().map_or_else(String::new, |repository| format!(" to {repository}/issues"));
    lines.push(format!(
        "Please report these lines{to}, with the code if you can: blocklint {} on {os} {processor}",
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
