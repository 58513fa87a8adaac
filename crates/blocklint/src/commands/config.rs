//! `blocklint config`, and `blocklint check --show-settings` and `--show-files`.

use std::fmt::Write as _;
use std::io::{self, BufWriter, Write};

use blocklint_project::{KEYS, Key, OptionValue, Persona, Project, absolute, schema};
use camino::Utf8Path;
use serde_json::{Value, json};

use super::ignore_closed_pipe;
use crate::CLEAN;
use crate::arguments::{Check, Config, TextFormat};
use crate::messages::Failure;

pub(crate) fn config(config: &Config) -> Result<u8, Failure> {
    let text = match (&config.key, config.schema) {
        (_, true) => to_json_text(&schema()),
        (Some(name), _) => describe_key(find_key(name)?, config.output_format),
        (None, _) => list_keys(config.output_format),
    };
    ignore_closed_pipe(io::stdout().write_all(text.as_bytes()))?;
    Ok(CLEAN)
}

fn find_key(name: &str) -> Result<&'static Key, Failure> {
    let name = name.strip_prefix("tool.blocklint.").unwrap_or(name);
    let known = KEYS.iter().find(|key| key.name == name);
    known.ok_or_else(|| Failure::new(blocklint_project::unknown_key(name)))
}

fn describe_key(key: &Key, format: TextFormat) -> String {
    if format == TextFormat::Json {
        return to_json_text(&key_json(key));
    }
    let mut text = format!("{}\n\n{}\n\nValue:   {}\nDefault: {}\n", key.name, key.says, key.value, key.default);
    if let Some(option) = key.option {
        let _ = writeln!(text, "Option:  {option}");
    }
    let table = if key.example.starts_with('[') { "" } else { "[tool.blocklint]\n" };
    let _ = write!(text, "Example:\n\n```toml\n{table}{}\n```\n", key.example);
    text
}

fn list_keys(format: TextFormat) -> String {
    match format {
        TextFormat::Text => KEYS.iter().map(|key| format!("{}\n", key.name)).collect(),
        TextFormat::Json => to_json_text(&Value::Array(KEYS.iter().map(key_json).collect())),
    }
}

fn key_json(key: &Key) -> Value {
    let Key { name, value, default, says, example, option } = key;
    json!({
        "name": name,
        "value": value,
        "default": default,
        "documentation": says,
        "example": example,
        "option": option,
    })
}

fn to_json_text(value: &Value) -> String {
    format!("{value:#}\n")
}

/// Prints the output of `--show-settings`: the project root, the configuration files, and each setting in TOML with its
/// origin.
pub(super) fn show_settings(check: &Check, project: &Project, current: &Utf8Path) -> Result<u8, Failure> {
    let mut text = format!("# project root: {}\n", project.root);
    let relative = |file: &Utf8Path| file.strip_prefix(current).unwrap_or(file).to_string();
    match &project.configuration.file {
        Some(file) => {
            let _ = writeln!(text, "# configuration: {}", relative(file));
        }
        None => text.push_str("# configuration: none\n"),
    }
    for file in &project.configuration.extended {
        let _ = writeln!(text, "# extends: {}", relative(file));
    }
    text.push_str(&project.configuration.with_options(&option_values(check, current)).to_toml(current));
    // Values that no file can set.
    for option in options_without_key(check) {
        let _ = writeln!(text, "# {option}");
    }
    ignore_closed_pipe(io::stdout().write_all(text.as_bytes()))?;
    Ok(CLEAN)
}

/// Returns the options of the command line that override a key of the configuration.
fn option_values(check: &Check, current: &Utf8Path) -> Vec<OptionValue> {
    let single = |value: Option<String>| value.map(|value| vec![value]);
    let list = |values: &[String]| (!values.is_empty()).then(|| values.to_vec());
    let (severity, confidence) = check.levels();
    let severity = severity.map(|level| level.as_str().to_owned());
    let confidence = confidence.map(|level| level.as_str().to_owned());
    let or_persona = |is_unset: bool, option: &'static str| if is_unset { "--persona" } else { option };
    let candidates = [
        ("select", "--select", list(&check.select)),
        ("extend-select", "--extend-select", list(&check.extend_select)),
        ("ignore", "--ignore", list(&check.ignore)),
        ("exclude", "--exclude", check.exclude.clone()),
        ("extend-exclude", "--extend-exclude", list(&check.extend_exclude)),
        ("min-severity", or_persona(check.min_severity.is_none(), "--min-severity"), single(severity)),
        ("min-confidence", or_persona(check.min_confidence.is_none(), "--min-confidence"), single(confidence)),
        ("persona", "--persona", single(check.persona.map(|persona| persona.as_str().to_owned()))),
        ("baseline", "--baseline", single(check.baseline.as_ref().map(|file| absolute(current, file).to_string()))),
    ];
    let candidates =
        candidates.into_iter().filter_map(|(key, option, values)| Some(OptionValue { key, option, values: values? }));
    candidates.collect()
}

/// Returns the options in use that decide which findings are reported and have no key in the configuration.
fn options_without_key(check: &Check) -> Vec<String> {
    let flags = [
        ("--include-aside", check.include_aside || check.persona.is_some_and(Persona::looks_aside)),
        ("--trace-in-paths", check.trace_in_paths),
        ("--force-exclude", check.force_exclude),
        ("--isolated", check.isolated),
        ("--no-baseline", check.no_baseline),
        ("--strict-baseline", check.strict_baseline),
        ("--strict", check.strict),
        ("--changed", check.changed),
        ("--staged", check.staged),
        ("--unsafe-fixes", check.unsafe_fixes),
        ("--no-cache", check.no_cache),
    ];
    let mut options: Vec<String> = flags.iter().filter(|(_, is)| *is).map(|(option, _)| (*option).to_owned()).collect();
    options.extend(check.since.as_ref().map(|since| format!("--since {since}")));
    options.extend(check.environment.iter().map(|folder| format!("--environment {folder}")));
    options.extend(check.cache_dir.as_ref().map(|folder| format!("--cache-dir {folder}")));
    options.extend(check.run.max_findings.map(|max_findings| format!("--max-findings {max_findings}")));
    options.iter().map(|option| option.replace(char::is_control, " ")).collect()
}

/// Prints the output of `--show-files`: the files whose findings are reported, one in each line.
pub(super) fn show_files(project: &Project, current: &Utf8Path) -> Result<u8, Failure> {
    let print = || -> io::Result<()> {
        let mut out = BufWriter::new(io::stdout().lock());
        for file in project.files.iter().filter(|file| file.reported) {
            writeln!(out, "{}", file.path.strip_prefix(current).unwrap_or(&file.path))?;
        }
        out.flush()
    };
    ignore_closed_pipe(print())?;
    Ok(CLEAN)
}
