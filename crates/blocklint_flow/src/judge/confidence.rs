//! How sure: inferred steps and the length of a way, as one word.

use blocklint_core::{Confidence, Language};

/// The word for this many inferred steps.
pub fn confidence_of(steps: u32) -> Confidence {
    match steps {
        0 => Confidence::High,
        1 | 2 => Confidence::Medium,
        _ => Confidence::Low,
    }
}

/// Java and Rust: what a long way adds. On most of its hops one implementation was taken for all there may be, and each branch on
/// the way for taken; beyond a dozen nobody who reads the trace believes that any more, and in Java, where methods are
/// short and have many implementations, sooner. Of these, calls of an object on itself (`own`) ask for half the belief: that
/// a class is cut into small methods makes nothing less likely.
pub fn steps_of_length(language: Language, hops: u32, own: u32) -> u32 {
    let hops = if language == Language::Java { hops - own.min(hops) / 2 } else { hops };
    match (language, hops) {
        (Language::Python, _) | (Language::Rust, 0..=8) | (Language::Java, 0..=6) => 0,
        (Language::Rust, 9..=12) | (Language::Java, 7..=8) => 1,
        _ => 3,
    }
}
