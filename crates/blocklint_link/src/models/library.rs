//! The library models of a run: a cache over `blocklint_models` that finds rows by interned path.

use crate::lang;
use std::cell::RefCell;
use std::hash::BuildHasher;
use std::rc::Rc;

use blocklint_core::Language;
use blocklint_models::{
    Bound, CallRows, HandoverRows, LanguageModels, LayerKind, Models, Role, SeverityTable, Source, TypeExpr, TypeRows,
    Unversioned, Uses,
};
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::program::ids::PathId;
use crate::values::value::PathDigests;

/// The most supertypes of one library type.
const MAX_SUPERTYPES: usize = 32;

/// Names of methods, each with a state that the method sets on its receiver.
type MethodStates = Rc<[(String, String)]>;

/// A call whose rows set the state of a value.
struct StateRow {
    path: PathId,
    /// The path without its last segment.
    owner: Option<PathId>,
    name: String,
    states: Vec<String>,
    returns_no_value: bool,
    /// The types of its results.
    result_types: Vec<PathId>,
}

/// The models of a run, with the rows that were looked up before.
pub struct Library<'a> {
    models: &'a Models,
    paths: RefCell<Paths>,
    digests: PathDigests,
    supertypes: RefCell<FxHashMap<PathId, Rc<[PathId]>>>,
    calls: RefCell<FxHashMap<PathId, Rc<CallRows<'a>>>>,
    properties: RefCell<FxHashMap<PathId, Rc<CallRows<'a>>>>,
    handovers: RefCell<FxHashMap<PathId, Rc<HandoverRows<'a>>>>,
    types: RefCell<FxHashMap<PathId, Option<Rc<TypeRows<'a>>>>>,
    /// A buffer for the path of a member, because most paths are interned already.
    spelling: RefCell<String>,
    described: RefCell<FxHashMap<PathId, bool>>,
    are_types: RefCell<FxHashMap<PathId, bool>>,
    blocking_members: RefCell<FxHashMap<PathId, bool>>,
    states: RefCell<FxHashMap<PathId, MethodStates>>,
    state_rows: RefCell<[Option<Rc<[StateRow]>>; LANGUAGES]>,
}

const LANGUAGES: usize = Language::ALL.len();

/// Interned paths.
#[derive(Default)]
struct Paths {
    /// For each language, the canonical paths.
    ids: [FxHashMap<Rc<str>, PathId>; LANGUAGES],
    /// For each language, all spellings of paths.
    spelled: [FxHashMap<Rc<str>, PathId>; LANGUAGES],
    rows: Vec<(Language, Rc<str>)>,
}

/// Returns the separator between the segments of a path.
pub fn separator(language: Language) -> &'static str {
    if language == Language::Rust { "::" } else { "." }
}

impl<'a> Library<'a> {
    /// Returns a library without any interned path.
    pub fn new(models: &'a Models) -> Self {
        Library {
            models,
            paths: RefCell::default(),
            digests: PathDigests::default(),
            supertypes: RefCell::default(),
            calls: RefCell::default(),
            properties: RefCell::default(),
            handovers: RefCell::default(),
            types: RefCell::default(),
            spelling: RefCell::default(),
            described: RefCell::default(),
            are_types: RefCell::default(),
            blocking_members: RefCell::default(),
            states: RefCell::default(),
            state_rows: RefCell::default(),
        }
    }

    /// Returns the models of a language.
    pub fn of(&self, language: Language) -> &'a LanguageModels {
        self.models.lang(language)
    }

    /// Interns a path in its canonical spelling.
    pub fn path(&self, language: Language, text: &str) -> PathId {
        if let Some(&id) = self.paths.borrow().spelled[language as usize].get(text) {
            return id;
        }
        let canonical: Rc<str> = Rc::from(&*self.of(language).canonical(text));
        let mut paths = self.paths.borrow_mut();
        let next = PathId(paths.rows.len() as u32);
        let id = *paths.ids[language as usize].entry(canonical.clone()).or_insert(next);
        if id == next {
            self.digests.borrow_mut().push(FxBuildHasher.hash_one((language, &*canonical)));
            paths.rows.push((language, canonical));
        }
        paths.spelled[language as usize].insert(Rc::from(text), id);
        id
    }

    /// Returns the digests of paths, to order values by.
    pub(crate) fn digests(&self) -> PathDigests {
        Rc::clone(&self.digests)
    }

    /// Returns the severities of the kinds of work.
    pub fn severities(&self) -> &'a SeverityTable {
        self.models.severities()
    }

    /// Returns the text of a path.
    pub fn text(&self, path: PathId) -> Rc<str> {
        self.paths.borrow().rows[path.0 as usize].1.clone()
    }

    /// Returns the language of a path.
    pub fn language(&self, path: PathId) -> Language {
        self.paths.borrow().rows[path.0 as usize].0
    }

    /// Returns the path of a member: the path, the separator and the name.
    pub fn member(&self, path: PathId, name: &str) -> PathId {
        let paths = self.paths.borrow();
        let (language, text) = &paths.rows[path.0 as usize];
        let language = *language;
        let mut spelled = self.spelling.borrow_mut();
        spelled.clear();
        for part in [text, separator(language), name] {
            spelled.push_str(part);
        }
        drop(paths);
        self.path(language, &spelled)
    }

    /// Returns a path without its last segment, and the segment.
    pub fn split(&self, path: PathId) -> Option<(PathId, String)> {
        let (language, text) = self.paths.borrow().rows[path.0 as usize].clone();
        let (head, name) = text.rsplit_once(separator(language))?;
        Some((self.path(language, head), name.to_owned()))
    }

    /// Returns the path of a macro with `!` if a row describes it: `tokio::join!`. Else returns the path unchanged.
    pub(crate) fn macro_path(&self, path: PathId) -> PathId {
        let spelled = self.path(self.language(path), &format!("{}!", self.text(path)));
        if self.calls(spelled).is_empty() { path } else { spelled }
    }

    /// Returns the path of a member. If the path is a crate without a model that re-exports a crate with a model
    /// (`other::rusqlite`), it returns the re-exported crate (Rust).
    pub(crate) fn member_or_reexported_crate(&self, path: PathId, name: &str) -> PathId {
        let language = self.language(path);
        let text = self.text(path);
        let is_unknown_crate = || !text.contains(separator(language)) && !self.knows_root(language, &text);
        if is_unknown_crate() && *text != *name && self.knows_root(language, name) {
            return self.path(language, name);
        }
        self.member(path, name)
    }

    /// True if a row or alias has this path or one below it.
    pub fn is_described(&self, path: PathId) -> bool {
        *self
            .described
            .borrow_mut()
            .entry(path)
            .or_insert_with(|| self.of(self.language(path)).knows_prefix(&self.text(path)))
    }

    /// True if a model has paths with this first segment.
    pub fn knows_root(&self, language: Language, segment: &str) -> bool {
        self.of(language).is_root(segment)
    }

    /// True if a path is a type.
    pub fn is_type(&self, path: PathId) -> bool {
        let mut are_types = self.are_types.borrow_mut();
        *are_types.entry(path).or_insert_with(|| self.of(self.language(path)).is_type(&self.text(path)))
    }

    /// True if a row states that a method of a type holds its thread.
    pub fn has_blocking_members(&self, ty: PathId) -> bool {
        if let Some(&is_blocking) = self.blocking_members.borrow().get(&ty) {
            return is_blocking;
        }
        let (models, separator) = (self.of(self.language(ty)), separator(self.language(ty)));
        let has_blocking = self.supertypes(ty).iter().any(|&owner| {
            let prefix = format!("{}{separator}", self.text(owner));
            models.names(Uses::EFFECT).any(|name| {
                name.paths(Uses::EFFECT)
                    .any(|path| path.path.strip_prefix(&prefix).is_some_and(|rest| !rest.contains(separator)))
            })
        });
        self.blocking_members.borrow_mut().insert(ty, has_blocking);
        has_blocking
    }

    /// Returns the `[[type]]` rows of a path.
    pub fn ty(&self, path: PathId) -> Option<Rc<TypeRows<'a>>> {
        if let Some(rows) = self.types.borrow().get(&path) {
            return rows.clone();
        }
        let rows = self.of(self.language(path)).ty(&self.text(path)).map(Rc::new);
        self.types.borrow_mut().insert(path, rows.clone());
        rows
    }

    /// Returns a type and its supertypes, nearest first.
    pub fn supertypes(&self, path: PathId) -> Rc<[PathId]> {
        if let Some(cached) = self.supertypes.borrow().get(&path) {
            return cached.clone();
        }
        let language = self.language(path);
        let mut types = vec![path];
        let mut next = 0;
        while next < types.len() && types.len() < MAX_SUPERTYPES {
            if let Some(rows) = self.ty(types[next]) {
                for base in rows.bases() {
                    if let TypeExpr::Path { path: base, .. } = base {
                        let base = self.path(language, base);
                        if !types.contains(&base) {
                            types.push(base);
                        }
                    }
                }
            }
            next += 1;
        }
        if language == Language::Java
            && types.len() == 1
            && let Some(base) = lang::java::generated_code::generated_base(&self.text(path))
        {
            let base = self.path(language, base);
            types.extend(self.supertypes(base).iter().copied());
        }
        let types: Rc<[PathId]> = Rc::from(types);
        self.supertypes.borrow_mut().insert(path, types.clone());
        types
    }

    /// True if a type is equal to another type or derives from it.
    pub fn is_subtype(&self, path: PathId, base: PathId) -> bool {
        self.supertypes(path).contains(&base)
    }

    /// True if a type or one of its supertypes has a tag.
    pub fn has_tag(&self, path: PathId, tag: &str) -> bool {
        self.supertypes(path).iter().any(|&ty| self.ty(ty).is_some_and(|rows| rows.has_tag(tag)))
    }

    /// Returns the bound of a type or of its nearest supertype with one: the thread, loop or task to which its values
    /// belong. A row of a constructor that is bound to a thread binds all subtypes, because an object that only one
    /// thread can create works only there.
    pub fn bound(&self, path: PathId) -> Option<Bound> {
        let of_type = |ty: PathId| self.ty(ty).and_then(|rows| rows.bound());
        let of_constructor =
            |ty: PathId| self.calls(ty).with(|row| row.bound == Some(Bound::Thread)).next().map(|_| Bound::Thread);
        self.supertypes(path).iter().find_map(|&ty| of_type(ty).or_else(|| of_constructor(ty)))
    }

    /// Returns the role of a type or of its nearest supertype with one: a lock, a publisher, a future.
    pub fn role(&self, path: PathId) -> Option<Role> {
        self.supertypes(path).iter().find_map(|&ty| self.ty(ty).and_then(|rows| rows.role()))
    }

    /// Returns the source of the bytes of a type's values, by the type or its nearest supertype with one.
    pub(crate) fn source(&self, path: PathId) -> Option<Source> {
        self.supertypes(path).iter().find_map(|&ty| self.ty(ty).and_then(|rows| rows.source()))
    }

    /// Returns the path of a member in its type and in each supertype.
    fn inherited_paths(&self, path: PathId) -> Vec<Rc<str>> {
        let Some((parent, name)) = self.split(path) else { return vec![self.text(path)] };
        self.supertypes(parent).iter().map(|&ty| self.text(self.member(ty, &name))).collect()
    }

    /// Returns the `[[call]]` rows for calling a path. For a method the rows of supertypes are included.
    pub fn calls(&self, path: PathId) -> Rc<CallRows<'a>> {
        if let Some(cached) = self.calls.borrow().get(&path) {
            return cached.clone();
        }
        let along = self.inherited_paths(path);
        let along: Vec<&str> = along.iter().map(|path| &**path).collect();
        let models = self.of(self.language(path));
        let mut rows = models.calls_in_types(&along, &Unversioned);
        // The path of a method with a marker annotation has the annotation as its owner.
        if rows.is_empty()
            && self.language(path) == Language::Java
            && let Some((annotation, _)) = self.split(path)
        {
            rows = models.marks(&self.text(annotation));
        }
        let rows = Rc::new(rows);
        self.calls.borrow_mut().insert(path, rows.clone());
        rows
    }

    /// True if rows describe the methods without a body that have this annotation.
    pub(crate) fn is_marker_annotation(&self, path: PathId) -> bool {
        !self.of(self.language(path)).marks(&self.text(path)).is_empty()
    }

    /// Returns the `[[call]]` rows for reading a property.
    pub fn properties(&self, path: PathId) -> Rc<CallRows<'a>> {
        if let Some(cached) = self.properties.borrow().get(&path) {
            return cached.clone();
        }
        let along = self.inherited_paths(path);
        let along: Vec<&str> = along.iter().map(|path| &**path).collect();
        let rows = Rc::new(self.of(self.language(path)).properties_in_types(&along, &Unversioned));
        self.properties.borrow_mut().insert(path, rows.clone());
        rows
    }

    /// True if the user's configuration contains models.
    pub fn has_user_rows(&self) -> bool {
        Language::ALL.iter().any(|language| self.of(*language).layers().any(|(kind, _)| kind == LayerKind::User))
    }

    /// True if a row of the user's models describes the effect of a call of a path.
    pub(crate) fn has_user_row(&self, path: PathId) -> bool {
        let rows = self.of(self.language(path)).calls(&self.text(path)).user_only();
        rows.effect().next().is_some()
    }

    /// Returns the `[[handover]]` rows of a path.
    pub fn handovers(&self, path: PathId) -> Rc<HandoverRows<'a>> {
        if let Some(cached) = self.handovers.borrow().get(&path) {
            return cached.clone();
        }
        let along = self.inherited_paths(path);
        let along: Vec<&str> = along.iter().map(|path| &**path).collect();
        let rows = Rc::new(self.of(self.language(path)).handovers_in_types(&along, &Unversioned));
        self.handovers.borrow_mut().insert(path, rows.clone());
        rows
    }

    /// Returns the uses of rows of a language whose path ends in this name.
    pub fn name_uses(&self, language: Language, name: &str) -> Uses {
        self.of(language).name_uses(name)
    }

    /// True if iteration over a value of a type holds the thread.
    fn has_blocking_iteration(&self, ty: PathId) -> bool {
        ["__next__", "__iter__"].iter().any(|method| {
            let rows = self.calls(self.member(ty, method));
            rows.effect().any(|row| row.held_effect().is_some())
        })
    }

    /// True if a call of a path returns values whose iteration holds the thread.
    pub fn result_has_blocking_iteration(&self, language: Language, path: &str) -> bool {
        let path = self.path(language, path.split('(').next().unwrap_or(path));
        self.calls(path).with(|row| row.returns.is_some()).any(|matched| match &matched.row.returns {
            Some(TypeExpr::Path { path, .. }) => self.has_blocking_iteration(self.path(language, path)),
            Some(TypeExpr::SelfType(_)) => self.split(path).is_some_and(|(ty, _)| self.has_blocking_iteration(ty)),
            // A result type that depends on the call may be any type.
            Some(TypeExpr::None) | None => false,
            Some(_) => true,
        })
    }

    /// True if rows set states of a type, so that values store the call that created them.
    pub(crate) fn makes_state(&self, ty: PathId) -> bool {
        !self.states(ty).is_empty()
    }

    /// Returns the names of methods that set a state of a type.
    pub(crate) fn state_names(&self, ty: PathId, state: &str) -> Vec<String> {
        self.states(ty)
            .iter()
            .filter(|(name, set)| set == state && !name.is_empty())
            .map(|(name, _)| name.clone())
            .collect()
    }

    /// Returns the states that rows set on a type, each with the name of the setting method. The name is empty if the
    /// call that creates the value sets the state.
    fn states(&self, ty: PathId) -> MethodStates {
        if let Some(cached) = self.states.borrow().get(&ty) {
            return cached.clone();
        }
        let rows = self.state_rows(self.language(ty));
        let mut states = Vec::new();
        for &supertype in self.supertypes(ty).iter() {
            for row in rows.iter() {
                // Only a method without a result sets the state of its receiver. A method with a result sets the state
                // of the result (MODELS section 4), as `cursor` does.
                let setter = if row.owner == Some(supertype) && row.returns_no_value { row.name.as_str() } else { "" };
                if row.owner == Some(supertype) || row.path == supertype || row.result_types.contains(&ty) {
                    states.extend(row.states.iter().map(|state| (setter.to_owned(), state.clone())));
                }
            }
        }
        states.sort();
        states.dedup();
        let states: Rc<[(String, String)]> = Rc::from(states);
        self.states.borrow_mut().insert(ty, states.clone());
        states
    }

    /// Returns the rows of a language that set states.
    fn state_rows(&self, language: Language) -> Rc<[StateRow]> {
        if let Some(cached) = &self.state_rows.borrow()[language as usize] {
            return cached.clone();
        }
        let models = self.of(language);
        let mut state_rows: Vec<StateRow> = Vec::new();
        for name in models.names(Uses::STATE) {
            for path in name.paths(Uses::STATE) {
                let canonical = models.canonical(path.path);
                // The path of an overload without its parameter list.
                let bare = canonical.split('(').next().unwrap_or(&canonical);
                let rows = models.calls(bare);
                let states: Vec<String> =
                    rows.with(|row| row.state.is_some()).filter_map(|row| row.state.clone()).collect();
                if states.is_empty() {
                    continue;
                }
                let returns: Vec<&TypeExpr> =
                    rows.with(|row| row.returns.is_some()).filter_map(|matched| matched.row.returns.as_ref()).collect();
                let owner = bare.rsplit_once(separator(language)).map(|(head, _)| self.path(language, head));
                // Type arguments of the result count too: `io::Result<Runtime>`.
                let result_types = returns.iter().flat_map(|ty| match ty {
                    TypeExpr::Path { path, arguments } => {
                        let inner = arguments.iter().filter_map(|argument| match argument {
                            TypeExpr::Path { path, .. } => Some(path),
                            _ => None,
                        });
                        std::iter::once(path).chain(inner).map(|path| self.path(language, path)).collect()
                    }
                    _ => Vec::new(),
                });
                state_rows.push(StateRow {
                    path: self.path(language, bare),
                    owner,
                    name: name.name.to_owned(),
                    states,
                    returns_no_value: returns.is_empty(),
                    result_types: result_types.collect(),
                });
            }
        }
        let state_rows: Rc<[StateRow]> = Rc::from(state_rows);
        self.state_rows.borrow_mut()[language as usize] = Some(state_rows.clone());
        state_rows
    }
}
