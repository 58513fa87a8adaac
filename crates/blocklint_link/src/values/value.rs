//! Values: unions of at most 24 members ([`Val`]), interned so that they are compared by number.

use std::borrow::Borrow;
use std::cell::{Cell, RefCell};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;

use crate::program::ids::{BodyRef, ClassRef, FileId, PathId, SiteRef, VarRef};

/// The reason why a value is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Why {
    /// An expression whose form shows no value.
    Expression,
    /// A parameter without annotation, default or known argument.
    Parameter,
    /// A name without a binding.
    Unbound,
    /// An attribute that no class or assignment defines.
    Attribute,
    /// The result of a call whose target is unknown or has no known result.
    Result,
    /// A library that no model describes.
    Library,
    /// A value that depends only on itself.
    Cycle,
    /// A value whose computation reached a bound of the analysis.
    Bound,
}

impl Why {
    /// The number of reasons.
    const COUNT: usize = Why::Bound as usize + 1;

    /// Returns the reason in words, for `blocklint why`.
    pub fn as_str(self) -> &'static str {
        match self {
            Why::Expression => "an expression that the analysis does not follow",
            Why::Parameter => "a parameter without annotation, default or a caller that shows its value",
            Why::Unbound => "a name that nothing binds",
            Why::Attribute => "an attribute that no known class or assignment defines",
            Why::Result => "the result of a call whose type is unknown",
            Why::Library => "a library without a model",
            Why::Cycle => "it depends on itself",
            Why::Bound => "a bound of the analysis was reached",
        }
    }
}

/// One member of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Val {
    /// An unknown value.
    Unknown(Why),
    /// `None`, `null`, `()`.
    None,
    /// An instance of a project class.
    Instance {
        /// The class.
        class: ClassRef,
        /// True if the class is exact; false if the instance may be of a subclass.
        exact: bool,
        /// Type arguments.
        args: ArgsId,
    },
    /// An instance of a library type.
    Library {
        /// The type.
        ty: PathId,
        /// Type arguments.
        args: ArgsId,
        /// The call that created it, if models describe states of the type.
        made: Option<SiteRef>,
    },
    /// A project class itself.
    Class(ClassRef),
    /// A module of the project (a file).
    Module(FileId),
    /// A package of the project without a file of its own; the path is its folder.
    Folder(PathId),
    /// A name of a library: module, function or class.
    External(PathId),
    /// A project function, method or closure.
    Fn {
        /// Its body.
        body: BodyRef,
        /// The receiver that it is bound to, if it is a method; else [`BoundId::NONE`].
        receiver: BoundId,
        /// The values of its captured parameters, for a specialised closure.
        env: EnvId,
    },
    /// A method of a library type, not yet called.
    Method {
        /// The path of the receiver's type with the method's name.
        path: PathId,
        /// The receiver that it is bound to.
        receiver: BoundId,
    },
    /// A callable that wraps another one: `functools.partial(f, 1)`, `sync_to_async(f)`.
    Partial {
        /// The wrapped callable.
        inner: BoundId,
        /// The call that created it.
        made: SiteRef,
        /// The number of leading positional arguments that are bound: those of `made` after its first.
        given: u8,
    },
    /// A coroutine of a project function that was created and not awaited.
    Coroutine {
        /// Its body.
        body: BodyRef,
        /// The values of its captured parameters.
        env: EnvId,
    },
    /// A library coroutine or future; the value is the result of awaiting it.
    Awaitable(ValueId),
    /// A generator of a project function that was created and not consumed.
    Iter {
        /// Its body.
        body: BodyRef,
        /// The values of its captured parameters.
        env: EnvId,
    },
    /// A lazy result of a library call, whose iteration runs the call's effect.
    Lazy {
        /// The call that created it.
        made: SiteRef,
        /// The row's path.
        path: PathId,
        /// The element that iteration yields.
        element: ValueId,
    },
    /// A tuple of known parts.
    Tuple(ArgsId),
    /// A type parameter of a type or impl block (Rust), until its argument is known.
    Param {
        /// The type or impl block that declares it.
        class: ClassRef,
        /// Its index among the type parameters.
        index: u32,
    },
    /// `super()`: the receiver, with lookups that begin after the class in its MRO.
    Super {
        /// The class after which lookups begin.
        class: ClassRef,
        /// The receiver.
        receiver: BoundId,
    },
}

/// An interned union of at most [`UNION_LIMIT`] members, sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValueId(pub u32);

impl ValueId {
    /// The union without members: the value of a query that depends on itself and has no answer yet. The union of it
    /// and another value is the other value.
    pub const NEVER: ValueId = ValueId(0);
}

/// An interned single member, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BoundId(u32);

impl BoundId {
    /// No receiver.
    pub const NONE: BoundId = BoundId(u32::MAX);

    /// True if there is a receiver.
    pub fn is_some(self) -> bool {
        self != Self::NONE
    }
}

/// An interned list of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArgsId(pub u32);

impl ArgsId {
    /// No arguments.
    pub const NONE: ArgsId = ArgsId(0);
}

/// An interned environment: the values of captured parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EnvId(pub u32);

impl EnvId {
    /// The empty environment: the body for all of its callers.
    pub const NONE: EnvId = EnvId(0);
}

/// The maximal number of members of a union.
pub(crate) const UNION_LIMIT: usize = 24;

/// A short list of members while a union is built.
pub(crate) type Members = SmallVec<[Val; 4]>;

/// The members of an interned union; cheap to clone.
#[derive(Clone, Debug)]
pub struct MemberList(Row);

/// The members of a union. Most values have one member.
#[derive(Clone, Debug)]
enum Row {
    One(Val),
    Many(Rc<[Val]>),
}

impl std::ops::Deref for MemberList {
    type Target = [Val];
    #[inline]
    fn deref(&self) -> &[Val] {
        match &self.0 {
            Row::One(member) => std::slice::from_ref(member),
            Row::Many(members) => members,
        }
    }
}

impl IntoIterator for MemberList {
    type Item = Val;
    type IntoIter = MembersIter;
    fn into_iter(self) -> MembersIter {
        MembersIter { members: self, next: 0 }
    }
}

/// Iterates over the members of a union.
#[derive(Clone, Debug)]
pub struct MembersIter {
    members: MemberList,
    next: usize,
}

impl Iterator for MembersIter {
    type Item = Val;
    fn next(&mut self) -> Option<Val> {
        self.next += 1;
        self.members.get(self.next - 1).copied()
    }
}

/// The digests of library paths, by [`PathId`]. A digest depends only on the text of its path.
pub type PathDigests = Rc<RefCell<Vec<u64>>>;

/// The interned values of one analysis.
#[derive(Debug)]
pub struct Values {
    inner: RefCell<Tables>,
    paths: PathDigests,
    /// The unknown value of each reason, if it is interned.
    unknowns: [Cell<Option<ValueId>>; Why::COUNT],
}

#[derive(Debug, Default)]
struct Tables {
    unions: Unions,
    singles: FxHashMap<Val, BoundId>,
    single_rows: Vec<Val>,
    lists: Interner<Box<[ValueId]>>,
    envs: Interner<Box<[(VarRef, ValueId)]>>,
    digests: Digests,
}

/// Digests of interned rows. A digest depends on the content of a row and not on the order in which rows were interned.
#[derive(Debug, Default)]
struct Digests {
    unions: Vec<u64>,
    singles: Vec<u64>,
    lists: Vec<u64>,
    envs: Vec<u64>,
}

fn digest(content: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    content.hash(&mut hasher);
    hasher.finish()
}

/// The sort key of a member in unions: its kind, its definition or position in the project, the digest of the rest.
type MemberOrder = (u8, u64, u64);

impl Digests {
    /// Returns the sort key of a member in unions.
    fn order(&self, paths: &[u64], val: Val) -> MemberOrder {
        let path = |path: PathId| paths[path.0 as usize];
        let list = |args: ArgsId| self.lists[args.0 as usize];
        let env = |env: EnvId| self.envs[env.0 as usize];
        let union = |value: ValueId| self.unions[value.0 as usize];
        let single = |bound: BoundId| if bound.is_some() { self.singles[bound.0 as usize] } else { 0 };
        let place = |file: FileId, at: usize| u64::from(file.0) << 32 | at as u64;
        let class = |class: ClassRef| place(class.file, class.index());
        let body = |body: BodyRef| place(body.file, body.index());
        let site = |site: SiteRef| place(site.file, site.index());
        match val {
            Val::Unknown(why) => (0, why as u64, 0),
            Val::None => (1, 0, 0),
            Val::Instance { class: of, exact, args } => (2, class(of), digest((exact, list(args)))),
            Val::Library { ty, args, made } => (3, 0, digest((path(ty), list(args), made))),
            Val::Class(of) => (4, class(of), 0),
            Val::Module(file) => (5, place(file, 0), 0),
            Val::Folder(of) => (6, 0, path(of)),
            Val::External(of) => (7, 0, path(of)),
            Val::Fn { body: of, receiver, env: bound } => (8, body(of), digest((single(receiver), env(bound)))),
            Val::Method { path: of, receiver } => (9, 0, digest((path(of), single(receiver)))),
            Val::Partial { inner, made, given } => (10, site(made), digest((single(inner), given))),
            Val::Coroutine { body: of, env: bound } => (11, body(of), env(bound)),
            Val::Awaitable(value) => (12, 0, union(value)),
            Val::Iter { body: of, env: bound } => (13, body(of), env(bound)),
            Val::Lazy { made, path: of, element } => (14, site(made), digest((path(of), union(element)))),
            Val::Tuple(args) => (15, 0, list(args)),
            Val::Param { class: of, index } => (16, class(of), u64::from(index)),
            Val::Super { class: of, receiver } => (17, class(of), single(receiver)),
        }
    }
}

impl Tables {
    /// Returns the union of sorted members.
    fn union(&mut self, paths: &[u64], members: &[Val]) -> ValueId {
        let value = self.unions.id(members);
        if value.0 as usize == self.digests.unions.len() {
            let union = members.iter().fold(0, |hash, &val| digest((hash, self.digests.order(paths, val))));
            self.digests.unions.push(union);
        }
        value
    }
}

#[derive(Debug, Default)]
struct Unions {
    ones: FxHashMap<Val, ValueId>,
    many: FxHashMap<Rc<[Val]>, ValueId>,
    rows: Vec<Row>,
}

impl Unions {
    /// Returns the number of the union of sorted members. The first union that is interned has no members.
    fn id(&mut self, members: &[Val]) -> ValueId {
        let next = ValueId(self.rows.len() as u32);
        if let [member] = members {
            let id = *self.ones.entry(*member).or_insert(next);
            if id == next {
                self.rows.push(Row::One(*member));
            }
            return id;
        }
        if let Some(&id) = self.many.get(members) {
            return id;
        }
        let members: Rc<[Val]> = Rc::from(members);
        self.many.insert(members.clone(), next);
        self.rows.push(Row::Many(members));
        next
    }

    #[inline]
    fn members(&self, value: ValueId) -> &[Val] {
        match &self.rows[value.0 as usize] {
            Row::One(one) => std::slice::from_ref(one),
            Row::Many(many) => many,
        }
    }
}

#[derive(Debug)]
struct Interner<T> {
    ids: FxHashMap<T, u32>,
    rows: Vec<T>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Interner { ids: FxHashMap::default(), rows: Vec::new() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Interner<T> {
    fn id<Q>(&mut self, row: &Q) -> u32
    where
        T: Borrow<Q> + for<'q> From<&'q Q>,
        Q: Eq + std::hash::Hash + ?Sized,
    {
        if let Some(&id) = self.ids.get(row) {
            return id;
        }
        let id = self.rows.len() as u32;
        let row = T::from(row);
        self.ids.insert(row.clone(), id);
        self.rows.push(row);
        id
    }
}

impl Default for Values {
    fn default() -> Self {
        Values::new(PathDigests::default())
    }
}

impl Values {
    /// Returns a table in which only the empty rows are interned.
    pub fn new(paths: PathDigests) -> Self {
        let values = Values { inner: RefCell::default(), paths, unknowns: Default::default() };
        values.args(&[]);
        values.env(&[]);
        values.inner.borrow_mut().union(&[], &[]);
        values
    }

    /// Returns the union of these members, without duplicates and in an order that does not depend on the order of
    /// interning. `Val::None` is kept, and evaluation drops it from receivers later. If there are more than
    /// [`UNION_LIMIT`] members, an unknown member replaces the rest.
    pub fn union(&self, members: &[Val]) -> ValueId {
        let mut inner = self.inner.borrow_mut();
        let paths = (*self.paths).borrow();
        let mut sorted = Members::from_slice(members);
        if sorted.len() > 1 {
            let mut ordered: SmallVec<[(MemberOrder, Val); 4]> =
                sorted.iter().map(|&val| (inner.digests.order(&paths, val), val)).collect();
            ordered.sort_unstable();
            sorted = ordered.into_iter().map(|(_, val)| val).collect();
            sorted.dedup();
        }
        // Of several unknown members only the first is kept.
        let unknowns = sorted.iter().filter(|val| matches!(val, Val::Unknown(_))).count();
        if unknowns > 1 {
            sorted.drain(1..unknowns);
        }
        if sorted.len() > UNION_LIMIT {
            sorted.truncate(UNION_LIMIT - 1);
            if !matches!(sorted[0], Val::Unknown(_)) {
                sorted.insert(0, Val::Unknown(Why::Bound));
            }
        }
        if sorted.is_empty() {
            sorted.push(Val::Unknown(Why::Expression));
        }
        inner.union(&paths, &sorted)
    }

    /// Returns a value of one member.
    pub fn one(&self, member: Val) -> ValueId {
        self.inner.borrow_mut().union(&(*self.paths).borrow(), &[member])
    }

    /// Returns the union of values.
    pub fn join(&self, values: &[ValueId]) -> ValueId {
        let [first, rest @ ..] = values else { return self.unknown(Why::Expression) };
        if rest.iter().all(|value| value == first) {
            return *first;
        }
        let mut joined = Members::new();
        let inner = self.inner.borrow();
        for &value in values {
            joined.extend_from_slice(inner.unions.members(value));
        }
        drop(inner);
        self.union(&joined)
    }

    /// Returns the members of a value.
    #[inline]
    pub fn members(&self, value: ValueId) -> MemberList {
        MemberList(self.inner.borrow().unions.rows[value.0 as usize].clone())
    }

    /// Returns an unknown value.
    pub fn unknown(&self, why: Why) -> ValueId {
        let interned = &self.unknowns[why as usize];
        interned.get().unwrap_or_else(|| {
            let value = self.one(Val::Unknown(why));
            interned.set(Some(value));
            value
        })
    }

    /// True if all members of a value are unknown.
    pub fn is_unknown(&self, value: ValueId) -> bool {
        self.inner.borrow().unions.members(value).iter().all(|val| matches!(val, Val::Unknown(_)))
            && value != ValueId::NEVER
    }

    /// Interns one member.
    pub fn bound(&self, member: Val) -> BoundId {
        let mut inner = self.inner.borrow_mut();
        let next = BoundId(inner.single_rows.len() as u32);
        let id = *inner.singles.entry(member).or_insert(next);
        if id == next {
            inner.single_rows.push(member);
            let single = digest(inner.digests.order(&(*self.paths).borrow(), member));
            inner.digests.singles.push(single);
        }
        id
    }

    /// Returns the member; unknown for [`BoundId::NONE`].
    pub fn single(&self, bound: BoundId) -> Val {
        if bound.is_some() { self.inner.borrow().single_rows[bound.0 as usize] } else { Val::Unknown(Why::Expression) }
    }

    /// Interns a list of values.
    pub fn args(&self, values: &[ValueId]) -> ArgsId {
        let inner = &mut *self.inner.borrow_mut();
        let id = inner.lists.id(values);
        if id as usize == inner.digests.lists.len() {
            let list = values.iter().fold(1, |hash, value| digest((hash, inner.digests.unions[value.0 as usize])));
            inner.digests.lists.push(list);
        }
        ArgsId(id)
    }

    /// Returns a list of values.
    pub fn list(&self, args: ArgsId) -> SmallVec<[ValueId; 4]> {
        self.inner.borrow().lists.rows[args.0 as usize].iter().copied().collect()
    }

    /// Returns the n-th value of a list.
    pub fn nth(&self, args: ArgsId, index: usize) -> Option<ValueId> {
        self.inner.borrow().lists.rows[args.0 as usize].get(index).copied()
    }

    /// Interns an environment; the entries may be in any order.
    pub fn env(&self, entries: &[(VarRef, ValueId)]) -> EnvId {
        let mut sorted: SmallVec<[(VarRef, ValueId); 4]> = entries.iter().copied().collect();
        sorted.sort_unstable();
        let inner = &mut *self.inner.borrow_mut();
        let id = inner.envs.id(sorted.as_slice());
        if id as usize == inner.digests.envs.len() {
            let entry = |hash, &(var, value): &(VarRef, ValueId)| {
                digest((hash, var.file, var.index(), inner.digests.unions[value.0 as usize]))
            };
            inner.digests.envs.push(sorted.iter().fold(2, entry));
        }
        EnvId(id)
    }

    /// Returns a sort key of an environment that depends only on its entries.
    pub fn env_digest(&self, env: EnvId) -> u64 {
        self.inner.borrow().digests.envs[env.0 as usize]
    }

    /// Returns the value of a variable in an environment.
    pub fn env_get(&self, env: EnvId, var: VarRef) -> Option<ValueId> {
        if env == EnvId::NONE {
            return None;
        }
        let inner = self.inner.borrow();
        inner.envs.rows[env.0 as usize].iter().find(|row| row.0 == var).map(|row| row.1)
    }

    /// Returns all entries of an environment.
    pub fn env_entries(&self, env: EnvId) -> SmallVec<[(VarRef, ValueId); 4]> {
        self.inner.borrow().envs.rows[env.0 as usize].iter().copied().collect()
    }

    /// Returns the number of environments.
    pub fn env_count(&self) -> usize {
        self.inner.borrow().envs.rows.len()
    }
}
