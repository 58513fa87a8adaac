//! Functions and classes that are passed to calls as arguments, and calls that create an instance of a class.
//!
//! The answers are remembered by name, because thousands of functions may have the same name: the mentions of a name
//! are evaluated once for all of them.

use std::rc::Rc;

use blocklint_core::Language;
use blocklint_facts::SiteKind;
use rustc_hash::FxHashMap;

use crate::linker::Linker;
use crate::program::ids::{BodyRef, ClassRef, Name, SiteRef};
use crate::program::occurrences::Mention;
use crate::values::value::{EnvId, Val};

/// A function or class that code passes to a call under its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PassedItem {
    /// A function.
    Body(BodyRef),
    /// A class itself, not an instance of it.
    Class(ClassRef),
}

/// The functions and classes that are passed to calls under one name, each with the calls and the argument's position.
pub(crate) type PassedItems = Rc<FxHashMap<PassedItem, Vec<(SiteRef, u32)>>>;

/// The calls of one name whose callee is a class, by class.
pub(crate) type ConstructorCalls = Rc<FxHashMap<ClassRef, Vec<SiteRef>>>;

impl Linker<'_> {
    /// Returns the sites to which a function is passed, each with the argument's position.
    pub fn sites_passing_body(&self, body: BodyRef) -> Vec<(SiteRef, u32)> {
        let mut sites = Vec::new();
        for name in self.body_names(body) {
            sites.extend(self.items_passed_as(name).get(&PassedItem::Body(body)).into_iter().flatten());
        }
        // A `lambda` has no name, so its only mention is the place where it is written.
        if self.program.language(body.file) == Language::Python {
            let uses = self.program.uses_of_callable(body);
            sites.extend(uses.iter().filter_map(|(mention, _)| match mention {
                Mention::Arg(site, arg) => Some((body.file.site_ref(site), arg)),
                _ => None,
            }));
        }
        sites
    }

    /// Returns the sites to which a class is passed under one of these names, each with the argument's position.
    pub fn sites_passing_class(&self, names: &[Name], class: ClassRef) -> Vec<(SiteRef, u32)> {
        let sites_of_name =
            |name: &Name| self.items_passed_as(*name).get(&PassedItem::Class(class)).cloned().unwrap_or_default();
        names.iter().flat_map(sites_of_name).collect()
    }

    /// Returns the calls of a name that may create an instance of a class, by class.
    pub fn constructor_calls_named(&self, name: Name) -> ConstructorCalls {
        self.query(&self.tables.calls.constructor_calls, name, Rc::default, || {
            Rc::new(self.find_constructor_calls_named(name))
        })
    }

    fn find_constructor_calls_named(&self, name: Name) -> FxHashMap<ClassRef, Vec<SiteRef>> {
        let mut calls: FxHashMap<ClassRef, Vec<SiteRef>> = FxHashMap::default();
        for site in self.program.sites_named(name) {
            let kind = self.program.site(site).kind;
            if !matches!(kind, SiteKind::Call | SiteKind::New) {
                continue;
            }
            let callee = self.attempt_site(site, || self.callee(site, EnvId::NONE));
            for val in callee.iter().flat_map(|callee| self.values.members(callee.value)) {
                let Val::Class(class) = val else { continue };
                let sites = calls.entry(class).or_default();
                if sites.last() != Some(&site) {
                    sites.push(site);
                }
            }
        }
        calls
    }

    fn items_passed_as(&self, name: Name) -> PassedItems {
        self.query(&self.tables.calls.passed_items, name, Rc::default, || Rc::new(self.find_items_passed_as(name)))
    }

    fn find_items_passed_as(&self, name: Name) -> FxHashMap<PassedItem, Vec<(SiteRef, u32)>> {
        let mut items: FxHashMap<PassedItem, Vec<(SiteRef, u32)>> = FxHashMap::default();
        for &(file, sym) in self.program.occurrences(name) {
            for (mention, _) in self.program.index_of(file).mentions_named(sym).iter() {
                let Mention::Arg(site, arg) = mention else { continue };
                let site = file.site_ref(site);
                let form = self.program.args_of(site)[arg as usize].value;
                let typed = self.attempt_site(site, || self.eval(self.scope_of(site, EnvId::NONE), form));
                for val in typed.iter().flat_map(|typed| self.values.members(typed.value)) {
                    let item = match val {
                        Val::Fn { body, .. } => PassedItem::Body(body),
                        Val::Class(class) => PassedItem::Class(class),
                        _ => continue,
                    };
                    let sites = items.entry(item).or_default();
                    if sites.last() != Some(&(site, arg)) {
                        sites.push((site, arg));
                    }
                }
            }
        }
        items
    }
}
