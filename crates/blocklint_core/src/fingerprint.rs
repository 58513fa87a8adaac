//! Fingerprints: the part of a finding that stays equal while lines move.

use crate::RuleCode;

/// Returns 16 hexadecimal digits over the rule, the file's path from the project root, the qualified name of the body,
/// the callee and the number of this occurrence of the callee in the body (from 0). They are equal on every machine and
/// in every version, because baselines and services store them.
pub fn fingerprint(rule: RuleCode, path: &str, function: &str, callee: &str, occurrence: u32) -> String {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let code = rule.to_string();
    let occurrence = occurrence.to_string();
    let mut hash = OFFSET;
    for part in [code.as_str(), path, function, callee, occurrence.as_str()] {
        // No part contains the byte 0xff, so that ("a", "bc") and ("ab", "c") have different hashes.
        for byte in part.bytes().chain([0xff]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(PRIME);
        }
    }
    // The high bits of an FNV hash hardly depend on the last bytes: mix them.
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash ^= hash >> 29;
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_changes_the_fingerprint_and_its_value_is_pinned() {
        let base = fingerprint(RuleCode(101), "a.py", "f", "time.sleep", 0);
        assert_eq!(base, "f71c3283707e20c4");
        let others = [
            fingerprint(RuleCode(102), "a.py", "f", "time.sleep", 0),
            fingerprint(RuleCode(101), "a.p", "yf", "time.sleep", 0),
            fingerprint(RuleCode(101), "a.py", "g", "time.sleep", 0),
            fingerprint(RuleCode(101), "a.py", "f", "sleep", 0),
            fingerprint(RuleCode(101), "a.py", "f", "time.sleep", 1),
        ];
        assert!(others.iter().all(|other| *other != base));
    }
}
