//! Paths of rows: brace expansion, the syntax of each language, globs, and the specificity of a path (`Rank`).

use blocklint_core::Language;
use serde::{Deserialize, Serialize};

use super::argument::is_identifier;
use super::language::separator;

/// The maximal length of a path in bytes. Longer paths are not looked up, because a program may write chains of any
/// length.
pub(crate) const MAX_PATH: usize = 1024;

/// A path of a row, with its braces expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The path with its globs and parameter list, as findings show it.
    pub text: String,
    /// Line of the string that contains it, from 1.
    pub line: u32,
    /// The specificity of the path.
    pub rank: Rank,
}

/// The specificity of a path; lesser ranks are more specific. The order is: exact with parameter list, exact, `*`,
/// `**`; among globs, more literal characters come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Rank {
    /// 0 without a glob, 1 with `*`, 2 with `**`.
    glob: u8,
    /// 0 with a parameter list, 1 without.
    open: u8,
    /// `u16::MAX` minus the number of literal characters, so that longer paths come first; zero for a path without a
    /// glob.
    missing: u16,
}

impl Rank {
    /// Returns the rank encoded as one word.
    pub(super) fn to_word(self) -> u32 {
        u32::from(self.glob) << 24 | u32::from(self.open) << 16 | u32::from(self.missing)
    }

    /// Returns the rank that a word encodes.
    pub(super) fn from_word(word: u32) -> Self {
        let [glob, open, high, low] = word.to_be_bytes();
        Rank { glob, open, missing: u16::from_be_bytes([high, low]) }
    }

    fn of_path(text: &str) -> Self {
        let (body, parameters) = split_parameters(text);
        let glob = if body.contains("**") { 2 } else { u8::from(is_glob(body)) };
        let literal = if glob == 0 { u16::MAX.into() } else { literal_characters(body) };
        Rank {
            glob,
            open: u8::from(parameters.is_none()),
            missing: u16::MAX - u16::try_from(literal).unwrap_or(u16::MAX),
        }
    }

    /// True if the path has a glob.
    pub fn is_glob(self) -> bool {
        self.glob > 0
    }

    /// True if the path has a `**` segment.
    pub fn is_deep(self) -> bool {
        self.glob == 2
    }

    /// True if the path has a parameter list.
    pub fn has_parameters(self) -> bool {
        self.open == 0
    }
}

impl Path {
    /// Parses an expanded path of the language; `None` if the text is no path.
    pub(super) fn parse(text: &str, line: u32, language: Language) -> Option<Self> {
        is_path(text, language).then(|| Path { text: text.to_owned(), line, rank: Rank::of_path(text) })
    }

    /// Returns the path without its parameter list.
    pub fn body(&self) -> &str {
        split_parameters(&self.text).0
    }
}

/// Returns the paths that result from replacing each `{a,b}` by one of its parts, in the written order.
///
/// # Errors
/// A sentence, where braces do not match.
pub(super) fn expand(text: &str) -> Result<Vec<String>, String> {
    // The limit is needed because each brace is one recursion, and the text may come from an untrusted project.
    if text.matches('{').count() > MAX_BRACES {
        return Err(format!("a path may have {MAX_BRACES} braces at most"));
    }
    expand_bounded(text)
}

/// The maximal number of braces in a path.
const MAX_BRACES: usize = 32;
/// The maximal number of paths to which braces may expand.
const MAX_EXPANSIONS: usize = 10_000;
/// The maximal number of `**` in a path, because each multiplies the number of possible matches.
const MAX_DEEP_GLOBS: usize = 3;

fn expand_bounded(text: &str) -> Result<Vec<String>, String> {
    let Some(open) = text.find(['{', '}']) else { return Ok(vec![text.to_owned()]) };
    let unbalanced = || format!("`{text}` has a brace without its partner");
    if text.as_bytes()[open] == b'}' {
        return Err(unbalanced());
    }
    // Commas inside parentheses separate parameters, not alternatives.
    let (mut braces, mut parentheses, mut start) = (0u32, 0u32, open + 1);
    let mut parts = Vec::new();
    let mut close = None;
    for (index, byte) in text.bytes().enumerate().skip(open) {
        match byte {
            b'{' => braces += 1,
            b'(' => parentheses += 1,
            b')' => parentheses = parentheses.saturating_sub(1),
            b',' if braces == 1 && parentheses == 0 => {
                parts.push(&text[start..index]);
                start = index + 1;
            }
            b'}' => {
                braces -= 1;
                if braces == 0 {
                    parts.push(&text[start..index]);
                    close = Some(index);
                    break;
                }
            }
            _ => {}
        }
    }
    let close = close.ok_or_else(unbalanced)?;
    let mut expanded = Vec::new();
    for tail in expand_bounded(&text[close + 1..])? {
        for part in &parts {
            for middle in expand_bounded(part.trim())? {
                expanded.push(format!("{}{middle}{tail}", &text[..open]));
            }
        }
        if expanded.len() > MAX_EXPANSIONS {
            return Err(format!("`{text}` expands to more than {MAX_EXPANSIONS} paths"));
        }
    }
    Ok(expanded)
}

/// Returns the path without its parameter list, and the text between the parentheses.
pub(super) fn split_parameters(text: &str) -> (&str, Option<&str>) {
    match text.split_once('(') {
        Some((body, rest)) => (body, Some(rest.strip_suffix(')').unwrap_or(rest))),
        None => (text, None),
    }
}

/// Returns the parts of `<T as Trait>::member`.
pub(super) fn qualified(text: &str) -> Option<(&str, &str, &str)> {
    let (types, member) = text.strip_prefix('<')?.split_once(">::")?;
    let (implementor, implemented) = types.split_once(" as ")?;
    Some((implementor, implemented, member))
}

/// Returns the last segment of a path without its parameter list: the name by which a call is searched. A macro keeps
/// its `!`.
pub fn last_name(path: &str, language: Language) -> &str {
    let body = split_parameters(path).0;
    body.rsplit_once(separator(language)).map_or(body, |(_, name)| name)
}

/// Returns the path up to its last segment, which is the type or module of the name; for `<T as Trait>::m` it is `T`.
/// Empty for a single segment.
pub(super) fn parent(path: &str, language: Language) -> &str {
    let body = split_parameters(path).0;
    match qualified(body) {
        Some((implementor, _, member)) if !member.contains("::") => implementor,
        _ => body.rsplit_once(separator(language)).map_or("", |(parent, _)| parent),
    }
}

/// True if a path equals a prefix, or continues it at the end of a segment.
pub(super) fn is_under(path: &str, prefix: &str, language: Language) -> bool {
    path.strip_prefix(prefix)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(separator(language)) || rest.starts_with(['(', '<']))
}

/// True if a segment has a glob.
pub(super) fn is_glob(body: &str) -> bool {
    body.contains(['*', '['])
}

fn literal_characters(body: &str) -> usize {
    let mut in_class = false;
    let count = |c: char| match c {
        '[' => {
            in_class = true;
            0
        }
        ']' => {
            in_class = false;
            0
        }
        '*' => 0,
        _ => usize::from(!in_class),
    };
    body.chars().map(count).sum()
}

fn is_path(text: &str, language: Language) -> bool {
    let (body, parameters) = split_parameters(text);
    if body.len() > MAX_PATH || body.matches("**").count() > MAX_DEEP_GLOBS {
        return false;
    }
    if let Some(parameters) = parameters {
        if language != Language::Java || !text.ends_with(')') {
            return false;
        }
        if !parameters.is_empty() && !parameters.split(',').all(|parameter| is_parameter(parameter.trim())) {
            return false;
        }
    }
    if language == Language::Rust {
        if let Some((implementor, implemented, member)) = qualified(body) {
            let is_exact = |path: &str| path.split("::").all(is_identifier);
            return is_exact(implementor) && is_exact(implemented) && is_segment(member, language);
        }
        let (parent, last) = body.rsplit_once("::").unwrap_or(("", body));
        let macro_name = last.strip_suffix('!').filter(|name| is_identifier(name));
        return (macro_name.is_some() || is_segment(last, language))
            && (parent.is_empty() && !body.starts_with("::")
                || parent.split("::").all(|part| is_segment(part, language)));
    }
    body.split('.').all(|part| is_segment(part, language))
}

fn is_parameter(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '[' | ']'))
}

fn is_segment(text: &str, language: Language) -> bool {
    if is_identifier(text) || text == "**" {
        return true;
    }
    if let Some(name) = text.strip_prefix('<').and_then(|text| text.strip_suffix('>')) {
        return language != Language::Rust && is_identifier(name);
    }
    let (class, rest) = split_class(text);
    (class.is_some() || rest.contains('*'))
        && !rest.contains("**")
        && rest.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '*'))
}

/// Splits a leading `[A-Z]` (true) or `[a-z]` (false) off a segment.
fn split_class(segment: &str) -> (Option<bool>, &str) {
    if let Some(rest) = segment.strip_prefix("[A-Z]") {
        (Some(true), rest)
    } else if let Some(rest) = segment.strip_prefix("[a-z]") {
        (Some(false), rest)
    } else {
        (None, segment)
    }
}

/// True if a glob matches a concrete path. A name with a leading `_` is matched only by a pattern that writes the `_`.
pub(super) fn matches(pattern: &str, path: &str, language: Language) -> bool {
    let separator = separator(language);
    let path_name = path.rsplit_once(separator).map_or(path, |(_, path_name)| path_name);
    let pattern_name = pattern.rsplit_once(separator).map_or(pattern, |(_, path_name)| path_name);
    if path_name.starts_with('_') && !pattern_name.starts_with('_') {
        return false;
    }
    let pattern: Vec<&str> = pattern.split(separator).collect();
    let path: Vec<&str> = path.split(separator).collect();
    segments_match(&pattern, &path)
}

fn segments_match(pattern: &[&str], path: &[&str]) -> bool {
    match pattern {
        [] => path.is_empty(),
        // A `**` at the end matches one segment or more.
        ["**"] => !path.is_empty(),
        ["**", rest @ ..] => (0..=path.len()).any(|skipped| segments_match(rest, &path[skipped..])),
        [first, rest @ ..] => match path {
            [segment, tail @ ..] => segment_matches(first, segment) && segments_match(rest, tail),
            [] => false,
        },
    }
}

/// True if a pattern segment (`get_*`, `[A-Z]*`) matches a name.
pub fn segment_matches(pattern: &str, name: &str) -> bool {
    let (class, pattern) = split_class(pattern);
    let name = match class {
        None => name,
        Some(upper) => match name.bytes().next() {
            Some(prefix) if upper && prefix.is_ascii_uppercase() || !upper && prefix.is_ascii_lowercase() => &name[1..],
            _ => return false,
        },
    };
    let mut pieces = pattern.split('*');
    let prefix = pieces.next().unwrap_or("");
    let Some(mut rest) = name.strip_prefix(prefix) else { return false };
    let mut pending = None;
    for piece in pieces {
        // Each piece but the last matches at its first occurrence; the last must match at the end.
        if let Some(piece) = pending.replace(piece) {
            let Some(index) = rest.find(piece) else { return false };
            rest = &rest[index + piece.len()..];
        }
    }
    match pending {
        None => rest.is_empty(),
        Some(piece) => rest.ends_with(piece),
    }
}

/// Returns the part of a name that the `*` of a pattern segment matches; `None` if the segment has no `*`, several of
/// them, or a character class.
pub(super) fn star_text<'n>(pattern: &str, name: &'n str) -> Option<&'n str> {
    let (before, after) = pattern.split_once('*')?;
    if pattern.contains('[') || after.contains('*') {
        return None;
    }
    name.strip_prefix(before)?.strip_suffix(after)
}

/// Returns the part of a glob before the segment with the first glob character; empty if that is the first segment.
pub(super) fn literal_head(body: &str, language: Language) -> &str {
    let Some(index) = body.find(['*', '[']) else { return body };
    body[..index].rfind(separator(language)).map_or("", |end| &body[..end])
}

#[cfg(test)]
mod tests {
    use blocklint_core::Language::{Java, Python, Rust};

    use super::*;

    fn rank(text: &str) -> Rank {
        Rank::of_path(text)
    }

    #[test]
    fn braces_expand_in_order_and_parameters_stay() {
        let expanded = |text: &str| expand(text).expect("expands").join(" ");
        assert_eq!(expanded("a.{b,c}.d"), "a.b.d a.c.d");
        assert_eq!(expanded("{a,b}.{c,d}"), "a.c b.c a.d b.d");
        assert_eq!(expanded("a.{b,c.{d,e}}"), "a.b a.c.d a.c.e");
        assert_eq!(expanded("A.{get(_,_), put(int)}"), "A.get(_,_) A.put(int)");
        for unbalanced in ["a.{b", "a.b}", "a.{b,{c}"] {
            assert!(expand(unbalanced).is_err(), "{unbalanced}");
        }
        assert!(expand(&"{".repeat(100_000)).is_err(), "bounded depth");
        assert!(expand(&"{a,b}".repeat(32)).is_err(), "bounded number");
    }

    #[test]
    fn each_language_has_its_syntax_of_paths() {
        for path in ["time.sleep", "httpx.Client.<stream>.__enter__", "a.**", "a.[A-Z]*", "a.get_*", "a.**.Async*.*"] {
            assert!(is_path(path, Python), "{path}");
        }
        for path in ["std::fs::read", "std::println!", "<std::fs::File as std::io::Read>::read", "a::*", "read"] {
            assert!(is_path(path, Rust), "{path}");
        }
        for path in ["a.B.get()", "a.B.get(_,int[])", "a.B", "a.B.<x>.go", "a.B.*Blocking"] {
            assert!(is_path(path, Java), "{path}");
        }
        for path in ["", "a..b", "a.b!", "a::b", "a.b()", "a-b", "a.[x]", "a.***", "a. b", "1a"] {
            assert!(!is_path(path, Python), "{path}");
        }
        for path in ["a.b", "a::<x>::b", "<A>::b", "::a", "a::", "a!::b", "<A as B>::c::d"] {
            assert!(!is_path(path, Rust), "{path}");
        }
        for path in ["a.B.get(", "a.B.get(,)", "a.B.get()x", "a.B.get(List<T>)"] {
            assert!(!is_path(path, Java), "{path}");
        }
    }

    #[test]
    fn the_more_specific_path_ranks_first() {
        let order = ["a.B.get(_)", "a.B.get", "a.B.get_*", "a.*.get", "a.B.*", "a.b.c.**", "a.**"];
        for pair in order.windows(2) {
            assert!(rank(pair[0]) <= rank(pair[1]), "{pair:?}");
        }
        assert!(rank("a.B.get") < rank("a.B.*"));
        assert!(rank("a.B.get(_)") < rank("a.B.get"));
        assert!(rank("a.B.get_*") < rank("a.B.*"));
        assert_eq!(rank("a.B.[A-Z]*"), rank("a.B.*"), "a class is no literal");
    }

    #[test]
    fn globs_match_segments() {
        assert!(matches("redis.Redis.*", "redis.Redis.get", Python));
        assert!(!matches("redis.Redis.*", "redis.Redis.a.b", Python));
        assert!(!matches("redis.Redis.*", "redis.Redis._get", Python));
        assert!(matches("redis.Redis._*", "redis.Redis._get", Python));
        assert!(matches("anyio.**", "anyio.a.b", Python) && !matches("anyio.**", "anyio", Python));
        assert!(matches("o.r.**.with_*", "o.r.with_x", Python) && matches("o.r.**.with_*", "o.r.a.b.with_x", Python));
        assert!(matches("a.[A-Z]*", "a.Upper", Python) && !matches("a.[A-Z]*", "a.lower", Python));
        assert!(matches("a::*_x*z", "a::b_x_xyz", Rust) && !matches("a::*_x*z", "a::b_xy", Rust));
        assert!(!matches("a.aba*aba", "a.aba", Python), "pieces may not overlap");
    }

    #[test]
    fn star_text_is_the_part_that_the_star_matches() {
        assert_eq!(star_text("*Blocking", "readFileBlocking"), Some("readFile"));
        assert_eq!(star_text("*", "get"), Some("get"));
        assert_eq!(star_text("[A-Z]*", "Get"), None);
    }

    #[test]
    fn literal_heads_parents_and_last_names_are_parts_of_paths() {
        assert_eq!(literal_head("a.b.get_*", Python), "a.b");
        assert_eq!(literal_head("**.x", Python), "");
        assert_eq!(parent("<std::fs::File as std::io::Read>::read", Rust), "std::fs::File");
        assert_eq!(parent("a.B.get(java.io.File)", Java), "a.B");
        assert_eq!(last_name("a.B.get(java.io.File)", Java), "get");
        assert_eq!(last_name("std::println!", Rust), "println!");
    }
}
