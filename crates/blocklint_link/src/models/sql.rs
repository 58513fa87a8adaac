//! The size of an SQL statement by its text: a short statement touches few rows.

/// Words of statements that may read more rows than those with a given value.
const WIDE: &[&str] = &["join", "like", "glob", "match", "union", "group", "over", "recursive", "in"];

/// The greatest `LIMIT` with which a statement without a condition is short.
const FEW: u64 = 100;

/// True if a text is one SQL statement that touches few rows: a setting, the begin of a transaction, an insertion, or
/// rows that are selected by the value of a column.
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
        // A `select` without `from` reads no table.
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
    // `<=`, `>=` and `!=` select a range.
    chars.any(|(index, c)| c == '=' && !condition[..index].ends_with(['<', '>', '!']))
}

/// True if a statement has a small `LIMIT` and no `ORDER BY`.
fn is_limited(words: &[&str]) -> bool {
    let limit = words.iter().position(|word| *word == "limit").and_then(|index| words.get(index + 1));
    limit.is_some_and(|limit| limit.parse().is_ok_and(|limit: u64| limit <= FEW)) && !words.contains(&"order")
}
