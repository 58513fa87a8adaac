//! `blocklint rule CODE` and `blocklint rule --all`.

use std::io::Write;

use blocklint_rules::{RULES, rule_named};

use super::unless_closed;
use crate::CLEAN;
use crate::messages::Failure;

pub(crate) fn rule(named: &str) -> Result<u8, Failure> {
    let Some(rule) = rule_named(named) else { return Err(unknown(named)) };
    unless_closed(std::io::stdout().write_all(rule.page.as_bytes()))?;
    Ok(CLEAN)
}

/// The pages of all rules, in the order of their codes.
pub(crate) fn all_rules() -> Result<u8, Failure> {
    let mut rules = RULES.to_vec();
    rules.sort_by_key(|rule| rule.code);
    let pages = rules.iter().map(|rule| rule.page).collect::<Vec<_>>().join("\n");
    unless_closed(std::io::stdout().write_all(pages.as_bytes()))?;
    Ok(CLEAN)
}

fn unknown(named: &str) -> Failure {
    let known = RULES.iter().map(|rule| format!("{} ({})", rule.code, rule.name)).collect::<Vec<_>>().join(", ");
    match blocklint_rules::nearest(named) {
        Some(near) => Failure::new(format!("unknown rule `{named}`; did you mean `{near}`?")),
        None => Failure::new(format!("unknown rule `{named}`; known are {known}")),
    }
}
