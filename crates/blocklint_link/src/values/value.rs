//! Possible values of an expression, interned so that they are compared and remembered by number.

use std::borrow::Borrow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::program::ids::{BodyRef, ClassRef, FileId, PathId, SiteRef, VarRef};

/// Why a value is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Why {
    /// An expression whose form shows no value.
    Expression,
    /// A parameter that nothing types.
    Parameter,
    /// A name that nothing binds.
    Unbound,
    /// An attribute that no class or assignment defines.
    Attribute,
    /// The result of a call whose target is unknown or has no known result.
    Result,
    /// A library that no model describes.
    Library,
    /// It depends on itself.
    Cycle,
    /// A bound of the analysis was reached.
    Bound,
}

impl Why {
    /// How many reasons there are.
    const COUNT: usize = Why::Bound as usize + 1;

    /// Returns the reason in words, for `blocklint why`.
    pub fn as_str(self) -> &'static str {
        match self {
            Why::Expression => "an expression the analysis does not follow",
            Why::Parameter => "a parameter without annotation, default or a caller that tells",
            Why::Unbound => "a name that nothing binds",
            Why::Attribute => "an attribute that no known class or assignment gives",
            Why::Result => "the result of a call that says nothing of its type",
            Why::Library => "a library without a model",
            Why::Cycle => "it depends on itself",
            Why::Bound => "a bound of the analysis was reached",
        }
    }
}

/// One member of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Val {
    /// Not known.
    Unknown(Why),
    /// `None`, `null`, `()`.
    None,
    /// An instance of a project class. `exact`: its class is known, not only a base.
    Instance {
        /// The class.
        class: ClassRef,
        /// True if no subclass is meant.
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
        /// The site that made it, where a `state` can be known.
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
        /// Path of the type on which it was asked for, with the method's name.
        path: PathId,
        /// The receiver that it is bound to.
        receiver: BoundId,
    },
    /// A callable with some arguments given (`functools.partial`, adapters), called like `inner`.
    Partial {
        /// The callable that it calls.
        inner: BoundId,
        /// The site that made it.
        made: SiteRef,
        /// How many leading positional arguments are given: those of `made` behind its first.
        given: u8,
    },
    /// A project coroutine that was made and not driven.
    Coroutine {
        /// Its body.
        body: BodyRef,
        /// The values of its captured parameters.
        env: EnvId,
    },
    /// A library coroutine or future; the value is the result of awaiting it.
    Awaitable(ValueId),
    /// A generator that was made and not consumed.
    Iter {
        /// Its body.
        body: BodyRef,
        /// The values of its captured parameters.
        env: EnvId,
    },
    /// A lazy result of a library call; iterating runs the call's effect.
    Lazy {
        /// The call that made it.
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
        /// Its place among the parameters.
        index: u32,
    },
    /// `super()`: the receiver, looked up behind the class.
    Super {
        /// The class whose bases are meant.
        class: ClassRef,
        /// The receiver.
        receiver: BoundId,
    },
}

/// An interned union of at most [`UNION_LIMIT`] members, sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValueId(pub u32);

/// An interned single member, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BoundId(u32);

impl BoundId {
    /// Not bound.
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

/// An interned binding of captured parameters to values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EnvId(pub u32);

impl EnvId {
    /// Nothing is bound: the body for all its callers.
    pub const NONE: EnvId = EnvId(0);
}

/// Members of one union.
pub(crate) const UNION_LIMIT: usize = 24;

/// A short list of members while a union is being made.
pub(crate) type Members = SmallVec<[Val; 4]>;

/// The members of an interned union; cheap to hand around.
#[derive(Clone, Debug)]
pub struct Shared(Row);

/// Most values have one member.
#[derive(Clone, Debug)]
enum Row {
    One(Val),
    Many(Rc<[Val]>),
}

impl std::ops::Deref for Shared {
    type Target = [Val];
    #[inline]
    fn deref(&self) -> &[Val] {
        match &self.0 {
            Row::One(one) => std::slice::from_ref(one),
            Row::Many(many) => many,
        }
    }
}

impl IntoIterator for Shared {
    type Item = Val;
    type IntoIter = SharedIter;
    fn into_iter(self) -> SharedIter {
        SharedIter { of: self, at: 0 }
    }
}

/// Gives the members one by one.
#[derive(Clone, Debug)]
pub struct SharedIter {
    of: Shared,
    at: usize,
}

impl Iterator for SharedIter {
    type Item = Val;
    fn next(&mut self) -> Option<Val> {
        self.at += 1;
        self.of.get(self.at - 1).copied()
    }
}

/// The interned values of one analysis.
#[derive(Debug)]
pub struct Values {
    inner: RefCell<Tables>,
    /// The value of each reason, once it was asked for.
    unknowns: [Cell<Option<ValueId>>; Why::COUNT],
}

#[derive(Debug, Default)]
struct Tables {
    unions: Unions,
    singles: FxHashMap<Val, BoundId>,
    single_rows: Vec<Val>,
    lists: Interner<Box<[ValueId]>>,
    envs: Interner<Box<[(VarRef, ValueId)]>>,
}

#[derive(Debug, Default)]
struct Unions {
    ones: FxHashMap<Val, ValueId>,
    many: FxHashMap<Rc<[Val]>, ValueId>,
    rows: Vec<Row>,
}

impl Unions {
    /// Returns the union of members that are sorted, at least one.
    fn id(&mut self, members: &[Val]) -> ValueId {
        let next = ValueId(self.rows.len() as u32);
        if let [one] = members {
            let id = *self.ones.entry(*one).or_insert(next);
            if id == next {
                self.rows.push(Row::One(*one));
            }
            return id;
        }
        if let Some(&known) = self.many.get(members) {
            return known;
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
        let values = Values { inner: RefCell::default(), unknowns: Default::default() };
        values.args(&[]);
        values.env(&[]);
        values
    }
}

impl Values {
    /// Returns the union of these members: sorted and without doubles. `None` stays beside others; uses as a receiver
    /// drop it later. More than [`UNION_LIMIT`] members are cut and an unknown one stands for the rest.
    pub fn union(&self, members: &[Val]) -> ValueId {
        let mut sorted = Members::from_slice(members);
        sorted.sort_unstable();
        sorted.dedup();
        // Several reasons are one reason: the first.
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
        self.inner.borrow_mut().unions.id(&sorted)
    }

    /// Returns a value of one member.
    pub fn one(&self, member: Val) -> ValueId {
        self.inner.borrow_mut().unions.id(&[member])
    }

    /// Returns the union of values.
    pub fn join(&self, values: &[ValueId]) -> ValueId {
        let [first, rest @ ..] = values else { return self.unknown(Why::Expression) };
        if rest.iter().all(|value| value == first) {
            return *first;
        }
        let mut all = Members::new();
        let inner = self.inner.borrow();
        for &value in values {
            all.extend_from_slice(inner.unions.members(value));
        }
        drop(inner);
        self.union(&all)
    }

    /// Returns the members of a value.
    #[inline]
    pub fn members(&self, value: ValueId) -> Shared {
        Shared(self.inner.borrow().unions.rows[value.0 as usize].clone())
    }

    /// Returns an unknown value.
    pub fn unknown(&self, why: Why) -> ValueId {
        let known = &self.unknowns[why as usize];
        known.get().unwrap_or_else(|| {
            let value = self.one(Val::Unknown(why));
            known.set(Some(value));
            value
        })
    }

    /// True if nothing is known of a value.
    pub fn is_unknown(&self, value: ValueId) -> bool {
        self.inner.borrow().unions.members(value).iter().all(|val| matches!(val, Val::Unknown(_)))
    }

    /// Interns one member.
    pub fn bound(&self, member: Val) -> BoundId {
        let mut inner = self.inner.borrow_mut();
        let next = BoundId(inner.single_rows.len() as u32);
        let id = *inner.singles.entry(member).or_insert(next);
        if id == next {
            inner.single_rows.push(member);
        }
        id
    }

    /// Returns the member; unknown for [`BoundId::NONE`].
    pub fn single(&self, bound: BoundId) -> Val {
        if bound.is_some() { self.inner.borrow().single_rows[bound.0 as usize] } else { Val::Unknown(Why::Expression) }
    }

    /// Interns a list of values.
    pub fn args(&self, values: &[ValueId]) -> ArgsId {
        ArgsId(self.inner.borrow_mut().lists.id(values))
    }

    /// Returns a list of values.
    pub fn list(&self, args: ArgsId) -> SmallVec<[ValueId; 4]> {
        self.inner.borrow().lists.rows[args.0 as usize].iter().copied().collect()
    }

    /// Returns the n-th of a list of values.
    pub fn nth(&self, args: ArgsId, index: usize) -> Option<ValueId> {
        self.inner.borrow().lists.rows[args.0 as usize].get(index).copied()
    }

    /// Interns a binding; entries are sorted here.
    pub fn env(&self, entries: &[(VarRef, ValueId)]) -> EnvId {
        let mut sorted: SmallVec<[(VarRef, ValueId); 4]> = entries.iter().copied().collect();
        sorted.sort_unstable();
        EnvId(self.inner.borrow_mut().envs.id(sorted.as_slice()))
    }

    /// Returns the value that a variable has in a binding.
    pub fn env_get(&self, env: EnvId, var: VarRef) -> Option<ValueId> {
        if env == EnvId::NONE {
            return None;
        }
        let inner = self.inner.borrow();
        inner.envs.rows[env.0 as usize].iter().find(|row| row.0 == var).map(|row| row.1)
    }

    /// Returns all entries of a binding.
    pub fn env_entries(&self, env: EnvId) -> SmallVec<[(VarRef, ValueId); 4]> {
        self.inner.borrow().envs.rows[env.0 as usize].iter().copied().collect()
    }

    /// Returns the number of bindings.
    pub fn env_count(&self) -> usize {
        self.inner.borrow().envs.rows.len()
    }
}
