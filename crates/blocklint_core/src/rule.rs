//! Rule codes: `BLT` and three digits.

use std::fmt;

/// The code of a rule. Its name, words and page are `blocklint_rules`' business.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleCode(pub u16);

impl RuleCode {
    /// Reads `BLT101`; letters of either case.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.get(..3).filter(|head| head.eq_ignore_ascii_case("BLT")).and(text.get(3..))?;
        if digits.len() != 3 || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        digits.parse().ok().map(RuleCode)
    }
}

impl fmt::Display for RuleCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BLT{:03}", self.0)
    }
}

impl fmt::Debug for RuleCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::RuleCode;

    #[test]
    fn codes_read_back_and_junk_does_not() {
        assert_eq!(RuleCode::parse("BLT101"), Some(RuleCode(101)));
        assert_eq!(RuleCode::parse("blt101").map(|c| c.to_string()).as_deref(), Some("BLT101"));
        for junk in ["", "BLT", "BLT1", "BLT+01", "ASY101", "BLT1010", "é"] {
            assert_eq!(RuleCode::parse(junk), None, "{junk}");
        }
    }
}
