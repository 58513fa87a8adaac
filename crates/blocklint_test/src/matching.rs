//! Compares what was found with what was expected.

use blocklint_core::Finding;

use crate::{Expectation, Expected, HarnessEngine};

/// Something that differs on one row of a file.
#[derive(Debug, PartialEq)]
pub(crate) struct Difference {
    /// The row of the expectation, or of the finding where none was expected.
    pub(crate) row: u32,
    /// The row of the code that is compared.
    pub(crate) code_row: u32,
    /// The expectation and the finding, as people read them.
    pub(crate) message: String,
}

/// Compares the findings of one file with its expectations. The order of both shows nothing.
pub(crate) fn differences(
    expectations: &[Expectation],
    findings: &[&Finding],
    check: &dyn HarnessEngine,
) -> Vec<Difference> {
    let mut rows: Vec<u32> = expectations.iter().map(|e| e.row).chain(findings.iter().map(|f| row(f))).collect();
    rows.sort_unstable();
    rows.dedup();
    let mut all = Vec::new();
    for at in rows {
        let expected: Vec<_> = expectations.iter().filter(|e| e.row == at).collect();
        let found: Vec<_> = findings.iter().copied().filter(|f| row(f) == at).collect();
        let messages = on_one_row(&expected, &found, check);
        let differ = messages.into_iter();
        all.extend(differ.map(|(written, message)| Difference { row: written.unwrap_or(at), code_row: at, message }));
    }
    all
}

/// The row a finding stands on; a finding about a whole file stands on its first.
fn row(finding: &Finding) -> u32 {
    finding.place.start.row.max(1)
}

/// Messages, each with the row of the expectation it describes.
fn on_one_row(expected: &[&Expectation], found: &[&Finding], check: &dyn HarnessEngine) -> Vec<(Option<u32>, String)> {
    let mut messages = Vec::new();
    let mut left: Vec<&Finding> = found.to_vec();
    let (todo, due): (Vec<&Expectation>, Vec<&Expectation>) =
        expected.iter().copied().filter(|e| e.expected != Expected::Ok).partition(|e| e.todo);
    let unmet = take_matches(&due, &mut left, check);
    for (met, expectation) in met_of(&todo, &mut left, check) {
        if met {
            let now = expectation.to_string();
            let now = now.trim_start_matches("todo-");
            messages.push((Some(expectation.written), format!("`{expectation}` is found by now: write `{now}`")));
        }
    }
    for expectation in unmet {
        messages.push((Some(expectation.written), missing(expectation, &mut left, check)));
    }
    let false_alarm = expected.iter().find(|e| e.expected == Expected::Ok && e.todo);
    match false_alarm {
        Some(known) if left.is_empty() => {
            messages.push((Some(known.written), "this false alarm is gone: write `ok`".to_owned()));
        }
        Some(_) => left.clear(),
        None => {}
    }
    let ok = expected.iter().find(|e| e.expected == Expected::Ok && !e.todo);
    for finding in left {
        let head = match ok {
            Some(_) => "expected no finding here, found",
            None => "unexpected finding",
        };
        messages.push((ok.map(|ok| ok.written), format!("{head}\n{}", describe(finding, check))));
    }
    messages
}

/// Removes from `left` a finding for each expectation that can have one, so that as many as possible are met; returns
/// those that are not.
fn take_matches<'e>(
    expected: &[&'e Expectation],
    left: &mut Vec<&Finding>,
    check: &dyn HarnessEngine,
) -> Vec<&'e Expectation> {
    let met = met_of(expected, left, check);
    met.into_iter().filter(|(met, _)| !met).map(|(_, expectation)| expectation).collect()
}

fn met_of<'e>(
    expected: &[&'e Expectation],
    left: &mut Vec<&Finding>,
    check: &dyn HarnessEngine,
) -> Vec<(bool, &'e Expectation)> {
    // Two expectations may fit one finding where only one of them fits another, so an expectation that
    // finds its finding taken asks the holder to look elsewhere.
    let fits: Vec<Vec<usize>> = expected
        .iter()
        .map(|e| (0..left.len()).filter(|at| mismatches(e, left[*at], check).is_empty()).collect())
        .collect();
    let mut holder: Vec<Option<usize>> = vec![None; left.len()];
    for wanting in 0..expected.len() {
        let mut asked = vec![false; left.len()];
        assign(wanting, &fits, &mut holder, &mut asked);
    }
    let met = expected.iter().enumerate().map(|(at, e)| (holder.contains(&Some(at)), *e)).collect();
    let mut taken = holder.iter();
    left.retain(|_| taken.next().is_none_or(Option::is_none));
    met
}

fn assign(wanting: usize, fits: &[Vec<usize>], holder: &mut [Option<usize>], asked: &mut [bool]) -> bool {
    for &finding in &fits[wanting] {
        if std::mem::replace(&mut asked[finding], true) {
            continue;
        }
        if holder[finding].is_none_or(|other| assign(other, fits, holder, asked)) {
            holder[finding] = Some(wanting);
            return true;
        }
    }
    false
}

/// In what a finding differs from an expectation; empty if it meets it.
fn mismatches(expectation: &Expectation, finding: &Finding, check: &dyn HarnessEngine) -> Vec<String> {
    let Expected::Finding { severity, rule, confidence, texts } = &expectation.expected else {
        return vec!["no finding was expected".to_owned()];
    };
    let mut differ = Vec::new();
    let name = rule_name(finding, check);
    if name != *rule {
        differ.push(format!("the rule is `{name}`"));
    }
    if finding.severity != *severity {
        differ.push(format!("the severity is `{}`", finding.severity));
    }
    if confidence.is_some_and(|confidence| confidence != finding.confidence) {
        differ.push(format!("the confidence is `{}`", finding.confidence));
    }
    let trace = finding.trace_line();
    for text in texts {
        if !finding.message.contains(text.as_str()) && !trace.contains(text.as_str()) {
            differ.push(format!("neither message nor trace holds \"{text}\""));
        }
    }
    differ
}

/// Says that an expectation is not met, and takes the finding that comes closest, so that it is not
/// reported once more.
fn missing(expectation: &Expectation, left: &mut Vec<&Finding>, check: &dyn HarnessEngine) -> String {
    let mut message = format!("expected `{expectation}`");
    let of_rule = left.iter().position(|finding| match &expectation.expected {
        Expected::Finding { rule, .. } => rule_name(finding, check) == *rule,
        Expected::Ok => false,
    });
    match of_rule {
        None => {
            message.push_str(", found nothing of that rule");
            if let Expected::Finding { rule, .. } = &expectation.expected {
                message.push_str(&unknown_rule(rule, check));
            }
        }
        Some(at) => {
            let finding = left.remove(at);
            let differ = mismatches(expectation, finding, check).join(", ");
            message.push_str(&format!(", but {differ}\n{}", describe(finding, check)));
        }
    }
    message
}

/// Returns a hint where no rule has that name.
fn unknown_rule(rule: &str, check: &dyn HarnessEngine) -> String {
    let names = check.rule_names();
    if names.contains(&rule) {
        return String::new();
    }
    let near = names.iter().map(|name| (strsim::damerau_levenshtein(name, rule), name)).min();
    match near {
        Some((distance, name)) if distance <= 3 => format!("; no rule is called that: did you mean `{name}`?"),
        _ => "; no rule is called that".to_owned(),
    }
}

fn rule_name(finding: &Finding, check: &dyn HarnessEngine) -> String {
    check.rule_name(finding.rule).map_or_else(|| finding.rule.to_string(), str::to_owned)
}

/// Returns a finding as it would be written in a document, with all that an expectation can quote.
fn describe(finding: &Finding, check: &dyn HarnessEngine) -> String {
    let mut text = format!("{}: [{}] {}", finding.severity, rule_name(finding, check), finding.confidence);
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
