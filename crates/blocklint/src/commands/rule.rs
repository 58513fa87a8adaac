//! `blocklint rule CODE`, `--all` and `--severity`, also called `explain`: the pages of rules and the table of
//! severities.

use std::fmt::Write as _;
use std::io::Write;

use blocklint_core::Effect;
use blocklint_models::SeverityTable;
use blocklint_rules::{RULES, Rule, async_codes, rule_named, rules_of_async_code};
use serde_json::{Value, json};

use super::ignore_closed_pipe;
use crate::CLEAN;
use crate::arguments::{self, TextFormat};
use crate::messages::Failure;

pub(crate) fn rule(arguments: &arguments::Rule) -> Result<u8, Failure> {
    if arguments.severity {
        ignore_closed_pipe(std::io::stdout().write_all(severity_table(arguments.output_format).as_bytes()))?;
        return Ok(CLEAN);
    }
    let rules = match &arguments.rule {
        Some(name) => vec![rule_named(name).ok_or_else(|| unknown_rule(name))?],
        None => rules_by_code(),
    };
    let text = match (arguments.output_format, arguments.all) {
        (TextFormat::Text, _) => rules.iter().map(|rule| rule.page).collect::<Vec<_>>().join("\n"),
        (TextFormat::Json, true) => format!("{:#}\n", rules.iter().map(|rule| rule_json(rule)).collect::<Value>()),
        (TextFormat::Json, false) => rules.iter().map(|rule| format!("{:#}\n", rule_json(rule))).collect(),
    };
    ignore_closed_pipe(std::io::stdout().write_all(text.as_bytes()))?;
    Ok(CLEAN)
}

/// Returns the built-in table of severities by kind of work; the configuration of a project may set others.
fn severity_table(format: TextFormat) -> String {
    let table = SeverityTable::default();
    let lines = table.lines();
    match format {
        TextFormat::Text => {
            let mut text = "| kind | severity | points | takes |\n| --- | --- | ---: | ---: |\n".to_owned();
            for (work, line) in lines {
                let takes = line.duration.map_or(String::new(), |takes| takes.to_string());
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
                    "takes": line.duration.map(|takes| takes.to_string()),
                })
            });
            format!("{:#}\n", objects.collect::<Value>())
        }
    }
}

fn rules_by_code() -> Vec<&'static Rule> {
    let mut rules = RULES.to_vec();
    rules.sort_by_key(|rule| rule.code);
    rules
}

/// Returns a rule as JSON, with the key names of `ruff rule --output-format json`.
fn rule_json(rule: &Rule) -> Value {
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

fn unknown_rule(name: &str) -> Failure {
    let known = RULES.iter().map(|rule| format!("{} ({})", rule.code, rule.name)).collect::<Vec<_>>().join(", ");
    match blocklint_rules::nearest_rule(name) {
        Some(near) => Failure::new(format!("unknown rule `{name}`; did you mean `{near}`?")),
        None => Failure::new(format!("unknown rule `{name}`; known are {known}")),
    }
}
