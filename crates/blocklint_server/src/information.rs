//! The text of the command `blocklint.debugInformation`: version, files, timings and settings of the server.

use std::fmt::Write;

use crate::capabilities::Client;
use crate::folder::Folder;
use crate::settings::{DiagnosticMode, Run, Settings};

/// Returns the version, the files and findings of each folder, the timings, and the settings in use.
pub(crate) fn debug_information(client: &Client, folders: &[Folder]) -> String {
    let mut text = format!("blocklint {}\n", env!("CARGO_PKG_VERSION"));
    let _ = writeln!(text, "The editor counts positions in {}.", client.encoding.as_str().to_uppercase());
    let asks = if client.pulls_diagnostics { "requests findings" } else { "is sent findings" };
    let _ = writeln!(text, "The editor {asks}.");
    for folder in folders {
        let analysis = &folder.analysis;
        let state = if folder.is_current() { "" } else { "; they are being analysed anew" };
        let (files, findings, files_with_findings) =
            (analysis.files.len(), analysis.findings.len(), analysis.by_file.len());
        let _ = writeln!(
            text,
            "\nFolder {}\n{}, {} in {}{state}.",
            folder.path,
            count(files, "source file"),
            count(findings, "finding"),
            count(files_with_findings, "file"),
        );
        for line in describe_settings(&folder.settings) {
            let _ = writeln!(text, "{line}");
        }
        let _ = writeln!(text, "Time of the last analysis:\n{}", analysis.timings);
    }
    text
}

fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Returns the settings, a sentence for each.
fn describe_settings(settings: &Settings) -> Vec<String> {
    let mut lines = Vec::new();
    if !settings.enable {
        lines.push("Nothing is reported: blocklint.enable is off.".to_owned());
    }
    lines.push(match &settings.select {
        None => "Rules: those that the project's configuration selects.".to_owned(),
        Some(rules) => format!("Rules: only {}.", rules.join(", ")),
    });
    for (rules, word) in [(&settings.extend_select, "besides"), (&settings.ignore, "but not")] {
        if let Some(rules) = rules.as_ref().filter(|rules| !rules.is_empty()) {
            lines.push(format!("Rules {word}: {}.", rules.join(", ")));
        }
    }
    let describe_level =
        |level: Option<&str>| level.map_or_else(|| "as the configuration says".to_owned(), str::to_owned);
    lines.push(format!("Least severity: {}.", describe_level(settings.min_severity.map(|level| level.as_str()))));
    lines.push(format!("Least confidence: {}.", describe_level(settings.min_confidence.map(|level| level.as_str()))));
    if settings.include_aside {
        lines.push("Findings that only tests, examples and command lines reach are reported too.".to_owned());
    }
    lines.push(match settings.run {
        Run::OnType => "A text is analysed while it is typed.".to_owned(),
        Run::OnSave => "A text is analysed when it is saved.".to_owned(),
    });
    lines.push(match settings.diagnostic_mode {
        DiagnosticMode::OpenFilesOnly => "Open files are reported.".to_owned(),
        DiagnosticMode::Workspace => "All files of the folder are reported.".to_owned(),
    });
    let code_action = settings.code_action;
    for (is_on, feature) in [
        (settings.cache, "The cache of earlier sessions"),
        (settings.code_lens, "The line above a helper that says how many functions it stalls"),
        (settings.fix_all, "The command that fixes all safe problems"),
        (code_action.fix_violation.enable, "The quick fix of a finding"),
        (code_action.disable_rule_comment.enable, "The quick fix that ignores a finding"),
    ] {
        lines.push(format!("{feature}: {}.", if is_on { "on" } else { "off" }));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::describe_settings;
    use crate::settings::Settings;

    #[test]
    fn settings_are_sentences() {
        let settings = Settings { enable: false, ignore: Some(vec!["BLT104".to_owned()]), ..Settings::default() };
        let lines = describe_settings(&settings);
        assert_eq!(lines[0], "Nothing is reported: blocklint.enable is off.");
        assert!(lines.contains(&"Rules but not: BLT104.".to_owned()), "{lines:?}");
        assert!(lines.contains(&"Least severity: as the configuration says.".to_owned()), "{lines:?}");
        let plain = |line: &String| line.ends_with('.') && !line.contains(['{', '}', '"']);
        assert!(lines.iter().all(plain), "{lines:?}");
    }
}
