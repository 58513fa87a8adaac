//! `blocklint rule CODE` and `blocklint rule --all`, also called `explain`.

use std::fmt::Write as _;
use std::io::Write;

use blocklint_core::Effect;
use blocklint_models::SeverityTable;
use blocklint_rules::{RULES, Rule, async_codes, rule_named, rules_of_async_code};
use serde_json::{Value, json};

use super::unless_closed;
use crate::CLEAN;
use crate::arguments::{self, TextFormat};
use crate::messages::Failure;

pub(crate) fn rule(asked: &arguments::Rule) -> Result<u8, Failure> {
    if asked.severity {
        unless_closed(std::io::stdout().write_all(severities(asked.output_format).as_bytes()))?;
        return Ok(CLEAN);
    }
    let rules = match &asked.rule {
        Some(named) => vec![rule_named(named).ok_or_else(|| unknown(named))?],
        None => by_code(),
    };
    let text = match (asked.output_format, asked.all) {
        (TextFormat::Text, _) => rules.iter().map(|rule| rule.page).collect::<Vec<_>>().join("\n"),
        (TextFormat::Json, true) => format!("{:#}\n", rules.iter().map(|rule| as_json(rule)).collect::<Value>()),
        (TextFormat::Json, false) => rules.iter().map(|rule| format!("{:#}\n", as_json(rule))).collect(),
    };
    unless_closed(std::io::stdout().write_all(text.as_bytes()))?;
    Ok(CLEAN)
}

/// The table of kinds of work, as built in: the configuration of a project may set other severities.
fn severities(format: TextFormat) -> String {
    let table = SeverityTable::default();
    let lines = table.lines();
    match format {
        TextFormat::Text => {
            let mut text = "| kind | severity | points | takes |\n| --- | --- | ---: | ---: |\n".to_owned();
            for (work, line) in lines {
                let takes = line.takes.map_or(String::new(), |takes| takes.to_string());
                let _ = writeln!(text, "| `{}` | {} | {} | {takes} |", work.name(), line.severity, line.points);
            }
            text
        }
        TextFormat::Json => {
            let objects = lines.map(|(work, line)| {
                json!({
                    "kind": work.name(),
                    "severity": line.severity.as_str(),
                    "points": line.points,
                    "takes": line.takes.map(|takes| takes.to_string()),
                })
            });
            format!("{:#}\n", objects.collect::<Value>())
        }
    }
}

fn by_code() -> Vec<&'static Rule> {
    let mut rules = RULES.to_vec();
    rules.sort_by_key(|rule| rule.code);
    rules
}

/// With the names that ruff gives the same things.
fn as_json(rule: &Rule) -> Value {
    let same = async_codes().iter().filter(|known| rules_of_async_code(&known.code).contains(&rule.code));
    json!({
        "name": rule.name,
        "code": rule.code.to_string(),
        "linter": "blocklint",
        "summary": rule.summary,
        "explanation": rule.page,
        "effect": rule.effect.map(Effect::as_str),
        "async_codes": same.map(|known| known.code.as_str()).collect::<Vec<_>>(),
        "url": blocklint_rules::repository().map(|repository| rule.url_in(repository)),
    })
}

fn unknown(named: &str) -> Failure {
    let known = RULES.iter().map(|rule| format!("{} ({})", rule.code, rule.name)).collect::<Vec<_>>().join(", ");
    match blocklint_rules::nearest_rule(named) {
        Some(near) => Failure::new(format!("unknown rule `{named}`; did you mean `{near}`?")),
        None => Failure::new(format!("unknown rule `{named}`; known are {known}")),
    }
}
