//! What becomes of something that was made: who keeps it, and so how long it lives.

use blocklint_facts::{BodyFlags, BodyKind, Form, SiteKind, VarId};
use blocklint_models::{RowEffect, Selector};
use rustc_hash::FxHashSet;

use crate::link::Link;
use crate::link::targets::Target;
use crate::link::value::EnvId;
use crate::program::ids::{BodyRef, ClassRef, FileId, SiteRef};
use crate::program::index::{Mention, Wrap};

/// Who keeps what a site makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kept {
    /// Nobody: it lives as long as the call that made it.
    Nowhere,
    /// An instance of this class.
    ByInstance(ClassRef),
    /// The caller of this body, to which it is returned.
    ByCaller(BodyRef),
    /// A collection, a cache or something else that is not followed.
    Elsewhere,
    /// A module, a class or a static field.
    ByProgram,
}

impl<'a> Link<'a> {
    /// Who keeps what a site makes.
    pub(crate) fn kept(&self, site: SiteRef) -> Kept {
        let body = self.program.body_of_site(site);
        let facts = self.program.facts(site.file);
        let row = facts.body(body.body);
        match row.kind {
            BodyKind::Module | BodyKind::Class => return Kept::ByProgram,
            BodyKind::Initialiser if row.flags.has(BodyFlags::STATIC) => return Kept::ByProgram,
            BodyKind::Initialiser => {
                return row
                    .class
                    .get()
                    .map_or(Kept::Elsewhere, |class| Kept::ByInstance(ClassRef { file: site.file, class }));
            }
            _ => {}
        }
        let mut seen = FxHashSet::default();
        self.kept_result(site, &mut seen, 6)
    }

    /// Who keeps what goes where something is mentioned.
    pub(crate) fn kept_where(&self, file: FileId, mention: Mention) -> Kept {
        self.kept_mention(file, mention, Wrap::Direct, &mut FxHashSet::default(), 6)
    }

    fn kept_result(&self, site: SiteRef, seen: &mut FxHashSet<(u32, bool)>, depth: u32) -> Kept {
        let Some(depth) = depth.checked_sub(1) else { return Kept::Elsewhere };
        if !seen.insert((site.site.0, true)) {
            return Kept::Nowhere;
        }
        let uses = self.program.index_of(site.file).uses_of_result(site.site);
        uses.iter()
            .map(|(mention, wrap)| self.kept_mention(site.file, mention, wrap, seen, depth))
            .max()
            .unwrap_or(Kept::Nowhere)
    }

    fn kept_var(&self, file: FileId, var: VarId, seen: &mut FxHashSet<(u32, bool)>, depth: u32) -> Kept {
        if !seen.insert((var.0, false)) {
            return Kept::Nowhere;
        }
        let facts = self.program.facts(file);
        let index = self.program.index_of(file);
        // What a block enters it ends.
        let is_entered = |assign: &blocklint_facts::Assign| match facts.form(assign.value) {
            Form::Result(of) => facts.site(of).kind == SiteKind::Enter,
            _ => false,
        };
        if facts.assigns_of(var).any(|assign| is_entered(&assign)) {
            return Kept::Nowhere;
        }
        let mentions = index.mentions_named(facts.var(var).name).iter();
        mentions
            .filter(|(mention, _)| self.mentions_var(file, *mention, var))
            .map(|(mention, wrap)| self.kept_mention(file, mention, wrap, seen, depth))
            .max()
            .unwrap_or(Kept::Nowhere)
    }

    fn kept_mention(
        &self,
        file: FileId,
        mention: Mention,
        wrap: Wrap,
        seen: &mut FxHashSet<(u32, bool)>,
        depth: u32,
    ) -> Kept {
        let facts = self.program.facts(file);
        match mention {
            Mention::Assign(assign) => {
                let row = facts.assign(assign);
                if wrap == Wrap::Element {
                    return Kept::Elsewhere;
                }
                match facts.form(row.target) {
                    Form::Var(var) => {
                        let owner = facts.body(facts.var(var).body);
                        match owner.kind {
                            BodyKind::Module => Kept::ByProgram,
                            // A field by its bare name (Java), or a class attribute.
                            BodyKind::Class => self.field_of(file, facts.var(var).body, var, facts.body_of(row.at)),
                            _ if facts.var(var).body != facts.body_of(row.at) => Kept::Elsewhere,
                            _ => self.kept_var(file, var, seen, depth),
                        }
                    }
                    Form::Attr(base, sym) => {
                        let body = facts.body_of(row.at);
                        let own = crate::program::index::is_own_receiver(facts, base)
                            || matches!(facts.form(base), Form::This);
                        match self.class_around(file, body) {
                            // `cls.pool = …`
                            Some(_) if own && self.method_kind(BodyRef { file, body }).of_class => Kept::ByProgram,
                            Some(class) if own => {
                                let name = self.program.global(file, sym);
                                match name.and_then(|name| self.own_member(class, name)) {
                                    Some((of, var)) if self.is_static_field(of, var) => Kept::ByProgram,
                                    _ => Kept::ByInstance(class),
                                }
                            }
                            // `Store.pool = …`, `module.pool = …`
                            _ => match self.values.members(self.eval(self.scope_at(file, row.at), base).value)[..] {
                                [crate::link::value::Val::Class(_) | crate::link::value::Val::Module(_)] => {
                                    Kept::ByProgram
                                }
                                _ => Kept::Elsewhere,
                            },
                        }
                    }
                    _ => Kept::Elsewhere,
                }
            }
            Mention::Exit(exit) => {
                Kept::ByCaller(BodyRef { file, body: facts.body_of(facts.exits.at(exit as usize).at) })
            }
            Mention::Arg(site, arg) => {
                if wrap == Wrap::Element {
                    return Kept::Elsewhere;
                }
                self.kept_argument(SiteRef { file, site }, arg, seen, depth)
            }
            Mention::Operand(_) => Kept::Nowhere,
            Mention::Default(_) => Kept::ByProgram,
        }
    }

    /// What a call does with something that it is given.
    fn kept_argument(&self, site: SiteRef, arg: u32, seen: &mut FxHashSet<(u32, bool)>, depth: u32) -> Kept {
        let facts = self.program.facts(site.file);
        let row = facts.site(site.site);
        // `Some(pool)`, `Ok(pool)` and a struct literal are what they hold.
        if row.kind == SiteKind::New && facts.language == blocklint_core::Language::Rust {
            return self.kept_result(site, seen, depth);
        }
        let targets = self.targets(site, EnvId::NONE);
        let mut kept = Kept::Nowhere;
        for target in &targets.list {
            kept = kept.max(match *target {
                Target::Row { path, .. } => {
                    let calls = self.library.calls(path);
                    if calls.iter().any(|row| row.row.adds.is_some()) {
                        Kept::Elsewhere
                    } else if row.kind == SiteKind::Call && self.runs_another(site, arg, path) {
                        // Its result is what the callable gives.
                        Kept::Nowhere
                    } else if calls
                        .iter()
                        .any(|row| matches!(row.row.effect, Some(RowEffect::Holds(_))) || row.row.moves.is_some())
                    {
                        Kept::Nowhere
                    } else {
                        self.kept_by_taker(site, seen, depth)
                    }
                }
                Target::Body { body, with_receiver, .. } => match self.param_for(site, arg, body, with_receiver) {
                    Some(index) => {
                        let summary = self.summary(body, index);
                        let is_delegation = facts.text(row.name) == "<init>";
                        match self.class_around(site.file, facts.body_of(row.at)) {
                            // `this(…)` and `super(…)` give it to the instance that is being made.
                            Some(class) if is_delegation && !summary.stored.is_empty() => Kept::ByInstance(class),
                            // An object that keeps it lives on in what keeps the object; what a method does with it
                            // nobody knows.
                            _ if !summary.stored.is_empty() || summary.returned => {
                                self.kept_by_taker(site, seen, depth)
                            }
                            _ => Kept::Elsewhere,
                        }
                    }
                    None => Kept::Elsewhere,
                },
                Target::Overrides { .. } => Kept::Elsewhere,
            });
        }
        if targets.list.is_empty() { self.kept_by_taker(site, seen, depth) } else { kept }
    }

    /// Whether a call runs a callable that is given behind this argument, and gives what that gives (`run_in_executor`): what
    /// stands before the callable it lets go after.
    pub(crate) fn runs_another(&self, site: SiteRef, arg: u32, path: crate::program::ids::PathId) -> bool {
        let count = self.program.facts(site.file).args_of(site.site).len() as u32;
        self.library.handovers(path).iter().any(|of| match &of.row.selector {
            Selector::Argument(argument) => {
                let mut behind = arg + 1..count;
                of.row.passes.is_some() && !of.row.wraps && behind.any(|at| self.is_argument(site, at, argument))
            }
            Selector::Via(_) => false,
        })
    }

    /// What takes something may hold it in what it gives; where that is dropped, it is held by the receiver or by nobody
    /// that is seen.
    fn kept_by_taker(&self, site: SiteRef, seen: &mut FxHashSet<(u32, bool)>, depth: u32) -> Kept {
        self.kept_result(site, seen, depth).max(match self.program.facts(site.file).site(site.site).kind {
            SiteKind::New => Kept::Nowhere,
            _ if self.program.index_of(site.file).uses_of_result(site.site).iter().next().is_none() => Kept::Elsewhere,
            _ => Kept::Nowhere,
        })
    }

    /// Whose field a bare name is that stands in a class's scope.
    fn field_of(&self, file: FileId, scope: blocklint_facts::BodyId, var: VarId, at: blocklint_facts::BodyId) -> Kept {
        let facts = self.program.facts(file);
        let class = facts.classes.iter().position(|class| class.body == scope);
        let Some(class) = class.map(|at| ClassRef { file, class: blocklint_facts::ClassId(at as u32) }) else {
            return Kept::Elsewhere;
        };
        let is_static = facts.language == blocklint_core::Language::Python
            || self.is_static_field(class, var)
            // A static method can assign static fields only.
            || facts.body(at).flags.has(BodyFlags::STATIC);
        if is_static { Kept::ByProgram } else { Kept::ByInstance(class) }
    }

    /// Whether a field is known to be static: its initialiser is.
    fn is_static_field(&self, class: ClassRef, var: VarId) -> bool {
        let facts = self.program.facts(class.file);
        let name = facts.var(var).name;
        facts.bodies.iter().any(|body| {
            body.kind == BodyKind::Initialiser
                && body.class.get() == Some(class.class)
                && body.name == name
                && body.flags.has(BodyFlags::STATIC)
        })
    }

    fn scope_at(&self, file: FileId, at: blocklint_facts::At) -> crate::link::eval::Scope {
        crate::link::eval::Scope { file, at, env: EnvId::NONE }
    }
}
