//! The conditions of a model row in the syntax of model files, with the result at a call.

use blocklint_analysis::{ConditionResult, TestedCondition};
use blocklint_core::Language;
use blocklint_models::written::condition;

/// Returns a condition, `unless argument = "block@0", equals = false`. If the call itself does not decide it, the text
/// adds the parameter that decides, or that the value is not visible.
pub(super) fn condition_text(tried: &TestedCondition, language: Language) -> String {
    let key = if tried.is_unless { "unless" } else { "when" };
    let text = format!("{key} {}", condition(&tried.condition, language));
    match (tried.shown, &tried.parameter) {
        (ConditionResult::Param(_), Some(name)) => format!("{text}, left to parameter `{name}`"),
        (ConditionResult::Unknown, _) => format!("{text}, not visible there"),
        _ => text,
    }
}
