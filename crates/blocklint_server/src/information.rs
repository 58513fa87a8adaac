//! The server's description of itself, for people who look for a mistake.

use std::fmt::Write;

use crate::capabilities::Client;
use crate::folder::Folder;
use crate::settings::{DiagnosticMode, Run, Settings};

/// Returns which version serves, what it read, how long that took, and which settings hold.
pub(crate) fn debug_information(client: &Client, folders: &[Folder]) -> String {
    let mut text = format!("blocklint {}\n", env!("CARGO_PKG_VERSION"));
    let _ = writeln!(text, "The editor counts positions in {}.", client.encoding.as_str().to_uppercase());
    let asks = if client.pulls_diagnostics { "asks for findings when it wants them" } else { "is sent findings" };
    let _ = writeln!(text, "The editor {asks}.");
    for folder in folders {
        let analysis = &folder.analysis;
        let state = if folder.is_current() { "" } else { "; they are being analysed anew" };
        let (files, findings, holding) = (analysis.files.len(), analysis.findings.len(), analysis.by_file.len());
        let _ = writeln!(
            text,
            "\nFolder {}\n{}, {} in {}{state}.",
            folder.path,
            count(files, "source file"),
            count(findings, "finding"),
            count(holding, "file"),
        );
        for line in settings_in_words(&folder.settings) {
            let _ = writeln!(text, "{line}");
        }
        let _ = writeln!(text, "Time of the last analysis:\n{}", analysis.timings);
    }
    text
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// Returns a sentence for each setting.
fn settings_in_words(settings: &Settings) -> Vec<String> {
    let mut lines = Vec::new();
    if !settings.enable {
        lines.push("Nothing is reported: blocklint.enable is off.".to_owned());
    }
    lines.push(match &settings.select {
        None => "Rules: those that the project's configuration selects.".to_owned(),
        Some(rules) => format!("Rules: only {}.", rules.join(", ")),
    });
    for (rules, says) in [(&settings.extend_select, "besides"), (&settings.ignore, "but not")] {
        if let Some(rules) = rules.as_ref().filter(|rules| !rules.is_empty()) {
            lines.push(format!("Rules {says}: {}.", rules.join(", ")));
        }
    }
    let level = |of: Option<&str>| of.map_or_else(|| "as the configuration says".to_owned(), str::to_owned);
    lines.push(format!("Least severity: {}.", level(settings.min_severity.map(|of| of.as_str()))));
    lines.push(format!("Least confidence: {}.", level(settings.min_confidence.map(|of| of.as_str()))));
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
    for (is_on, what) in [
        (settings.cache, "The cache of earlier sessions"),
        (settings.code_lens, "The line above a helper that says how many functions it stalls"),
        (settings.fix_all, "The command that fixes all safe problems"),
        (code_action.fix_violation.enable, "The quick fix of a finding"),
        (code_action.disable_rule_comment.enable, "The quick fix that ignores a finding"),
    ] {
        lines.push(format!("{what}: {}.", if is_on { "on" } else { "off" }));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::settings_in_words;
    use crate::settings::Settings;

    #[test]
    fn settings_are_sentences() {
        let settings = Settings { enable: false, ignore: Some(vec!["BLT104".to_owned()]), ..Settings::default() };
        let lines = settings_in_words(&settings);
        assert_eq!(lines[0], "Nothing is reported: blocklint.enable is off.");
        assert!(lines.contains(&"Rules but not: BLT104.".to_owned()), "{lines:?}");
        assert!(lines.contains(&"Least severity: as the configuration says.".to_owned()), "{lines:?}");
        let plain = |line: &String| line.ends_with('.') && !line.contains(['{', '}', '"']);
        assert!(lines.iter().all(plain), "{lines:?}");
    }
}
