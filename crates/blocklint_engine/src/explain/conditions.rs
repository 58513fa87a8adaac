//! Conditions as model files write them, and what decided them.

use blocklint_analysis::{ConditionResult, TestedCondition};
use blocklint_core::Language;
use blocklint_models::written::condition;

/// Returns a condition in words, `unless argument = "block@0", equals = false`, and where it is decided if not by the
/// code there.
pub(super) fn written(tried: &TestedCondition, language: Language) -> String {
    let key = if tried.is_unless { "unless" } else { "when" };
    let text = format!("{key} {}", condition(&tried.condition, language));
    match (tried.shown, &tried.parameter) {
        (ConditionResult::Param(_), Some(name)) => format!("{text}, left to parameter `{name}`"),
        (ConditionResult::Unknown, _) => format!("{text}, not visible there"),
        _ => text,
    }
}
