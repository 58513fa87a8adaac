//! The compiler of model files: it turns checked files into the table of one layer ([`Layer`]).

use std::collections::BTreeMap;

use blocklint_core::{Effect, Language};
use rustc_hash::FxHashMap;

use super::language::{library_root, separator};
use super::packed::Packed;
use super::path::{Path, Rank, last_name, literal_head, parent, qualified};
use super::rows::{CallRow, Entry, File, HandoverRow, RowEffect, Selector, Switch, TypeRow};
use super::table::{Key, Kind, Layer, Name, Pattern, Range, Rows, Uses, hash};
use super::type_expr::TypeExpr;
use super::words::{Asks, Phase, Via};

/// Returns the table of the files in one language; files of other languages are skipped.
///
/// # Errors
/// Returns the error of postcard; checked files cannot cause it.
pub fn compile(files: &[File], language: Language) -> Result<Layer, postcard::Error> {
    let mut files: Vec<&File> = files.iter().filter(|file| file.info.language == language).collect();
    files.sort_by(|a, b| a.info.label.cmp(&b.info.label));
    let mut builder = Builder { language, text: Text::default(), keys: BTreeMap::new(), patterns: Vec::new() };
    builder.collect(&files);
    builder.finish(&files)
}

/// The text of a table, which contains each string once.
#[derive(Default)]
struct Text {
    text: String,
    ranges: FxHashMap<String, Range>,
}

impl Text {
    fn add(&mut self, text: &str) -> Range {
        if let Some(range) = self.ranges.get(text) {
            return *range;
        }
        let range = Range { start: self.text.len() as u32, len: text.len() as u32 };
        self.text.push_str(text);
        self.ranges.insert(text.to_owned(), range);
        range
    }
}

/// The patterns and the alias of a key, before the arrays are laid out.
#[derive(Default)]
struct KeyDraft {
    exact: Vec<usize>,
    globs: Vec<usize>,
    alias: Option<String>,
    is_type: bool,
}

struct PatternDraft {
    path: String,
    kind: Kind,
    row: u32,
    file: u32,
    rank: Rank,
    uses: Uses,
}

struct Builder {
    language: Language,
    text: Text,
    keys: BTreeMap<String, KeyDraft>,
    patterns: Vec<PatternDraft>,
}

impl Builder {
    fn collect(&mut self, files: &[&File]) {
        let (mut calls, mut types, mut handovers) = (0, 0, 0);
        for (index, file) in files.iter().enumerate() {
            let index = index as u32;
            for entry in &file.calls {
                self.add_row(index, Kind::Call, calls, &entry.paths, call_uses(&entry.row));
                calls += 1;
            }
            for entry in &file.types {
                self.add_row(index, Kind::Type, types, &entry.paths, Uses::TYPE);
                types += 1;
            }
            for entry in &file.handovers {
                let uses = handover_uses(&entry.row);
                self.add_row(index, Kind::Handover, handovers, &entry.paths, uses);
                for path in &entry.row.during {
                    self.add_mention(path, index, Uses::DURING);
                }
                handovers += 1;
            }
            for switch in &file.switches {
                for path in &switch.row.call {
                    self.add_mention(path, index, Uses::SWITCH);
                }
            }
            for (spelling, target, _) in &file.aliases {
                self.keys.entry(spelling.clone()).or_default().alias.get_or_insert_with(|| target.clone());
            }
        }
    }

    fn add_row(&mut self, file: u32, kind: Kind, row: u32, paths: &[Path], uses: Uses) {
        for path in paths {
            let draft = PatternDraft { path: path.text.clone(), kind, row, file, rank: path.rank, uses };
            self.add_pattern(draft, path.body());
        }
    }

    fn add_mention(&mut self, path: &str, file: u32, uses: Uses) {
        let Some(parsed) = Path::parse(path, 0, self.language) else { return };
        let draft = PatternDraft { path: path.to_owned(), kind: Kind::Mention, row: 0, file, rank: parsed.rank, uses };
        self.add_pattern(draft, parsed.body());
    }

    fn add_pattern(&mut self, draft: PatternDraft, body: &str) {
        let (kind, rank) = (draft.kind, draft.rank);
        let index = self.patterns.len();
        self.patterns.push(draft);
        if rank.is_glob() {
            let head = literal_head(body, self.language).to_owned();
            self.keys.entry(head).or_default().globs.push(index);
        } else {
            self.keys.entry(body.to_owned()).or_default().exact.push(index);
            // `T::m` calls `<T as Trait>::m` as well.
            if let Some((implementor, _, member)) = qualified(body) {
                self.keys.entry(format!("{implementor}::{member}")).or_default().exact.push(index);
            }
        }
        match kind {
            Kind::Type => self.keys.entry(body.to_owned()).or_default().is_type = true,
            Kind::Call | Kind::Handover => self.mark_owner_as_type(body, rank),
            Kind::Mention => {}
        }
    }

    /// Marks the parent of a row's path as a type, because the row describes a member of it. A path with `**` describes
    /// no member.
    fn mark_owner_as_type(&mut self, body: &str, rank: Rank) {
        if rank.is_deep() {
            return;
        }
        let mut owner = parent(body, self.language);
        while !owner.is_empty() && !owner.contains(['*', '[']) {
            self.keys.entry(owner.to_owned()).or_default().is_type = true;
            // The parent of a synthetic type (`Client.<stream>`) is a type too.
            if !owner.ends_with('>') {
                break;
            }
            owner = parent(owner, self.language);
        }
    }

    fn finish(mut self, files: &[&File]) -> Result<Layer, postcard::Error> {
        let has_leading_globs = self.keys.get("").is_some_and(|draft| !draft.globs.is_empty());
        let (keys, targets, patterns) = self.lay_out();
        let (names, name_patterns) = self.lay_out_names(&patterns);
        let slots = build_slots(&keys, &self.text.text);
        Ok(Layer {
            language: self.language,
            files: files.iter().map(|file| file.info.clone()).collect(),
            calls: Rows::encode(files.iter().flat_map(|file| &file.calls).map(|entry| &entry.row))?,
            types: Rows::encode(files.iter().flat_map(|file| &file.types).map(|entry| &entry.row))?,
            handovers: Rows::encode(files.iter().flat_map(|file| &file.handovers).map(|entry| &entry.row))?,
            switches: switches(files),
            first_segments: self.collect_first_segments(files),
            links: find_links(files, self.language),
            tags: sorted(types(files).flat_map(|entry| entry.row.tags.iter().cloned())),
            native_libraries: sorted(
                files
                    .iter()
                    .filter(|file| file.calls.iter().any(|entry| entry.row.native))
                    .flat_map(|file| file.info.libraries.iter().cloned()),
            ),
            text: self.text.text.into(),
            keys: Packed::encode(&keys),
            slots: Packed::encode(&slots),
            targets: Packed::encode(&targets),
            patterns: Packed::encode(&patterns),
            names: Packed::encode(&names),
            name_patterns: Packed::encode(&name_patterns),
            has_leading_globs,
        })
    }

    fn lay_out(&mut self) -> (Vec<Key>, Vec<Range>, Vec<Pattern>) {
        let (mut keys, mut targets, mut patterns) = (Vec::new(), Vec::new(), Vec::new());
        for (text, draft) in std::mem::take(&mut self.keys) {
            let mut key = Key { text: self.text.add(&text), is_type: draft.is_type, ..Key::default() };
            if let Some(target) = draft.alias {
                targets.push(self.text.add(&target));
                key.alias = targets.len() as u32;
            }
            key.exact = self.lay_out_patterns(draft.exact, &mut patterns);
            key.globs = self.lay_out_patterns(draft.globs, &mut patterns);
            keys.push(key);
        }
        (keys, targets, patterns)
    }

    fn lay_out_patterns(&mut self, mut drafts: Vec<usize>, patterns: &mut Vec<Pattern>) -> Range {
        drafts.sort_by_key(|index| {
            let draft = &self.patterns[*index];
            (draft.kind, draft.rank, draft.row)
        });
        let start = patterns.len() as u32;
        for index in drafts {
            let draft = &self.patterns[index];
            let (kind, row, file, rank, uses) = (draft.kind, draft.row, draft.file, draft.rank, draft.uses);
            let text = self.text.add(&draft.path);
            patterns.push(Pattern { text, kind, row, file, rank, uses });
        }
        Range { start, len: patterns.len() as u32 - start }
    }

    /// Returns the last names in sorted order, and the indices of the patterns of each.
    fn lay_out_names(&mut self, patterns: &[Pattern]) -> (Vec<Name>, Vec<u32>) {
        let mut by_name: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        let text_of = |text: &Text, range: Range| text.text[range.to_indices()].to_owned();
        for (index, pattern) in patterns.iter().enumerate() {
            let path = text_of(&self.text, pattern.text);
            let indices = by_name.entry(last_name(&path, self.language).to_owned()).or_default();
            // `<T as Trait>::m` has a pattern under two keys; only one of them is listed.
            let is_same_row = |other: &u32| {
                let other = &patterns[*other as usize];
                (other.text, other.kind, other.row) == (pattern.text, pattern.kind, pattern.row)
            };
            if pattern.kind == Kind::Mention || !indices.iter().any(is_same_row) {
                indices.push(index as u32);
            }
        }
        let (mut names, mut name_patterns) = (Vec::new(), Vec::new());
        for (name, indices) in by_name {
            let uses = indices.iter().fold(Uses::NONE, |uses, index| uses.union(patterns[*index as usize].uses));
            let range = Range { start: name_patterns.len() as u32, len: indices.len() as u32 };
            name_patterns.extend(indices);
            names.push(Name { text: self.text.add(&name), patterns: range, uses });
        }
        (names, name_patterns)
    }

    fn collect_first_segments(&self, files: &[&File]) -> Vec<String> {
        let separator = separator(self.language);
        let first_segment = |path: &str| {
            let path = qualified(path).map_or(path, |(implementor, _, _)| implementor);
            path.split(separator).next().unwrap_or("").to_owned()
        };
        let roots = files.iter().flat_map(|file| &file.info.roots).map(|root| first_segment(root));
        let aliases = files.iter().flat_map(|file| &file.aliases).map(|(spelling, _, _)| first_segment(spelling));
        let paths = self.patterns.iter().map(|draft| first_segment(&draft.path));
        sorted(roots.chain(aliases).chain(paths).filter(|segment| !segment.is_empty() && !segment.contains(['*', '['])))
    }
}

/// Returns pairs of libraries (`fastapi`, `starlette`): rows of the first library mention types of the second, so code
/// that imports the first can have objects of the second.
fn find_links(files: &[&File], language: Language) -> Vec<(String, String)> {
    let library_of = |path: &str| library_root(language, path).to_owned();
    let mut links = Vec::new();
    for file in files {
        let mut mentioned: Vec<&TypeExpr> = Vec::new();
        mentioned.extend(file.calls.iter().filter_map(|entry| entry.row.returns.as_ref()));
        mentioned.extend(file.handovers.iter().flat_map(|entry| &entry.row.gives));
        for entry in &file.types {
            let row = &entry.row;
            mentioned.extend(row.bases.iter().chain(row.fields.iter().map(|(_, ty)| ty)));
            mentioned.extend([&row.element, &row.awaits, &row.enters].into_iter().flatten());
        }
        let mut mentioned_libraries: Vec<String> = Vec::new();
        for ty in mentioned {
            ty.visit(&mut |part| {
                if let TypeExpr::Path { path, .. } = part {
                    mentioned_libraries.push(library_of(path));
                }
            });
        }
        mentioned_libraries.sort();
        mentioned_libraries.dedup();
        let paths = file.calls.iter().flat_map(|entry| &entry.paths);
        let paths = paths.chain(file.types.iter().flat_map(|entry| &entry.paths));
        let paths = paths.chain(file.handovers.iter().flat_map(|entry| &entry.paths));
        let mut described_libraries: Vec<String> = paths.map(|path| library_of(&path.text)).collect();
        described_libraries.extend(file.info.roots.iter().map(|root| library_of(root)));
        described_libraries.sort();
        described_libraries.dedup();
        for root in &described_libraries {
            links.extend(
                mentioned_libraries
                    .iter()
                    .filter(|mentioned_library| *mentioned_library != root)
                    .map(|mentioned_library| (root.clone(), mentioned_library.clone())),
            );
        }
        for (spelling, target, _) in &file.aliases {
            links.push((library_of(spelling), library_of(target)));
        }
    }
    links.retain(|(from, to)| from != to);
    links.sort();
    links.dedup();
    links
}

fn types<'f>(files: &'f [&File]) -> impl Iterator<Item = &'f Entry<TypeRow>> {
    files.iter().flat_map(|file| &file.types)
}

fn switches(files: &[&File]) -> Vec<Switch> {
    let numbered = files.iter().enumerate().flat_map(|(index, file)| {
        file.switches.iter().map(move |entry| Switch { file: index as u32, ..entry.row.clone() })
    });
    numbered.collect()
}

fn sorted(items: impl Iterator<Item = String>) -> Vec<String> {
    let mut items: Vec<String> = items.collect();
    items.sort();
    items.dedup();
    items
}

/// Returns the hash table over the keys, with open addressing: index + 1, or 0 for an empty slot.
fn build_slots(keys: &[Key], text: &str) -> Vec<u32> {
    if keys.is_empty() {
        return Vec::new();
    }
    // The table is at most half full, so that a miss ends soon.
    let mut slots = vec![0; (keys.len() * 2).next_power_of_two()];
    let mask = slots.len() - 1;
    for (index, key) in keys.iter().enumerate() {
        let mut slot = hash(&text[key.text.to_indices()]) as usize & mask;
        while slots[slot] != 0 {
            slot = (slot + 1) & mask;
        }
        slots[slot] = index as u32 + 1;
    }
    slots
}

fn call_uses(row: &CallRow) -> Uses {
    let effect = match row.effect {
        Some(RowEffect::Holds(Effect::NestedLoop)) => Uses::EFFECT.union(Uses::NESTED_LOOP),
        Some(RowEffect::Holds(_)) => Uses::EFFECT,
        Some(RowEffect::Harmless) => Uses::HARMLESS,
        None => Uses::NONE,
    };
    [
        (row.lazy, Uses::LAZY),
        (row.consumes.is_some(), Uses::CONSUMES),
        (row.property, Uses::PROPERTY),
        (row.returns.is_some(), Uses::RETURNS),
        (row.state.is_some(), Uses::STATE),
        (row.is_async.is_some(), Uses::ASYNC),
        (row.adds.is_some(), Uses::ADDS),
        (row.asks.is_some_and(|asks| asks != Asks::Arguments), Uses::ASKS),
        (row.asks == Some(Asks::Arguments), Uses::ARGUMENTS),
        (row.serves, Uses::SERVES),
        (row.moves.is_some() || row.scheduler.is_some(), Uses::MOVES),
        (row.creates.is_some(), Uses::CREATES),
        (row.concurrency.is_some(), Uses::CONCURRENCY),
        (row.source.is_some() || row.same.is_some(), Uses::SOURCE),
        (row.via.is_some(), Uses::MARKS),
    ]
    .into_iter()
    .filter(|(is_set, _)| *is_set)
    .fold(effect, |uses, (_, added)| uses.union(added))
}

fn handover_uses(row: &HandoverRow) -> Uses {
    let uses = match row.selector {
        Selector::Argument(_) => Uses::HANDOVER,
        Selector::Via(Via::Decorator) => Uses::DECORATOR,
        Selector::Via(Via::Override) => Uses::OVERRIDE,
    };
    let uses = if row.wraps { uses.union(Uses::WRAPS) } else { uses };
    let uses = match row.phase {
        Some(Phase::Command) => uses.union(Uses::COMMAND),
        Some(Phase::Startup) => uses.union(Uses::START_UP),
        _ => uses,
    };
    if row.called.is_some() { uses.union(Uses::CALLED) } else { uses }
}
