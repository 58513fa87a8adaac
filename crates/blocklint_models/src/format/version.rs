//! Versions of libraries (`2.1.3`), and the ranges for which rows and files hold (`>=2,<3`).

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

/// A version: a list of numbers, without pre-release or build parts.
#[derive(Clone, Debug, Eq, Serialize, Deserialize)]
pub struct Version(pub Vec<u64>);

impl Version {
    /// Parses `2.1.3`: numbers that are joined by dots, and nothing else.
    pub fn parse(text: &str) -> Option<Self> {
        let numbers: Option<Vec<u64>> = text.split('.').map(parse_number).collect();
        numbers.map(Version)
    }

    /// Parses the leading numbers of a version as package registries write it (`v2.1.0rc1`, `1.0.0-beta.2+build`);
    /// `None` if it begins with no number.
    pub fn parse_loose(text: &str) -> Option<Self> {
        let text = text.trim().trim_start_matches(['v', 'V', '=']);
        let numbers = text.find(|c: char| !c.is_ascii_digit() && c != '.').map_or(text, |end| &text[..end]);
        Self::parse(numbers.trim_end_matches('.'))
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let numbers: Vec<String> = self.0.iter().map(u64::to_string).collect();
        f.write_str(&numbers.join("."))
    }
}

fn parse_number(text: &str) -> Option<u64> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) { None } else { text.parse().ok() }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let length = self.0.len().max(other.0.len());
        // `2` and `2.0` are one version.
        let part = |version: &Version, index: usize| version.0.get(index).copied().unwrap_or(0);
        (0..length)
            .map(|index| part(self, index).cmp(&part(other, index)))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

/// A comparison operator of a version range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
}

/// Comparisons that must all hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionRange(pub Vec<(Comparison, Version)>);

impl std::fmt::Display for VersionRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, (comparison, version)) in self.0.iter().enumerate() {
            let operator = match comparison {
                Comparison::Less => "<",
                Comparison::LessOrEqual => "<=",
                Comparison::Greater => ">",
                Comparison::GreaterOrEqual => ">=",
                Comparison::Equal => "==",
                Comparison::NotEqual => "!=",
            };
            write!(f, "{}{operator}{version}", if index > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}

impl VersionRange {
    /// Parses `>=2,<3`; `None` if the text is no range.
    pub fn parse(text: &str) -> Option<Self> {
        let comparisons: Option<Vec<_>> = text.split(',').map(parse_comparison).collect();
        comparisons.map(VersionRange)
    }

    /// True if the range holds for a version. `None` is a version without an upper bound, which is newer than every
    /// number.
    pub fn contains(&self, version: Option<&Version>) -> bool {
        self.0.iter().all(|(comparison, bound)| {
            let order = version.map_or(Ordering::Greater, |version| version.cmp(bound));
            match comparison {
                Comparison::Less => order.is_lt(),
                Comparison::LessOrEqual => order.is_le(),
                Comparison::Greater => order.is_gt(),
                Comparison::GreaterOrEqual => order.is_ge(),
                Comparison::Equal => order.is_eq(),
                Comparison::NotEqual => order.is_ne(),
            }
        })
    }
}

fn parse_comparison(text: &str) -> Option<(Comparison, Version)> {
    let text = text.trim();
    let operators = [
        ("<=", Comparison::LessOrEqual),
        (">=", Comparison::GreaterOrEqual),
        ("==", Comparison::Equal),
        ("!=", Comparison::NotEqual),
        ("<", Comparison::Less),
        (">", Comparison::Greater),
    ];
    let (comparison, rest) =
        operators.into_iter().find_map(|(op, comparison)| Some((comparison, text.strip_prefix(op)?)))?;
    Some((comparison, Version::parse(rest.trim())?))
}

#[cfg(test)]
mod tests {
    use super::{Version, VersionRange};

    #[test]
    fn a_range_holds_for_the_versions_inside() {
        let range = VersionRange::parse(">=2, <3").expect("a range");
        let contains = |text: &str| range.contains(Version::parse_loose(text).as_ref());
        assert!(contains("2") && contains("2.0.0") && contains("v2.9.1rc1"));
        assert!(!contains("1.99") && !contains("3") && !contains("3.0.0-beta"));
        assert!(!range.contains(None), "newer than every number");
        assert!(VersionRange::parse(">=2").is_some_and(|range| range.contains(None)));
        assert_eq!(range.to_string(), ">=2,<3");
    }

    #[test]
    fn junk_is_no_range() {
        for junk in ["", "2", ">=", ">=2,", "~=2", ">=2.x", "=>2", ">= 2 3"] {
            assert_eq!(VersionRange::parse(junk), None, "{junk}");
        }
    }
}
