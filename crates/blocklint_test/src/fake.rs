//! A fake engine for the harness's own tests, which finds calls of `slow(` and `file(`.

use std::fs;
use std::sync::Arc;

use blocklint_core::{Finding, Place, RuleCode, Severity, Span, Step};
use camino::Utf8Path;

use crate::{CodeLine, FixRun, HarnessEngine, Options};

/// An engine that reports `blocking-sleep` at each `slow(` and `blocking-file` at each `file(`.
pub(crate) struct FakeEngine;

/// Returns a finding of `rule` at `offset`, with a trace of two steps.
pub(crate) fn finding(path: &Utf8Path, text: &str, offset: usize, rule: u16) -> Finding {
    let mut place = Place::unlocated(Arc::from(path), Span::new(offset as u32, offset as u32 + 4));
    place.locate(text);
    let step = |function: &str, written: &str| Step {
        place: place.clone(),
        function: function.to_owned(),
        call: "m.sleep".to_owned(),
        written: written.to_owned(),
    };
    let severity = if rule == 104 { Severity::Warning } else { Severity::Error };
    Finding {
        function: "main.handler".to_owned(),
        trace: vec![step("main.handler", "load"), step("main.load", "m.sleep")],
        ..Finding::of_source(RuleCode(rule), severity, format!("message {rule}"), place)
    }
}

impl HarnessEngine for FakeEngine {
    fn fix(&self, root: &Utf8Path, _options: &Options) -> Result<FixRun, String> {
        let path = root.join("main.py");
        let text = fs::read_to_string(&path).unwrap_or_default();
        let problems = if text.contains("breaks") { vec![format!("{path} would not parse")] } else { Vec::new() };
        Ok(FixRun { text: format!("fixed {path}"), problems })
    }

    fn explain(&self, root: &Utf8Path, _options: &Options, lines: &[CodeLine]) -> Result<Vec<String>, String> {
        // Only a project with the text `explain` gets explanations, because other tests compare whole messages.
        let text = fs::read_to_string(root.join("main.py")).unwrap_or_default();
        let explained = |line: &CodeLine| {
            if text.contains("explain") {
                format!("{root}/{}:{} is explained\n", line.path, line.row)
            } else {
                String::new()
            }
        };
        Ok(lines.iter().map(explained).collect())
    }

    fn check(&self, root: &Utf8Path, options: &Options) -> Result<Vec<Finding>, String> {
        let mut findings = Vec::new();
        for name in ["main.py", "b.py"] {
            let path = root.join(name);
            let Ok(text) = fs::read_to_string(&path) else { continue };
            if text.contains("refuse") {
                return Err(format!("{path}: refused"));
            }
            for (call, rule) in [("slow(", 101), ("file(", 104)] {
                let matched = text.match_indices(call).map(|(at, _)| finding(&path, &text, at, rule));
                findings.extend(matched.filter(|matched| matched.severity >= options.min_severity));
            }
        }
        Ok(findings)
    }

    fn rule_name(&self, code: RuleCode) -> Option<&str> {
        match code.0 {
            101 => Some("blocking-sleep"),
            104 => Some("blocking-file"),
            _ => None,
        }
    }

    fn rule_names(&self) -> Vec<&str> {
        vec!["blocking-sleep", "blocking-file"]
    }

    fn render(&self, _root: &Utf8Path, findings: &[Finding]) -> Result<String, String> {
        let lines = findings.iter().map(|f| format!("{}:{}: {}\n", f.place.path, f.place.start.row, f.message));
        Ok(lines.collect())
    }
}
