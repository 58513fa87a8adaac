//! The size of an SQL statement, as far as its text shows it.

/// Words that make a statement go through more than the rows that it names by a value.
const WIDE: &[&str] = &["join", "like", "glob", "match", "union", "group", "over", "recursive", "in"];

/// A limit up to which a statement without a condition reads few rows.
const FEW: u64 = 100;

/// True if a text is one SQL statement that touches few rows: a setting, the begin of a transaction, one row that is inserted, or
/// rows that are chosen by the value of a column.
pub(crate) fn is_short_statement(text: &str) -> bool {
    let lines = text.lines().map(|line| line.split("--").next().unwrap_or(""));
    let text = lines.collect::<Vec<_>>().join(" ").to_lowercase();
    let text = text.trim().trim_end_matches(';').trim_end();
    if text.contains(';') {
        return false;
    }
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).collect();
    let has = |wanted: &str| words.contains(&wanted);
    let narrow = || !WIDE.iter().any(|word| has(word));
    match words.first().copied() {
        Some("pragma") => {
            !["integrity_check", "quick_check", "wal_checkpoint", "optimize"].iter().any(|word| has(word))
        }
        Some("begin" | "savepoint" | "release" | "attach" | "detach" | "set" | "show") => true,
        Some("insert" | "replace") => !has("select"),
        // Without a table nothing is read.
        Some("select") if !has("from") => true,
        Some("select") => narrow() && (is_by_value(text) || is_limited(&words)),
        Some("update" | "delete") => narrow() && is_by_value(text),
        _ => false,
    }
}

/// True if a condition compares a column with a value.
fn is_by_value(text: &str) -> bool {
    let Some((_, condition)) = text.split_once(" where ") else { return false };
    let mut chars = condition.char_indices();
    // `<=` and its like choose a range.
    chars.any(|(at, c)| c == '=' && !condition[..at].ends_with(['<', '>', '!']))
}

/// True if the statement asks for few rows in no order of its own.
fn is_limited(words: &[&str]) -> bool {
    let limit = words.iter().position(|word| *word == "limit").and_then(|at| words.get(at + 1));
    limit.is_some_and(|limit| limit.parse().is_ok_and(|limit: u64| limit <= FEW)) && !words.contains(&"order")
}
