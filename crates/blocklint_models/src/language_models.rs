//! The rows of one language: the models of all layers, put together and asked by path or by name.

use std::borrow::Cow;
use std::sync::Arc;

use blocklint_core::Language;

use crate::format::{Kind, Layer, MAX_PATH};
use crate::matches::{CallRows, HandoverRows, LayerKind, Match, MatchId, Matches, TypeRows};
use crate::{CallRow, FileInfo, HandoverRow, Switch, TypeExpr, TypeRow, Uses, Version, VersionRange, separator};

/// The versions of a unit's dependencies.
pub trait Versions {
    /// Returns the version of a library, or `None` where nothing bounds it; then it is newer than every number.
    fn version(&self, library: &str) -> Option<Version>;
}

/// No version is known.
#[derive(Clone, Copy, Debug)]
pub struct Unversioned;

impl Versions for Unversioned {
    fn version(&self, _library: &str) -> Option<Version> {
        None
    }
}

/// A last name by which sites are searched, with the paths that end in it.
#[derive(Clone, Copy, Debug)]
pub struct Name<'m> {
    /// The last segment: of a constructor the class, of a macro with its `!`.
    pub name: &'m str,
    /// The uses of all its rows together.
    pub uses: Uses,
    layer: &'m Layer,
    kind: LayerKind,
    index: usize,
}

/// One path of a row, as a search meets it.
#[derive(Clone, Copy, Debug)]
pub struct NamedPath<'m> {
    /// The expanded path, with its globs and parameter list.
    pub path: &'m str,
    /// The bits by which its row is found.
    pub uses: Uses,
    /// The header of its file.
    pub file: &'m FileInfo,
    /// The layer of its file.
    pub layer: LayerKind,
}

impl<'m> Name<'m> {
    /// Returns the paths with this name, of rows with one of the uses.
    pub fn paths(self, uses: Uses) -> impl Iterator<Item = NamedPath<'m>> {
        self.layer.named(self.index).filter(move |found| found.uses.intersects(uses)).filter_map(move |found| {
            let file = self.layer.files().get(found.file as usize)?;
            Some(NamedPath { path: found.path, uses: found.uses, file, layer: self.kind })
        })
    }
}

/// A glob in a last segment: its names are those of the pattern under the prefix.
#[derive(Clone, Copy, Debug)]
pub struct GlobName<'m> {
    /// The last segment, as in `get_*`.
    pub pattern: &'m str,
    /// The type or module it hangs on; may hold globs itself.
    pub prefix: &'m str,
    /// The whole path.
    pub path: NamedPath<'m>,
}

/// The models of one language, layer over layer.
#[derive(Debug)]
pub struct LanguageModels {
    language: Language,
    /// In the order in which they decide.
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

    /// Returns the layers, in the order in which they decide.
    pub fn layers(&self) -> impl Iterator<Item = (LayerKind, &Layer)> {
        self.layers.iter().map(|(kind, layer)| (*kind, &**layer))
    }

    /// Returns the path that rows use for a spelling: aliases are applied, the longest that matches whole segments,
    /// again until none does. In `<T as Trait>::m` both types are looked at.
    pub fn canonical<'p>(&self, path: &'p str) -> Cow<'p, str> {
        if let Some((types, member)) = path.strip_prefix('<').and_then(|rest| rest.split_once(">::"))
            && let Some((implementor, implemented)) = types.split_once(" as ")
        {
            let (left, right) = (self.canonical(implementor), self.canonical(implemented));
            return match (&left, &right) {
                (Cow::Borrowed(_), Cow::Borrowed(_)) => Cow::Borrowed(path),
                _ => Cow::Owned(format!("<{left} as {right}>::{member}")),
            };
        }
        if path.len() > MAX_PATH {
            return Cow::Borrowed(path);
        }
        let mut current = Cow::Borrowed(path);
        // Checked files have no cycle within a layer; two layers together might.
        for _ in 0..16 {
            let Some(next) = self.unalias(&current) else { break };
            current = Cow::Owned(next);
        }
        current
    }

    fn unalias(&self, path: &str) -> Option<String> {
        let separator = separator(self.language);
        let first = path.split_once(separator).map_or(path, |(first, _)| first);
        if !self.is_root(first) {
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

    /// Returns the names that a glob import of a module brings by alias, with the paths that rows use.
    pub fn aliases_in<'m>(&'m self, module: &'m str) -> impl Iterator<Item = (&'m str, &'m str)> {
        self.layers.iter().flat_map(move |(_, layer)| layer.aliases_in(module))
    }

    /// Returns the aliases whose last segment is not that of their target: calls by them bear another name than their
    /// row.
    pub fn renamings(&self) -> impl Iterator<Item = (&str, &str)> {
        self.layers.iter().flat_map(|(_, layer)| layer.renamings())
    }

    /// True if some model has names whose first segment is this.
    pub fn is_root(&self, segment: &str) -> bool {
        self.layers.iter().any(|(_, layer)| layer.is_head(segment))
    }

    /// Returns the first segments whose rows name types under other first segments: values of the second come with the
    /// first.
    pub fn links(&self) -> impl Iterator<Item = (&str, &str)> {
        self.layers.iter().flat_map(|(_, layer)| layer.links()).map(|(from, to)| (from.as_str(), to.as_str()))
    }

    /// True if some row or alias names this path, or one under it.
    pub fn knows_prefix(&self, path: &str) -> bool {
        self.layers.iter().any(|(_, layer)| layer.knows_prefix(path))
    }

    /// True if the path is a type (MODELS section 5): it has a `[[type]]` row, or another row names a member of it.
    /// Modules are among the latter, but nothing calls those.
    pub fn is_type(&self, path: &str) -> bool {
        self.layers.iter().any(|(_, layer)| layer.is_type(path))
    }

    /// Returns the `[[call]]` rows for calling a canonical path without parameter list, globs included.
    pub fn calls(&self, path: &str) -> CallRows<'_> {
        self.calls_along(&[path], &Unversioned)
    }

    /// Returns the `[[call]]` rows for calling a method, looked up in several types, nearest first (`Own.m`, `Base.m`,
    /// ...), with the versions of a unit. The position in the list is the type distance.
    pub fn calls_along(&self, paths: &[&str], versions: &dyn Versions) -> CallRows<'_> {
        self.gather(paths, versions, |uses, _| !uses.intersects(Uses::PROPERTY.union(Uses::MARKS)))
    }

    /// Returns the `[[call]]` rows for reading a property, nearest type first.
    pub fn properties_along(&self, paths: &[&str], versions: &dyn Versions) -> CallRows<'_> {
        self.gather(paths, versions, |uses, is_glob| uses.intersects(Uses::PROPERTY) && !is_glob)
    }

    /// Returns the `[[call]]` rows for reading the property of this path.
    pub fn properties(&self, path: &str) -> CallRows<'_> {
        self.properties_along(&[path], &Unversioned)
    }

    /// Returns the `[[call]]` rows with `via = "decorator"` for methods that carry this annotation.
    pub fn marks(&self, annotation: &str) -> CallRows<'_> {
        self.gather(&[annotation], &Unversioned, |uses, _| uses.intersects(Uses::MARKS))
    }

    /// Returns the `[[handover]]` rows of a path, globs included.
    pub fn handovers(&self, path: &str) -> HandoverRows<'_> {
        self.handovers_along(&[path], &Unversioned)
    }

    /// Returns the `[[handover]]` rows of a method, looked up in several types, nearest first, with the versions of a
    /// unit.
    pub fn handovers_along(&self, paths: &[&str], versions: &dyn Versions) -> HandoverRows<'_> {
        self.gather(paths, versions, |_, _| true)
    }

    /// Returns the `[[type]]` rows of a path; `None` if it has none (`is_type` may still hold).
    pub fn ty(&self, path: &str) -> Option<TypeRows<'_>> {
        self.ty_at(path, &Unversioned)
    }

    /// Returns the `[[type]]` rows of a path that hold for the versions of a unit; `None` if there are none.
    pub fn ty_at(&self, path: &str, versions: &dyn Versions) -> Option<TypeRows<'_>> {
        let rows: TypeRows<'_> = self.gather(&[path], versions, |_, _| true);
        (!rows.is_empty()).then_some(rows)
    }

    /// Returns the library types a type derives from or implements.
    pub fn bases(&self, path: &str) -> &[TypeExpr] {
        self.ty(path).map_or(&[], |rows| rows.bases())
    }

    /// Returns the switches of all layers. A name that two layers declare comes once, from the first.
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

    /// Returns the headers of files with the names that builds have for the version of their library.
    pub fn managed(&self) -> impl Iterator<Item = &FileInfo> {
        self.layers.iter().flat_map(|(_, layer)| layer.files()).filter(|file| !file.managed.is_empty())
    }

    /// Returns the headers of files in which some row states since which version of its library an edit can call it.
    pub fn dated(&self) -> impl Iterator<Item = &FileInfo> {
        self.layers.iter().flat_map(|(_, layer)| layer.files()).filter(|file| file.dated)
    }

    /// Returns the row behind a handle, if it is a `[[call]]` row's.
    pub fn call(&self, id: MatchId) -> Option<Match<'_, CallRow>> {
        self.found(id, 0)
    }

    /// Returns the row behind a handle, if it is a `[[handover]]` row's.
    pub fn handover(&self, id: MatchId) -> Option<Match<'_, HandoverRow>> {
        self.found(id, 0)
    }

    fn gather<R: RowKind>(
        &self,
        paths: &[&str],
        versions: &dyn Versions,
        wanted: impl Fn(Uses, bool) -> bool,
    ) -> Matches<'_, R> {
        let mut found = Matches { rows: Vec::new() };
        for (layer_index, (_, layer)) in self.layers.iter().enumerate() {
            for (distance, path) in paths.iter().enumerate().filter(|(_, path)| path.len() <= MAX_PATH) {
                let mut type_path = None;
                for pattern in layer.matching(path, R::KIND) {
                    let Some(meta) = layer.pattern(pattern) else { continue };
                    if !wanted(meta.uses, meta.rank.is_glob()) {
                        continue;
                    }
                    let shallow_glob = meta.rank.is_glob() && !meta.rank.is_deep();
                    if shallow_glob && *type_path.get_or_insert_with(|| self.is_type(path)) {
                        continue;
                    }
                    let id = MatchId { layer: layer_index as u8, pattern };
                    let Some(row) = self.found::<R>(id, distance as u32) else { continue };
                    if holds(&row, versions) {
                        found.rows.push(row);
                    }
                }
            }
        }
        found.sort();
        found
    }

    fn found<R: RowKind>(&self, id: MatchId, distance: u32) -> Option<Match<'_, R>> {
        let (kind, layer) = self.layers.get(id.layer as usize)?;
        let meta = layer.pattern(id.pattern)?;
        if meta.kind != R::KIND {
            return None;
        }
        let row = R::of(layer, meta.row)?;
        Some(Match {
            row,
            line: row.line(),
            path: meta.path,
            file: layer.files().get(meta.file as usize)?,
            layer: *kind,
            distance,
            id,
            uses: meta.uses,
            rank: meta.rank,
            order: meta.row,
        })
    }

    /// Returns the last names of rows with one of these uses; a name that two layers have comes twice. Names with a
    /// glob are in `glob_names`.
    pub fn names(&self, uses: Uses) -> impl Iterator<Item = Name<'_>> {
        self.all_names(uses).filter(|name| !name.name.contains(['*', '[']))
    }

    fn all_names(&self, uses: Uses) -> impl Iterator<Item = Name<'_>> {
        self.layers.iter().flat_map(move |(kind, layer)| {
            layer.names().filter(move |(_, _, of)| of.intersects(uses)).map(move |(index, name, uses)| Name {
                name,
                uses,
                layer,
                kind: *kind,
                index,
            })
        })
    }

    /// Returns the uses of all rows whose path ends in this name, of all layers; globs not counted.
    pub fn name_uses(&self, name: &str) -> Uses {
        let of_layers = self.layers.iter().filter_map(|(_, layer)| layer.name(name));
        of_layers.fold(Uses::NONE, |uses, (_, of)| uses.union(of))
    }

    /// Returns one last name, once per layer that has it.
    pub fn named<'m>(&'m self, name: &'m str) -> impl Iterator<Item = Name<'m>> {
        self.layers.iter().filter_map(move |(kind, layer)| {
            let (index, uses) = layer.name(name)?;
            Some(Name { name, uses, layer, kind: *kind, index })
        })
    }

    /// Returns the last segments with a glob, of rows with one of these uses.
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

    /// Returns names of rows that make labels: an effect other than `none`.
    pub fn effect_names(&self) -> impl Iterator<Item = Name<'_>> {
        self.names(Uses::EFFECT)
    }

    /// Returns the names of calls that take a callable.
    pub fn handover_names(&self) -> impl Iterator<Item = Name<'_>> {
        self.names(Uses::HANDOVER)
    }

    /// Returns names of methods whose overrides in the project are registered by overriding.
    pub fn override_names(&self) -> impl Iterator<Item = Name<'_>> {
        self.names(Uses::OVERRIDE)
    }

    /// Returns names of annotations whose bodiless methods are calls (`via = "decorator"` on `[[call]]`).
    pub fn mark_names(&self) -> impl Iterator<Item = Name<'_>> {
        self.names(Uses::MARKS)
    }

    /// Returns the globs of last segments that make labels.
    pub fn glob_name_patterns(&self) -> impl Iterator<Item = GlobName<'_>> {
        self.glob_names(Uses::EFFECT)
    }
}

fn holds<R: RowKind>(found: &Match<'_, R>, versions: &dyn Versions) -> bool {
    let ranges = [found.file.version.as_ref(), R::version(found.row)];
    if ranges.iter().all(Option::is_none) {
        return true;
    }
    let version = found.file.libraries.iter().find_map(|library| versions.version(library));
    ranges.into_iter().flatten().all(|range| range.holds(version.as_ref()))
}

/// A kind of row with paths.
pub(crate) trait RowKind: Sized {
    const KIND: Kind;
    fn of(layer: &Layer, row: u32) -> Option<&Self>;
    fn line(&self) -> u32;
    fn version(&self) -> Option<&VersionRange>;
}

impl RowKind for CallRow {
    const KIND: Kind = Kind::Call;
    fn of(layer: &Layer, row: u32) -> Option<&Self> {
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
    fn of(layer: &Layer, row: u32) -> Option<&Self> {
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
    fn of(layer: &Layer, row: u32) -> Option<&Self> {
        layer.handover(row)
    }
    fn line(&self) -> u32 {
        self.line
    }
    fn version(&self) -> Option<&VersionRange> {
        self.version.as_ref()
    }
}
