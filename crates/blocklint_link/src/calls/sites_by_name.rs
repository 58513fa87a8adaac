//! The call sites and mentions of one name, by the bodies that they call or mention. They are resolved once for all
//! bodies with this name.

use std::rc::Rc;

use blocklint_facts::{At, BodyId};
use rustc_hash::FxHashMap;

use crate::calls::targets::Target;
use crate::linker::Linker;
use crate::linker::work::WorkUnit;
use crate::program::ids::{BodyRef, ClassRef, FileId, Name, SiteRef};
use crate::program::occurrences::{Mention, Wrap};
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val, ValueId};

/// How deep a value is searched for bodies: the elements of its elements, and so on.
const MAX_VALUE_DEPTH: u32 = 8;

/// The call sites and mentions of one name. Without this table, the sites of a name that many bodies have (`run`) would
/// be resolved once for each of the bodies.
#[derive(Debug, Default)]
pub struct SitesByName {
    /// Sites, by the bodies among their targets.
    pub calls: FxHashMap<BodyRef, Vec<SiteRef>>,
    /// Sites that may call an override, by the base class.
    pub by_base: FxHashMap<ClassRef, Vec<SiteRef>>,
    /// Sites without a known target.
    pub unknown: Vec<SiteRef>,
    /// Mentions, by the bodies in their value.
    pub mentions: FxHashMap<BodyRef, Vec<(FileId, Mention, Wrap)>>,
}

impl SitesByName {
    fn new(linker: &Linker<'_>, name: Name, is_searched: impl Fn(FileId) -> bool) -> Self {
        let mut by_name = SitesByName::default();
        for &(file, sym) in linker.program.occurrences(name).iter().filter(|(file, _)| is_searched(*file)) {
            let index = linker.program.index_of(file);
            for &site in index.sites_named(sym) {
                by_name.add_site(linker, file.site_ref(site));
            }
            for (mention, wrap) in index.mentions_named(sym).iter() {
                if wrap == Wrap::Element {
                    continue;
                }
                match mention {
                    Mention::Operand(site) => by_name.add_site(linker, file.site_ref(site)),
                    _ => {
                        let unit = WorkUnit::Body(linker.body_of_mention(file, mention));
                        let bodies =
                            linker.attempt(unit, || linker.bodies_of_value(linker.mentioned_value(file, mention)));
                        for body in bodies.into_iter().flatten() {
                            by_name.mentions.entry(body).or_default().push((file, mention, wrap));
                        }
                    }
                }
            }
        }
        by_name
    }

    /// Adds a site under each of its targets.
    fn add_site(&mut self, linker: &Linker<'_>, site: SiteRef) {
        let Some(targets) = linker.attempt_site(site, || linker.targets(site, EnvId::NONE)) else { return };
        if targets.list.is_empty() && targets.unknown {
            self.unknown.push(site);
        }
        for target in &targets.list {
            match *target {
                Target::Body { body, .. } => self.calls.entry(body).or_default().push(site),
                Target::Overrides { class, .. } => self.by_base.entry(class).or_default().push(site),
                Target::Row { .. } => {}
            }
        }
    }
}

impl<'a> Linker<'a> {
    /// Returns the call sites and mentions of a name in all files.
    pub fn sites_by_name(&self, name: Name) -> Rc<SitesByName> {
        let find = || Rc::new(SitesByName::new(self, name, |_| true));
        self.query(&self.tables.calls.by_name, name, Rc::default, find)
    }

    /// Returns the call sites and mentions of a name in the files in focus.
    pub fn sites_by_name_in_focus(&self, name: Name) -> Rc<SitesByName> {
        let find = || Rc::new(SitesByName::new(self, name, |file| self.is_in_focus(file)));
        self.query(&self.tables.calls.by_name_in_focus, name, Rc::default, find)
    }

    /// Returns the bodies that a file mentions without calling them.
    pub fn bodies_mentioned_in(&self, file: FileId) -> Vec<BodyRef> {
        let mentions = self.program.index_of(file).named();
        let values = mentions.filter(|(mention, _)| !matches!(mention, Mention::Operand(_)));
        let bodies = values.filter_map(|(mention, _)| {
            let unit = WorkUnit::Body(self.body_of_mention(file, mention));
            self.attempt(unit, || self.bodies_of_value(self.mentioned_value(file, mention)))
        });
        bodies.flatten().collect()
    }

    /// Returns the body around a mention. A default of a parameter belongs to the top level of the file.
    pub fn body_of_mention(&self, file: FileId, mention: Mention) -> BodyRef {
        let facts = self.program.facts(file);
        let position = match mention {
            Mention::Arg(site, _) | Mention::Operand(site) => facts.site(site).at,
            Mention::Assign(assign) => facts.assign(assign).at,
            Mention::Exit(exit) => facts.exits.at(exit as usize).at,
            Mention::Default(_) => return file.body_ref(BodyId(0)),
        };
        self.program.body_of(file, position)
    }

    /// Returns the value that goes to the place of a mention.
    pub(crate) fn mentioned_value(&self, file: FileId, mention: Mention) -> ValueId {
        let facts = self.program.facts(file);
        let typed = match mention {
            Mention::Arg(site, arg) => self.argument_callable(file.site_ref(site), arg, EnvId::NONE),
            Mention::Assign(assign) => {
                let position = facts.assign(assign).at;
                self.assigned_value(Scope { file, at: position, env: EnvId::NONE }, assign)
            }
            Mention::Exit(exit) => {
                let row = facts.exits.at(exit as usize);
                self.eval(Scope { file, at: row.at, env: EnvId::NONE }, row.value)
            }
            Mention::Default(param) => {
                let scope = Scope { file, at: At::default(), env: EnvId::NONE };
                self.eval(scope, facts.params[param as usize].default)
            }
            Mention::Operand(site) => {
                self.eval(self.scope_of(file.site_ref(site), EnvId::NONE), facts.site(site).callee)
            }
        };
        typed.value
    }

    /// Returns the bodies of a value: functions, the functions behind coroutines and generators, constructors of
    /// classes.
    fn bodies_of_value(&self, value: ValueId) -> Vec<BodyRef> {
        let mut bodies = Vec::new();
        for val in self.values.members(value) {
            self.add_bodies(val, MAX_VALUE_DEPTH, &mut bodies);
        }
        bodies
    }

    fn add_bodies(&self, val: Val, depth: u32, found: &mut Vec<BodyRef>) {
        let Some(depth) = depth.checked_sub(1) else { return };
        match val {
            Val::Fn { body, receiver, .. } => {
                found.push(body);
                found.extend(self.referenced_overrides(body, receiver));
            }
            Val::Iter { body, .. } | Val::Coroutine { body, .. } => found.push(body),
            Val::Partial { inner, .. } => self.add_bodies(self.values.single(inner), depth, found),
            Val::Class(class) => found.extend(self.constructors(class)),
            Val::Instance { .. } => {
                if let Some(name) =
                    self.program.name("__call__").filter(|&name| self.hierarchy.count_bodies_named(name) > 0)
                {
                    let called = self.attr(val, name);
                    found.extend(self.values.members(called.value).iter().filter_map(|member| match *member {
                        Val::Fn { body, .. } => Some(body),
                        _ => None,
                    }));
                }
                found.extend(self.callables_of(val));
            }
            _ => {}
        }
    }

    /// Returns the bodies that run when an instance of a class is created.
    fn constructors(&self, class: ClassRef) -> Vec<BodyRef> {
        let mut bodies = Vec::new();
        for method in ["__init__", "__new__", "__post_init__"] {
            let Some(name) = self.program.name(method) else { continue };
            for ancestor in self.mro(class).iter() {
                if let crate::classes::hierarchy::Ancestor::Class(owner) = *ancestor
                    && let Some((owner, var)) = self.own_member(owner, name)
                {
                    bodies.extend(self.functions_of(owner, var));
                    break;
                }
            }
        }
        bodies
    }
}
