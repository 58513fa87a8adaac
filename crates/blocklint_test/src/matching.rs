//! Compares the findings of a file with its expectations.

use blocklint_core::Finding;

use crate::{Expectation, Expected, HarnessEngine};

/// A difference between findings and expectations on one row of a file.
#[derive(Debug, PartialEq)]
pub(crate) struct Difference {
    /// The row of the expectation; the row of the finding if it was not expected.
    pub(crate) row: u32,
    /// The row of the code.
    pub(crate) code_row: u32,
    /// The expectation and the finding, as text.
    pub(crate) message: String,
}

/// Compares the findings of one file with its expectations, in any order.
pub(crate) fn differences(
    expectations: &[Expectation],
    findings: &[&Finding],
    engine: &dyn HarnessEngine,
) -> Vec<Difference> {
    let mut rows: Vec<u32> = expectations.iter().map(|e| e.row).chain(findings.iter().map(|f| row(f))).collect();
    rows.sort_unstable();
    rows.dedup();
    let mut all = Vec::new();
    for code_row in rows {
        let expected: Vec<_> = expectations.iter().filter(|e| e.row == code_row).collect();
        let found: Vec<_> = findings.iter().copied().filter(|f| row(f) == code_row).collect();
        let messages = compare_row(&expected, &found, engine);
        let messages = messages.into_iter();
        all.extend(messages.map(|(comment_row, message)| Difference {
            row: comment_row.unwrap_or(code_row),
            code_row,
            message,
        }));
    }
    all
}

/// Returns the row of a finding; 1 for a finding about a whole file.
fn row(finding: &Finding) -> u32 {
    finding.place.start.row.max(1)
}

/// Compares the expectations and findings of a row. Each message has the row of its expectation, if it is about one.
fn compare_row(
    expected: &[&Expectation],
    found: &[&Finding],
    engine: &dyn HarnessEngine,
) -> Vec<(Option<u32>, String)> {
    let mut messages = Vec::new();
    let mut unmatched: Vec<&Finding> = found.to_vec();
    let (todo, due): (Vec<&Expectation>, Vec<&Expectation>) =
        expected.iter().copied().filter(|e| e.expected != Expected::Ok).partition(|e| e.todo);
    let unmet = unmet_expectations(&due, &mut unmatched, engine);
    for (met, expectation) in match_findings(&todo, &mut unmatched, engine) {
        if met {
            let now = expectation.to_string();
            let now = now.trim_start_matches("todo-");
            messages.push((Some(expectation.comment_row), format!("`{expectation}` is found by now: write `{now}`")));
        }
    }
    for expectation in unmet {
        messages.push((Some(expectation.comment_row), describe_unmet(expectation, &mut unmatched, engine)));
    }
    let false_alarm = expected.iter().find(|e| e.expected == Expected::Ok && e.todo);
    match false_alarm {
        Some(known) if unmatched.is_empty() => {
            messages.push((Some(known.comment_row), "this false alarm is gone: write `ok`".to_owned()));
        }
        Some(_) => unmatched.clear(),
        None => {}
    }
    let ok = expected.iter().find(|e| e.expected == Expected::Ok && !e.todo);
    for finding in unmatched {
        let head = match ok {
            Some(_) => "expected no finding here, found",
            None => "unexpected finding",
        };
        messages.push((ok.map(|ok| ok.comment_row), format!("{head}\n{}", describe(finding, engine))));
    }
    messages
}

/// Matches expectations with findings, removes the matched findings from `unmatched`, and returns the expectations that
/// are not met.
fn unmet_expectations<'e>(
    expected: &[&'e Expectation],
    unmatched: &mut Vec<&Finding>,
    engine: &dyn HarnessEngine,
) -> Vec<&'e Expectation> {
    let met = match_findings(expected, unmatched, engine);
    met.into_iter().filter(|(met, _)| !met).map(|(_, expectation)| expectation).collect()
}

/// Matches as many expectations as possible, each with one finding of `unmatched`, and removes these findings. Returns
/// each expectation with true if it is met.
fn match_findings<'e>(
    expected: &[&'e Expectation],
    unmatched: &mut Vec<&Finding>,
    engine: &dyn HarnessEngine,
) -> Vec<(bool, &'e Expectation)> {
    // A maximum bipartite matching with augmenting paths: an expectation whose finding is taken looks for another
    // finding for the expectation that holds it.
    let fits: Vec<Vec<usize>> = expected
        .iter()
        .map(|e| (0..unmatched.len()).filter(|index| mismatches(e, unmatched[*index], engine).is_empty()).collect())
        .collect();
    let mut holder: Vec<Option<usize>> = vec![None; unmatched.len()];
    for expectation in 0..expected.len() {
        let mut visited = vec![false; unmatched.len()];
        augment(expectation, &fits, &mut holder, &mut visited);
    }
    let met = expected.iter().enumerate().map(|(index, e)| (holder.contains(&Some(index)), *e)).collect();
    let mut taken = holder.iter();
    unmatched.retain(|_| taken.next().is_none_or(Option::is_none));
    met
}

/// Finds a finding for an expectation, and moves other expectations to other findings if needed; false if there is
/// none.
fn augment(expectation: usize, fits: &[Vec<usize>], holder: &mut [Option<usize>], visited: &mut [bool]) -> bool {
    for &finding in &fits[expectation] {
        if std::mem::replace(&mut visited[finding], true) {
            continue;
        }
        if holder[finding].is_none_or(|current| augment(current, fits, holder, visited)) {
            holder[finding] = Some(expectation);
            return true;
        }
    }
    false
}

/// Returns the differences between a finding and an expectation; empty if the finding meets it.
fn mismatches(expectation: &Expectation, finding: &Finding, engine: &dyn HarnessEngine) -> Vec<String> {
    let Expected::Finding { severity, rule, confidence, texts } = &expectation.expected else {
        return vec!["no finding was expected".to_owned()];
    };
    let mut differences = Vec::new();
    let name = rule_name(finding, engine);
    if name != *rule {
        differences.push(format!("the rule is `{name}`"));
    }
    if finding.severity != *severity {
        differences.push(format!("the severity is `{}`", finding.severity));
    }
    if confidence.is_some_and(|confidence| confidence != finding.confidence) {
        differences.push(format!("the confidence is `{}`", finding.confidence));
    }
    let trace = finding.trace_line();
    for text in texts {
        if !finding.message.contains(text.as_str()) && !trace.contains(text.as_str()) {
            differences.push(format!("neither message nor trace holds \"{text}\""));
        }
    }
    differences
}

/// Returns the message for an expectation that is not met. Removes the closest finding from `unmatched`, so that it is
/// not reported again.
fn describe_unmet(expectation: &Expectation, unmatched: &mut Vec<&Finding>, engine: &dyn HarnessEngine) -> String {
    let mut message = format!("expected `{expectation}`");
    let closest = unmatched.iter().position(|finding| match &expectation.expected {
        Expected::Finding { rule, .. } => rule_name(finding, engine) == *rule,
        Expected::Ok => false,
    });
    match closest {
        None => {
            message.push_str(", found nothing of that rule");
            if let Expected::Finding { rule, .. } = &expectation.expected {
                message.push_str(&hint_for_unknown_rule(rule, engine));
            }
        }
        Some(index) => {
            let finding = unmatched.remove(index);
            let differences = mismatches(expectation, finding, engine).join(", ");
            message.push_str(&format!(", but {differences}\n{}", describe(finding, engine)));
        }
    }
    message
}

/// Returns a hint if no rule has this name, with a similar name if there is one; else an empty text.
fn hint_for_unknown_rule(rule: &str, engine: &dyn HarnessEngine) -> String {
    let names = engine.rule_names();
    if names.contains(&rule) {
        return String::new();
    }
    let similar = names.iter().map(|name| (strsim::damerau_levenshtein(name, rule), name)).min();
    match similar {
        Some((distance, name)) if distance <= 3 => format!("; no rule is called that: did you mean `{name}`?"),
        _ => "; no rule is called that".to_owned(),
    }
}

fn rule_name(finding: &Finding, engine: &dyn HarnessEngine) -> String {
    engine.rule_name(finding.rule).map_or_else(|| finding.rule.to_string(), str::to_owned)
}

/// Returns a finding as it would be written in a document, with all that an expectation can quote.
fn describe(finding: &Finding, engine: &dyn HarnessEngine) -> String {
    let mut text = format!("{}: [{}] {}", finding.severity, rule_name(finding, engine), finding.confidence);
    let trace = finding.trace_line();
    if !trace.is_empty() {
        text.push_str(&format!(" \"{trace}\""));
    }
    text.push_str(&format!("\nat column {}: {}", finding.place.start.column, finding.message));
    text
}

#[cfg(test)]
#[path = "matching_tests.rs"]
mod tests;
