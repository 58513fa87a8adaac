//! The models of one language (`LanguageModels`): the rows of all layers, found by path or by last name.

use std::borrow::Cow;
use std::sync::Arc;

use blocklint_core::Language;

use crate::format::{Kind, Layer, MAX_PATH};
use crate::matches::{CallRows, HandoverRows, LayerKind, Match, MatchId, Matches, TypeRows};
use crate::{CallRow, FileInfo, HandoverRow, Switch, TypeExpr, TypeRow, Uses, Version, VersionRange, separator};

/// The maximal number of aliases that are replaced one after the other. A layer has no cycle of aliases, because it is
/// checked, but two layers together can have one.
const MAX_ALIAS_CHAIN: usize = 16;

/// The versions of a unit's dependencies.
pub trait Versions {
    /// Returns the version of a library; `None` if the unit has no upper bound for it, so that it counts as newer than
    /// every number.
    fn version(&self, library: &str) -> Option<Version>;
}

/// The versions of a unit without any known version.
#[derive(Clone, Copy, Debug)]
pub struct Unversioned;

impl Versions for Unversioned {
    fn version(&self, _library: &str) -> Option<Version> {
        None
    }
}

/// A last name of rows, by which the linker finds candidate sites, with the paths that end in it.
#[derive(Clone, Copy, Debug)]
pub struct Name<'m> {
    /// The last segment: for a constructor the class, for a macro with its `!`.
    pub name: &'m str,
    /// The union of the uses of all its rows.
    pub uses: Uses,
    layer: &'m Layer,
    kind: LayerKind,
    index: usize,
}

/// A path of a row, with its file and uses.
#[derive(Clone, Copy, Debug)]
pub struct NamedPath<'m> {
    /// The expanded path, with its globs and parameter list.
    pub path: &'m str,
    /// The uses of its row.
    pub uses: Uses,
    /// The header of its file.
    pub file: &'m FileInfo,
    /// The layer of its file.
    pub layer: LayerKind,
}

impl<'m> Name<'m> {
    /// Returns the paths that end in this name and whose row has one of the uses.
    pub fn paths(self, uses: Uses) -> impl Iterator<Item = NamedPath<'m>> {
        self.layer.patterns_of_name(self.index).filter(move |pattern| pattern.uses.intersects(uses)).filter_map(
            move |pattern| {
                let file = self.layer.files().get(pattern.file as usize)?;
                Some(NamedPath { path: pattern.path, uses: pattern.uses, file, layer: self.kind })
            },
        )
    }
}

/// A path whose last segment has a glob: it describes all names under the prefix that match the pattern.
#[derive(Clone, Copy, Debug)]
pub struct GlobName<'m> {
    /// The last segment, as in `get_*`.
    pub pattern: &'m str,
    /// The path of the type or module before the last segment; it can contain globs too.
    pub prefix: &'m str,
    /// The whole path.
    pub path: NamedPath<'m>,
}

/// The models of one language, in layers: the user's, those shipped by packages, the built-in ones.
#[derive(Debug)]
pub struct LanguageModels {
    language: Language,
    /// The layers, in order of precedence.
    layers: Vec<(LayerKind, Arc<Layer>)>,
}

impl LanguageModels {
    pub(crate) fn new(language: Language, mut layers: Vec<(LayerKind, Arc<Layer>)>) -> Self {
        layers.sort_by_key(|(kind, _)| *kind);
        LanguageModels { language, layers }
    }

    /// Returns the language.
    pub fn language(&self) -> Language {
        self.language
    }

    /// Returns the layers, in order of precedence.
    pub fn layers(&self) -> impl Iterator<Item = (LayerKind, &Layer)> {
        self.layers.iter().map(|(kind, layer)| (*kind, &**layer))
    }

    /// Returns the path that rows use for a spelling: the longest alias of whole segments is replaced by its target
    /// until no alias is left. In `<T as Trait>::m` both types are replaced.
    pub fn canonical<'p>(&self, path: &'p str) -> Cow<'p, str> {
        if let Some((types, member)) = path.strip_prefix('<').and_then(|rest| rest.split_once(">::"))
            && let Some((implementor, implemented)) = types.split_once(" as ")
        {
            let (canonical_implementor, canonical_implemented) =
                (self.canonical(implementor), self.canonical(implemented));
            return match (&canonical_implementor, &canonical_implemented) {
                (Cow::Borrowed(_), Cow::Borrowed(_)) => Cow::Borrowed(path),
                _ => Cow::Owned(format!("<{canonical_implementor} as {canonical_implemented}>::{member}")),
            };
        }
        if path.len() > MAX_PATH {
            return Cow::Borrowed(path);
        }
        let mut current = Cow::Borrowed(path);
        for _ in 0..MAX_ALIAS_CHAIN {
            let Some(next) = self.replace_alias(&current) else { break };
            current = Cow::Owned(next);
        }
        current
    }

    /// Returns the path after one replacement of an alias; `None` if no alias matches.
    fn replace_alias(&self, path: &str) -> Option<String> {
        let separator = separator(self.language);
        let first_segment = path.split_once(separator).map_or(path, |(first_segment, _)| first_segment);
        if !self.is_root(first_segment) {
            return None;
        }
        let mut end = path.len();
        loop {
            let target = self.layers.iter().find_map(|(_, layer)| layer.alias(&path[..end]));
            if let Some(target) = target {
                return Some(format!("{target}{}", &path[end..]));
            }
            end = path[..end].rfind(separator)?;
        }
    }

    /// Returns the aliases that a glob import of a module imports, as pairs of the name and the path that rows use.
    pub fn aliases_in<'m>(&'m self, module: &'m str) -> impl Iterator<Item = (&'m str, &'m str)> {
        self.layers.iter().flat_map(move |(_, layer)| layer.aliases_in(module))
    }

    /// Returns the aliases whose last segment differs from that of their target, as pairs of spelling and target.
    pub fn renamings(&self) -> impl Iterator<Item = (&str, &str)> {
        self.layers.iter().flat_map(|(_, layer)| layer.renamings())
    }

    /// True if this is the first segment of a path that some model describes.
    pub fn is_root(&self, segment: &str) -> bool {
        self.layers.iter().any(|(_, layer)| layer.is_first_segment(segment))
    }

    /// Returns pairs of libraries (`fastapi`, `starlette`): rows of the first library mention types of the second, so
    /// code that imports the first can have values of the second.
    pub fn links(&self) -> impl Iterator<Item = (&str, &str)> {
        self.layers.iter().flat_map(|(_, layer)| layer.links()).map(|(from, to)| (from.as_str(), to.as_str()))
    }

    /// True if some row or alias has this path, or a path under it.
    pub fn knows_prefix(&self, path: &str) -> bool {
        self.layers.iter().any(|(_, layer)| layer.knows_prefix(path))
    }

    /// True if the path is a type: it has a `[[type]]` row, or another row describes a member of it. The latter is true
    /// for modules as well, but no code calls a module.
    pub fn is_type(&self, path: &str) -> bool {
        self.layers.iter().any(|(_, layer)| layer.is_type(path))
    }

    /// Returns the `[[call]]` rows for calling a canonical path without parameter list, globs included.
    pub fn calls(&self, path: &str) -> CallRows<'_> {
        self.calls_in_types(&[path], &Unversioned)
    }

    /// Returns the `[[call]]` rows for calling a method, looked up in several types, nearest first (`Own.m`, `Base.m`,
    /// ...), with the versions of a unit. The position in the list is the type distance.
    pub fn calls_in_types(&self, paths: &[&str], versions: &dyn Versions) -> CallRows<'_> {
        self.find_rows(paths, versions, |uses, _| !uses.intersects(Uses::PROPERTY.union(Uses::MARKS)))
    }

    /// Returns the `[[call]]` rows for reading a property, nearest type first.
    pub fn properties_in_types(&self, paths: &[&str], versions: &dyn Versions) -> CallRows<'_> {
        self.find_rows(paths, versions, |uses, is_glob| uses.intersects(Uses::PROPERTY) && !is_glob)
    }

    /// Returns the `[[call]]` rows for reading the property of this path.
    pub fn properties(&self, path: &str) -> CallRows<'_> {
        self.properties_in_types(&[path], &Unversioned)
    }

    /// Returns the `[[call]]` rows with `via = "decorator"` for methods that carry this annotation.
    pub fn marks(&self, annotation: &str) -> CallRows<'_> {
        self.find_rows(&[annotation], &Unversioned, |uses, _| uses.intersects(Uses::MARKS))
    }

    /// Returns the `[[handover]]` rows of a path, globs included.
    pub fn handovers(&self, path: &str) -> HandoverRows<'_> {
        self.handovers_in_types(&[path], &Unversioned)
    }

    /// Returns the `[[handover]]` rows of a method, looked up in several types, nearest first, with the versions of a
    /// unit.
    pub fn handovers_in_types(&self, paths: &[&str], versions: &dyn Versions) -> HandoverRows<'_> {
        self.find_rows(paths, versions, |_, _| true)
    }

    /// Returns the `[[type]]` rows of a path; `None` if it has none, even if `is_type` is true for it.
    pub fn ty(&self, path: &str) -> Option<TypeRows<'_>> {
        self.ty_for_versions(path, &Unversioned)
    }

    /// Returns the `[[type]]` rows of a path that apply to the versions of a unit; `None` if there are none.
    pub fn ty_for_versions(&self, path: &str, versions: &dyn Versions) -> Option<TypeRows<'_>> {
        let rows: TypeRows<'_> = self.find_rows(&[path], versions, |_, _| true);
        (!rows.is_empty()).then_some(rows)
    }

    /// Returns the library types that a type derives from or implements.
    pub fn bases(&self, path: &str) -> &[TypeExpr] {
        self.ty(path).map_or(&[], |rows| rows.bases())
    }

    /// Returns the switches of all layers. Of switches with one name only that of the first layer is returned.
    pub fn switches(&self) -> impl Iterator<Item = (&Switch, &FileInfo)> {
        let declared_before = |layer: usize, name: &str| {
            self.layers[..layer].iter().any(|(_, layer)| layer.switches().iter().any(|switch| switch.name == name))
        };
        self.layers.iter().enumerate().flat_map(move |(index, (_, layer))| {
            layer
                .switches()
                .iter()
                .filter(move |switch| !declared_before(index, &switch.name))
                .filter_map(|switch| Some((switch, layer.files().get(switch.file as usize)?)))
        })
    }

    /// Returns the headers of files whose library's version builds can state by another name (`managed`).
    pub fn managed(&self) -> impl Iterator<Item = &FileInfo> {
        self.layers.iter().flat_map(|(_, layer)| layer.files()).filter(|file| !file.managed.is_empty())
    }

    /// Returns the headers of files with a `since`: a version of the library from which on an edit can call the row.
    pub fn dated(&self) -> impl Iterator<Item = &FileInfo> {
        self.layers.iter().flat_map(|(_, layer)| layer.files()).filter(|file| file.dated)
    }

    /// Returns the `[[call]]` row of a handle; `None` if the handle is of another kind of row.
    pub fn call(&self, id: MatchId) -> Option<Match<'_, CallRow>> {
        self.row_of(id, 0)
    }

    /// Returns the `[[handover]]` row of a handle; `None` if the handle is of another kind of row.
    pub fn handover(&self, id: MatchId) -> Option<Match<'_, HandoverRow>> {
        self.row_of(id, 0)
    }

    /// Returns the rows of one kind for a list of paths, sorted by precedence. `is_wanted` decides by the uses of a row
    /// and by the flag that its path is a glob; `versions` drops the rows of other versions.
    fn find_rows<R: RowKind>(
        &self,
        paths: &[&str],
        versions: &dyn Versions,
        is_wanted: impl Fn(Uses, bool) -> bool,
    ) -> Matches<'_, R> {
        let mut matches = Matches { rows: Vec::new() };
        for (layer_index, (_, layer)) in self.layers.iter().enumerate() {
            for (distance, path) in paths.iter().enumerate().filter(|(_, path)| path.len() <= MAX_PATH) {
                let mut is_type_path = None;
                for pattern in layer.matching_patterns(path, R::KIND) {
                    let Some(info) = layer.pattern(pattern) else { continue };
                    if !is_wanted(info.uses, info.rank.is_glob()) {
                        continue;
                    }
                    let shallow_glob = info.rank.is_glob() && !info.rank.is_deep();
                    if shallow_glob && *is_type_path.get_or_insert_with(|| self.is_type(path)) {
                        continue;
                    }
                    let id = MatchId { layer: layer_index as u8, pattern };
                    let Some(row) = self.row_of::<R>(id, distance as u32) else { continue };
                    if holds_for_versions(&row, versions) {
                        matches.rows.push(row);
                    }
                }
            }
        }
        matches.sort();
        matches
    }

    fn row_of<R: RowKind>(&self, id: MatchId, distance: u32) -> Option<Match<'_, R>> {
        let (kind, layer) = self.layers.get(id.layer as usize)?;
        let info = layer.pattern(id.pattern)?;
        if info.kind != R::KIND {
            return None;
        }
        let row = R::get(layer, info.row)?;
        Some(Match {
            row,
            line: row.line(),
            path: info.path,
            file: layer.files().get(info.file as usize)?,
            layer: *kind,
            distance,
            id,
            uses: info.uses,
            rank: info.rank,
            order: info.row,
        })
    }

    /// Returns the last names of rows with one of these uses; a name in two layers is returned twice. `glob_names`
    /// returns those with a glob.
    pub fn names(&self, uses: Uses) -> impl Iterator<Item = Name<'_>> {
        self.all_names(uses).filter(|name| !name.name.contains(['*', '[']))
    }

    fn all_names(&self, uses: Uses) -> impl Iterator<Item = Name<'_>> {
        self.layers.iter().flat_map(move |(kind, layer)| {
            layer
                .names()
                .filter(move |(_, _, name_uses)| name_uses.intersects(uses))
                .map(move |(index, name, uses)| Name { name, uses, layer, kind: *kind, index })
        })
    }

    /// Returns the union of the uses of all rows whose path ends in this name, in all layers, without globs.
    pub fn name_uses(&self, name: &str) -> Uses {
        let entries = self.layers.iter().filter_map(|(_, layer)| layer.name(name));
        entries.fold(Uses::NONE, |union, (_, uses)| union.union(uses))
    }

    /// Returns the entries of a last name: one for each layer that has it.
    pub fn named<'m>(&'m self, name: &'m str) -> impl Iterator<Item = Name<'m>> {
        self.layers.iter().filter_map(move |(kind, layer)| {
            let (index, uses) = layer.name(name)?;
            Some(Name { name, uses, layer, kind: *kind, index })
        })
    }

    /// Returns the paths whose last segment has a glob and whose row has one of these uses.
    pub fn glob_names(&self, uses: Uses) -> impl Iterator<Item = GlobName<'_>> {
        let separator = separator(self.language);
        self.all_names(uses).filter(|name| name.name.contains(['*', '['])).flat_map(move |name| {
            name.paths(uses).map(move |path| {
                let body = path.path.split_once('(').map_or(path.path, |(body, _)| body);
                let prefix = body.rsplit_once(separator).map_or("", |(prefix, _)| prefix);
                GlobName { pattern: name.name, prefix, path }
            })
        })
    }

    /// Returns the last names of rows with an effect other than `none`.
    pub fn effect_names(&self) -> impl Iterator<Item = Name<'_>> {
        self.names(Uses::EFFECT)
    }

    /// Returns the last names of calls that take a callable.
    pub fn handover_names(&self) -> impl Iterator<Item = Name<'_>> {
        self.names(Uses::HANDOVER)
    }

    /// Returns the names of methods whose overrides in the project the library runs (`via = "override"`).
    pub fn override_names(&self) -> impl Iterator<Item = Name<'_>> {
        self.names(Uses::OVERRIDE)
    }

    /// Returns the names of annotations on methods without a body that are library calls (`via = "decorator"` of a
    /// `[[call]]`).
    pub fn mark_names(&self) -> impl Iterator<Item = Name<'_>> {
        self.names(Uses::MARKS)
    }

    /// Returns the paths whose last segment has a glob and whose row has an effect other than `none`.
    pub fn glob_name_patterns(&self) -> impl Iterator<Item = GlobName<'_>> {
        self.glob_names(Uses::EFFECT)
    }
}

/// True if the version ranges of a row and of its file hold for the versions of a unit.
fn holds_for_versions<R: RowKind>(row: &Match<'_, R>, versions: &dyn Versions) -> bool {
    let ranges = [row.file.version.as_ref(), R::version(row.row)];
    if ranges.iter().all(Option::is_none) {
        return true;
    }
    let version = row.file.libraries.iter().find_map(|library| versions.version(library));
    ranges.into_iter().flatten().all(|range| range.contains(version.as_ref()))
}

/// A kind of row that has paths.
pub(crate) trait RowKind: Sized {
    const KIND: Kind;
    fn get(layer: &Layer, row: u32) -> Option<&Self>;
    fn line(&self) -> u32;
    fn version(&self) -> Option<&VersionRange>;
}

impl RowKind for CallRow {
    const KIND: Kind = Kind::Call;
    fn get(layer: &Layer, row: u32) -> Option<&Self> {
        layer.call(row)
    }
    fn line(&self) -> u32 {
        self.line
    }
    fn version(&self) -> Option<&VersionRange> {
        self.version.as_ref()
    }
}

impl RowKind for TypeRow {
    const KIND: Kind = Kind::Type;
    fn get(layer: &Layer, row: u32) -> Option<&Self> {
        layer.ty(row)
    }
    fn line(&self) -> u32 {
        self.line
    }
    fn version(&self) -> Option<&VersionRange> {
        self.version.as_ref()
    }
}

impl RowKind for HandoverRow {
    const KIND: Kind = Kind::Handover;
    fn get(layer: &Layer, row: u32) -> Option<&Self> {
        layer.handover(row)
    }
    fn line(&self) -> u32 {
        self.line
    }
    fn version(&self) -> Option<&VersionRange> {
        self.version.as_ref()
    }
}
