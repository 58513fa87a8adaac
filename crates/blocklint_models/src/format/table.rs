//! The compact table of one layer and one language (`Layer`): sorted keys with a hash index, and rows that are decoded
//! at their first use.
//!
//! `compile` builds it, and the build script writes it with postcard. Reading a table decodes only the index: strings
//! stay one text, and rows stay bytes.

use std::borrow::Cow;
use std::sync::OnceLock;

use blocklint_core::Language;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::packed::{Packed, Record};
use super::path::{self, Rank};
use super::rows::{CallRow, FileInfo, HandoverRow, Switch, TypeRow};

/// A half-open range of the text or of an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) start: u32,
    pub(super) len: u32,
}

impl Range {
    pub(super) fn to_indices(self) -> std::ops::Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }
}

/// The uses of rows, as a set of bits: lookups by last name select rows by them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Uses(u32);

macro_rules! uses {
    ($($(#[$meta:meta])* $name:ident = $bit:literal;)*) => {
        impl Uses { $($(#[$meta])* pub const $name: Uses = Uses(1 << $bit);)* }
    };
}

uses! {
    /// A call or property read that holds its thread (`effect` other than `none`).
    EFFECT = 0;
    /// A call that is declared harmless (`effect = "none"`).
    HARMLESS = 1;
    /// Effect `nested-loop`.
    NESTED_LOOP = 2;
    /// `lazy`.
    LAZY = 3;
    /// `consumes`.
    CONSUMES = 4;
    /// `property`.
    PROPERTY = 5;
    /// `returns`.
    RETURNS = 6;
    /// `state`.
    STATE = 7;
    /// `async`.
    ASYNC = 8;
    /// `adds`.
    ADDS = 9;
    /// `asks`, except of arguments.
    ASKS = 10;
    /// `moves` or `scheduler` on a call.
    MOVES = 11;
    /// `creates`.
    CREATES = 12;
    /// `concurrency`.
    CONCURRENCY = 13;
    /// `source`.
    SOURCE = 14;
    /// A call row with `via = "decorator"`: it describes calls of the annotated methods.
    MARKS = 15;
    /// A handover of an argument.
    HANDOVER = 16;
    /// A handover with `via = "decorator"`.
    DECORATOR = 17;
    /// A handover with `via = "override"`.
    OVERRIDE = 18;
    /// A call that runs overrides (`during`).
    DURING = 19;
    /// A call that turns a switch on.
    SWITCH = 20;
    /// A type.
    TYPE = 21;
    /// A handover whose result is a callable (`wraps`).
    WRAPS = 22;
    /// A handover whose result has an effect when it is called (`wraps` with `effect`).
    CALLED = 23;
    /// `asks = "arguments"`.
    ARGUMENTS = 24;
    /// `serves`.
    SERVES = 25;
    /// A handover with `phase = "command"`.
    COMMAND = 26;
    /// A handover with `phase = "startup"`.
    START_UP = 27;
}

impl Uses {
    /// The empty set.
    pub const NONE: Uses = Uses(0);

    /// Returns the union of two sets.
    pub const fn union(self, other: Uses) -> Uses {
        Uses(self.0 | other.0)
    }

    /// True if the two sets have a common use.
    pub const fn intersects(self, other: Uses) -> bool {
        self.0 & other.0 != 0
    }
}

/// The kind of row that a pattern belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Kind {
    /// `[[call]]`
    Call,
    /// `[[type]]`
    Type,
    /// `[[handover]]`
    Handover,
    /// No row, because the path is only mentioned in another row (`during`, a switch's `call`).
    Mention,
}

/// A path that is found by its exact text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Key {
    pub(super) text: Range,
    /// The patterns without a glob that equal this path.
    pub(super) exact: Range,
    /// The patterns with a glob whose literal head equals this path.
    pub(super) globs: Range,
    /// Index + 1 of the alias's target in `targets`; 0 if it is no alias.
    pub(super) alias: u32,
    /// True if rows describe this path as a type, or describe a member of it.
    pub(super) is_type: bool,
}

/// One expanded path of one row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pattern {
    pub(super) text: Range,
    pub(super) kind: Kind,
    /// Index of the row among those of its kind.
    pub(super) row: u32,
    pub(super) file: u32,
    pub(super) rank: Rank,
    pub(super) uses: Uses,
}

/// A last name and the patterns that end in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name {
    pub(super) text: Range,
    /// Range of `name_patterns`.
    pub(super) patterns: Range,
    pub(super) uses: Uses,
}

impl Record for Range {
    const WORDS: usize = 2;

    fn write(&self, mut put: impl FnMut(u32)) {
        put(self.start);
        put(self.len);
    }

    fn read(word: impl Fn(usize) -> u32) -> Self {
        Range { start: word(0), len: word(1) }
    }
}

impl Record for Key {
    const WORDS: usize = 8;

    fn write(&self, mut put: impl FnMut(u32)) {
        [self.text, self.exact, self.globs].iter().for_each(|range| range.write(&mut put));
        put(self.alias);
        put(u32::from(self.is_type));
    }

    fn read(word: impl Fn(usize) -> u32) -> Self {
        let range = |index| Range { start: word(index), len: word(index + 1) };
        Key { text: range(0), exact: range(2), globs: range(4), alias: word(6), is_type: word(7) != 0 }
    }
}

impl Record for Pattern {
    const WORDS: usize = 7;

    fn write(&self, mut put: impl FnMut(u32)) {
        self.text.write(&mut put);
        [self.kind as u32, self.row, self.file, self.rank.to_word(), self.uses.0].into_iter().for_each(put);
    }

    fn read(word: impl Fn(usize) -> u32) -> Self {
        let kind = match word(2) {
            0 => Kind::Call,
            1 => Kind::Type,
            2 => Kind::Handover,
            _ => Kind::Mention,
        };
        let text = Range { start: word(0), len: word(1) };
        Pattern { text, kind, row: word(3), file: word(4), rank: Rank::from_word(word(5)), uses: Uses(word(6)) }
    }
}

impl Record for Name {
    const WORDS: usize = 5;

    fn write(&self, mut put: impl FnMut(u32)) {
        self.text.write(&mut put);
        self.patterns.write(&mut put);
        put(self.uses.0);
    }

    fn read(word: impl Fn(usize) -> u32) -> Self {
        let range = |index| Range { start: word(index), len: word(index + 1) };
        Name { text: range(0), patterns: range(2), uses: Uses(word(4)) }
    }
}

/// Rows of one kind as bytes; each is decoded at its first use.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound(serialize = "", deserialize = ""))]
pub(super) struct Rows<R> {
    #[serde(borrow)]
    bytes: Cow<'static, [u8]>,
    ends: Packed<u32>,
    #[serde(skip)]
    cells: OnceLock<Vec<OnceLock<Option<Box<R>>>>>,
}

impl<R: Serialize + DeserializeOwned> Rows<R> {
    /// Encodes rows.
    ///
    /// # Errors
    /// Returns the error of postcard; no row of this crate can cause it.
    pub(super) fn encode<'r>(rows: impl Iterator<Item = &'r R>) -> Result<Self, postcard::Error>
    where
        R: 'r,
    {
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        for row in rows {
            bytes = postcard::to_extend(row, bytes)?;
            ends.push(u32::try_from(bytes.len()).map_err(|_| postcard::Error::SerializeBufferFull)?);
        }
        Ok(Rows { bytes: Cow::Owned(bytes), ends: Packed::encode(&ends), cells: OnceLock::new() })
    }

    /// Returns the row with this index; `None` if the table has no such row or the row cannot be decoded.
    pub(super) fn get(&self, index: u32) -> Option<&R> {
        let cells = self.cells.get_or_init(|| std::iter::repeat_with(OnceLock::new).take(self.ends.len()).collect());
        let index = index as usize;
        let decode = || {
            let start = index.checked_sub(1).map_or(Some(0), |previous| self.ends.get(previous))? as usize;
            let bytes = self.bytes.get(start..self.ends.get(index)? as usize)?;
            postcard::from_bytes(bytes).ok().map(Box::new)
        };
        cells.get(index)?.get_or_init(decode).as_deref()
    }

    /// Returns the number of rows.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }
}

/// The models of one layer (built-in, shipped or the user's) and one language.
#[derive(Debug, Serialize, Deserialize)]
pub struct Layer {
    pub(super) language: Language,
    #[serde(borrow)]
    pub(super) text: Cow<'static, str>,
    pub(super) files: Vec<FileInfo>,
    pub(super) calls: Rows<CallRow>,
    pub(super) types: Rows<TypeRow>,
    pub(super) handovers: Rows<HandoverRow>,
    pub(super) switches: Vec<Switch>,
    /// Sorted by text.
    pub(super) keys: Packed<Key>,
    /// Hash table with open addressing over `keys`: index + 1, or 0 for an empty slot. The length is a power of two.
    pub(super) slots: Packed<u32>,
    pub(super) targets: Packed<Range>,
    /// Sorted by key; for each key first the exact patterns, then those with a glob, each by kind, rank and row.
    pub(super) patterns: Packed<Pattern>,
    /// Sorted by text.
    pub(super) names: Packed<Name>,
    pub(super) name_patterns: Packed<u32>,
    /// The first segments of the paths of rows, aliases and roots, sorted.
    pub(super) first_segments: Vec<String>,
    /// Pairs of libraries (`fastapi`, `starlette`): rows of the first library mention types of the second. Sorted.
    pub(super) links: Vec<(String, String)>,
    /// The tags of types, sorted.
    pub(super) tags: Vec<String>,
    /// The libraries that have a row with `native`, sorted.
    pub(super) native_libraries: Vec<String>,
    /// True if any glob begins with its wildcard, without literal characters before it.
    pub(super) has_leading_globs: bool,
}

/// An expanded path of a row, decoded.
#[derive(Clone, Copy, Debug)]
pub struct PatternInfo<'l> {
    /// The path, with its globs and parameter list.
    pub path: &'l str,
    /// The kind of the row.
    pub kind: Kind,
    /// Index of the row among those of its kind.
    pub row: u32,
    /// Index of the file.
    pub file: u32,
    /// The specificity of the path.
    pub rank: Rank,
    /// The uses of the row.
    pub uses: Uses,
}

/// Returns a hash that is equal on every machine, because the build script fills the slots.
pub(super) fn hash(text: &str) -> u64 {
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut state = text.len() as u64;
    for chunk in text.as_bytes().chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        state = (state.rotate_left(23) ^ u64::from_le_bytes(word)).wrapping_mul(MULTIPLIER);
    }
    state ^ (state >> 29)
}

impl Layer {
    /// Returns a layer without rows.
    pub fn empty(language: Language) -> Self {
        let no_rows = || Rows { bytes: Cow::Borrowed(&[]), ends: Packed::empty(), cells: OnceLock::new() };
        Layer {
            language,
            text: Cow::Borrowed(""),
            files: Vec::new(),
            calls: no_rows(),
            types: Rows { bytes: Cow::Borrowed(&[]), ends: Packed::empty(), cells: OnceLock::new() },
            handovers: Rows { bytes: Cow::Borrowed(&[]), ends: Packed::empty(), cells: OnceLock::new() },
            switches: Vec::new(),
            keys: Packed::empty(),
            slots: Packed::empty(),
            targets: Packed::empty(),
            patterns: Packed::empty(),
            names: Packed::empty(),
            name_patterns: Packed::empty(),
            first_segments: Vec::new(),
            links: Vec::new(),
            tags: Vec::new(),
            native_libraries: Vec::new(),
            has_leading_globs: false,
        }
    }

    /// Reads a compiled table, without copying its strings and rows.
    ///
    /// # Errors
    /// Returns the error of postcard if the bytes are no table of this version.
    pub fn from_bytes(bytes: &'static [u8]) -> Result<Self, postcard::Error> {
        postcard::from_bytes(bytes)
    }

    /// Returns the table as bytes for `from_bytes`.
    ///
    /// # Errors
    /// Returns the error of postcard; no table of `compile` can cause it.
    pub fn to_bytes(&self) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_stdvec(self)
    }

    /// Returns the language of the layer.
    pub fn language(&self) -> Language {
        self.language
    }

    /// Returns the headers of the files, in the order of their labels.
    pub fn files(&self) -> &[FileInfo] {
        &self.files
    }

    /// Returns the switches.
    pub fn switches(&self) -> &[Switch] {
        &self.switches
    }

    /// Returns the tags of types, sorted.
    pub fn tags(&self) -> &[String] {
        &self.tags
    }

    /// Returns the libraries that have a row with `native`, sorted.
    pub fn native_libraries(&self) -> &[String] {
        &self.native_libraries
    }

    /// Returns the number of rows of calls, types and handovers.
    pub fn row_count(&self) -> usize {
        self.calls.len() + self.types.len() + self.handovers.len()
    }

    /// Returns the number of rows of each file, switches included, in the order of `files`.
    pub fn rows_by_file(&self) -> Vec<usize> {
        let mut rows_of_files = vec![std::collections::BTreeSet::new(); self.files.len()];
        for pattern in self.patterns.iter().filter(|pattern| pattern.kind != Kind::Mention) {
            if let Some(rows) = rows_of_files.get_mut(pattern.file as usize) {
                rows.insert((pattern.kind, pattern.row));
            }
        }
        let mut counts: Vec<usize> = rows_of_files.iter().map(std::collections::BTreeSet::len).collect();
        for switch in &self.switches {
            if let Some(count) = counts.get_mut(switch.file as usize) {
                *count += 1;
            }
        }
        counts
    }

    /// Returns the expanded paths of all rows of a file, sorted.
    pub fn paths_of_file(&self, file: usize) -> Vec<&str> {
        let is_of_file = |pattern: &Pattern| pattern.file as usize == file && pattern.kind != Kind::Mention;
        let mut paths: Vec<&str> =
            self.patterns.iter().filter(is_of_file).map(|pattern| self.str(pattern.text)).collect();
        paths.sort_unstable();
        paths.dedup();
        paths
    }

    pub(super) fn str(&self, range: Range) -> &str {
        self.text.get(range.to_indices()).unwrap_or("")
    }

    pub(super) fn key(&self, text: &str) -> Option<Key> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut slot = hash(text) as usize & mask;
        loop {
            let key = self.keys.get((self.slots.get(slot)? as usize).checked_sub(1)?)?;
            if self.str(key.text) == text {
                return Some(key);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Returns the target of the alias with exactly this spelling.
    pub fn alias(&self, spelling: &str) -> Option<&str> {
        let target = self.key(spelling)?.alias.checked_sub(1)?;
        self.targets.get(target as usize).map(|range| self.str(range))
    }

    /// Returns the aliases whose last segment differs from that of their target, as pairs of spelling and target:
    /// `("pymysql.Connect", "pymysql.connect")`.
    pub fn renamings(&self) -> impl Iterator<Item = (&str, &str)> {
        let separator = super::separator(self.language);
        let last_start = move |path: &str| path.rfind(separator).map_or(0, |index| index + separator.len());
        self.keys.iter().filter_map(move |key| {
            let target = self.str(self.targets.get(key.alias.checked_sub(1)? as usize)?);
            let spelling = self.str(key.text);
            (spelling[last_start(spelling)..] != target[last_start(target)..]).then_some((spelling, target))
        })
    }

    /// Returns the aliases whose spelling is directly under this path, as pairs of the last segment and the target: the
    /// names that a glob import of the path imports.
    pub fn aliases_in<'l>(&'l self, module: &'l str) -> impl Iterator<Item = (&'l str, &'l str)> {
        let separator = super::separator(self.language);
        let prefix = format!("{module}{separator}");
        let start = self.keys.partition_point(|key| self.str(key.text) < prefix.as_str());
        self.keys
            .iter_from(start)
            .map_while(move |key| Some((key, self.str(key.text).strip_prefix(prefix.as_str())?)))
            .filter(move |(_, name)| !name.contains(separator))
            .filter_map(|(key, name)| {
                let target = self.targets.get(key.alias.checked_sub(1)? as usize)?;
                Some((name, self.str(target)))
            })
    }

    /// Returns pairs of libraries (`fastapi`, `starlette`): rows of the first library mention types of the second.
    pub(crate) fn links(&self) -> &[(String, String)] {
        &self.links
    }

    /// True if this is the first segment of a row, an alias or a root.
    pub fn is_first_segment(&self, segment: &str) -> bool {
        self.first_segments.binary_search_by(|first_segment| first_segment.as_str().cmp(segment)).is_ok()
    }

    /// True if some row or alias has this path, or a path under it.
    pub fn knows_prefix(&self, prefix: &str) -> bool {
        let start = self.keys.partition_point(|key| self.str(key.text) < prefix);
        let is_under_at = |prefix: &str, start: usize| {
            self.keys.get(start).is_some_and(|key| path::is_under(self.str(key.text), prefix, self.language))
        };
        if is_under_at(prefix, start) {
            return true;
        }
        // Keys such as `a.b_c` sort between `a.b` and `a.b.d`.
        let longer = format!("{prefix}{}", super::separator(self.language));
        is_under_at(prefix, self.keys.partition_point(|key| self.str(key.text) < longer.as_str()))
    }

    /// True if rows describe this path as a type, or describe a member of it.
    pub fn is_type(&self, path: &str) -> bool {
        self.key(path).is_some_and(|key| key.is_type)
    }

    /// Returns the call row with this index.
    pub fn call(&self, row: u32) -> Option<&CallRow> {
        self.calls.get(row)
    }

    /// Returns the type row with this index.
    pub fn ty(&self, row: u32) -> Option<&TypeRow> {
        self.types.get(row)
    }

    /// Returns the handover row with this index.
    pub fn handover(&self, row: u32) -> Option<&HandoverRow> {
        self.handovers.get(row)
    }

    /// Returns the pattern with this index.
    pub fn pattern(&self, index: u32) -> Option<PatternInfo<'_>> {
        let pattern = self.patterns.get(index as usize)?;
        let Pattern { text, kind, row, file, rank, uses } = pattern;
        Some(PatternInfo { path: self.str(text), kind, row, file, rank, uses })
    }

    /// Returns every last name, sorted: its index, the name, and the union of the uses of its rows.
    pub fn names(&self) -> impl Iterator<Item = (usize, &str, Uses)> {
        self.names.iter().enumerate().map(|(index, name)| (index, self.str(name.text), name.uses))
    }

    /// Returns the patterns that end in the last name with this index.
    pub fn patterns_of_name(&self, name: usize) -> impl Iterator<Item = PatternInfo<'_>> {
        let indices = self.names.get(name).map_or(0..0, |name| name.patterns.to_indices());
        indices.filter_map(|index| self.pattern(self.name_patterns.get(index)?))
    }

    /// Returns the index of a last name, and the union of the uses of its rows.
    pub fn name(&self, name: &str) -> Option<(usize, Uses)> {
        let index = self.names.partition_point(|entry| self.str(entry.text) < name);
        let entry = self.names.get(index).filter(|entry| self.str(entry.text) == name)?;
        Some((index, entry.uses))
    }

    /// Returns the indices of the patterns of one kind that match a path without parameter list, exact ones first.
    pub fn matching_patterns<'l>(&'l self, path: &'l str, kind: Kind) -> impl Iterator<Item = u32> + 'l {
        let is_of_kind = move |index: &u32| self.patterns.get(*index as usize).is_some_and(|p| p.kind == kind);
        let exact = self.key(path).map_or(0..0, |key| key.exact.start..key.exact.start + key.exact.len);
        exact.filter(is_of_kind).chain(self.matching_globs(path, kind))
    }

    fn matching_globs<'l>(&'l self, path: &'l str, kind: Kind) -> impl Iterator<Item = u32> + 'l {
        let separator = super::separator(self.language);
        let first = path.split_once(separator).map_or(path, |(first, _)| first);
        let has_globs = self.has_leading_globs || self.is_first_segment(first);
        let mut end = if has_globs { Some(path.len()) } else { None };
        let prefixes = std::iter::from_fn(move || {
            // Every proper prefix of whole segments, the longest first; the last is empty.
            let next = end.take()?;
            let shorter = path[..next].rfind(separator);
            end = shorter;
            Some(shorter.map_or("", |index| &path[..index]))
        });
        prefixes
            .filter(|prefix| !prefix.is_empty() || self.has_leading_globs)
            .filter_map(|prefix| self.key(prefix))
            .flat_map(|key| key.globs.start..key.globs.start + key.globs.len)
            .filter(move |index| {
                let Some(pattern) = self.patterns.get(*index as usize) else { return false };
                pattern.kind == kind
                    && path::matches(path::split_parameters(self.str(pattern.text)).0, path, self.language)
            })
    }
}
