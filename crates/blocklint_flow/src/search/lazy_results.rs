//! Consumers of the lazy results of library calls: `for line in reader.lines()`, `list(cursor)`.

use blocklint_core::Language;
use blocklint_facts::{Form, SiteFlags};
use blocklint_link::calls::targets::Target;
use blocklint_link::lang;
use blocklint_link::program::ids::{BodyRef, FileId, Name, SiteRef};
use blocklint_link::program::occurrences::{Mention, Wrap};
use blocklint_link::values::value::{EnvId, Val, ValueId};
use blocklint_models::Uses;
use rustc_hash::FxHashSet;

use crate::callers::Callers;
use crate::callers::trail::{MOST_TRAILS, Trail};

impl<'l, 'a> Callers<'l, 'a> {
    /// Returns the sites that consume the lazy result of a library call, with the index of the argument if they get the
    /// result as one.
    pub(crate) fn consumers_of_lazy_result(&self, lazy_call: SiteRef) -> Vec<(SiteRef, Option<u32>)> {
        let linker = self.linker;
        let mut consumers = Vec::new();
        let mut visited = FxHashSet::default();
        let mut trails = vec![Trail::ResultOf(lazy_call, EnvId::NONE)];
        let has_lazy_result = |value: ValueId| {
            linker.values.members(value).iter().any(|val| matches!(*val, Val::Lazy { made: of, .. } if of == lazy_call))
        };
        while let Some(trail) = trails.pop() {
            if !visited.insert(trail) || visited.len() > MOST_TRAILS {
                continue;
            }
            let mentions: Vec<(FileId, Mention, Wrap)> = match trail {
                Trail::ResultOf(site, _) => {
                    let uses = linker.program.uses_of_result(site);
                    uses.iter().map(|(mention, wrap)| (site.file, mention, wrap)).collect()
                }
                Trail::NamedIn(file, sym) => {
                    let uses = linker.program.index_of(file).mentions_named(sym);
                    uses.iter().map(|(mention, wrap)| (file, mention, wrap)).collect()
                }
                Trail::Named(name) => linker
                    .program
                    .occurrences(name)
                    .iter()
                    .flat_map(|&(file, sym)| {
                        let uses = linker.program.index_of(file).mentions_named(sym);
                        uses.iter().map(move |(mention, wrap)| (file, mention, wrap))
                    })
                    .collect(),
                Trail::Literal(_) | Trail::Object(_) => Vec::new(),
            };
            for (file, mention, wrap) in mentions {
                if wrap == Wrap::Element {
                    continue;
                }
                let facts = linker.program.facts(file);
                match mention {
                    Mention::Operand(site) => {
                        let site = file.site_ref(site);
                        // `async for` consumes an asynchronous iterator, which is another of the alternatives.
                        if linker.program.site(site).flags.has(SiteFlags::ASYNC) {
                            continue;
                        }
                        let consumed = linker
                            .targets(site, EnvId::NONE)
                            .list
                            .iter()
                            .any(|target| matches!(*target, Target::Row { made: Some(of), .. } if of == lazy_call));
                        if consumed {
                            consumers.push((site, None));
                        }
                    }
                    Mention::Arg(site, arg) => {
                        let site = file.site_ref(site);
                        let form = linker.program.args_of(site)[arg as usize].value;
                        if !has_lazy_result(linker.eval(linker.scope_of(site, EnvId::NONE), form).value) {
                            continue;
                        }
                        let passing = linker.argument_use(site, arg, EnvId::NONE);
                        if passing.consumed {
                            consumers.push((site, Some(arg)));
                        }
                        if passing.returned {
                            trails.push(Trail::ResultOf(site, EnvId::NONE));
                        }
                    }
                    Mention::Assign(assign) => {
                        let assignment = facts.assign(assign);
                        let scope = blocklint_link::values::expr::Scope { file, at: assignment.at, env: EnvId::NONE };
                        if !has_lazy_result(linker.assigned_value(scope, assign).value) {
                            continue;
                        }
                        match facts.form(assignment.target) {
                            Form::Var(var) => trails.push(Trail::NamedIn(file, facts.var(var).name)),
                            Form::Attr(_, sym) => {
                                if let Some(name) = linker.program.global(file, sym) {
                                    trails.push(Trail::Named(name));
                                }
                            }
                            _ => {}
                        }
                    }
                    Mention::Exit(exit) => {
                        let row = facts.exits.at(exit as usize);
                        let body = linker.program.body_of(file, row.at);
                        for &site in self.call_sites(body).iter() {
                            trails.push(Trail::ResultOf(site, EnvId::NONE));
                        }
                    }
                    Mention::Default(_) => {}
                }
            }
        }
        // The bodies in which the result is made, or in which a function that returns it is called.
        let mut bodies = vec![linker.program.body_of_site(lazy_call)];
        for trail in &visited {
            if let Trail::ResultOf(site, _) = *trail {
                bodies.push(linker.program.body_of_site(site));
            }
        }
        bodies.sort();
        bodies.dedup();
        let by_methods = bodies.into_iter().flat_map(|body| self.consuming_method_calls(lazy_call, body));
        consumers.extend(by_methods.map(|site| (site, None)));
        consumers.sort();
        consumers.dedup();
        consumers
    }

    /// Returns the method calls in a body that consume the lazy result of a call: `reader.lines().next()`.
    fn consuming_method_calls(&self, lazy_call: SiteRef, body: BodyRef) -> Vec<SiteRef> {
        let linker = self.linker;
        let (facts, body_id) = linker.program.facts_and_id(body);
        let names: Vec<Name> = match facts.language {
            Language::Rust => {
                lang::rust::names::ITERATOR_CONSUMERS.iter().filter_map(|name| linker.program.name(name)).collect()
            }
            Language::Java => {
                let rows = linker.library.of(Language::Java).names(Uses::CONSUMES);
                rows.filter_map(|row| linker.program.name(row.name)).collect()
            }
            Language::Python => return Vec::new(),
        };
        let index = linker.program.index_of(body.file);
        let names = names.into_iter().filter_map(|name| linker.program.local(body.file, name));
        names
            .flat_map(|sym| index.sites_named(sym).iter().copied())
            .filter(|&site| facts.body_of(facts.site(site).at) == body_id)
            .map(|site| body.file.site_ref(site))
            .filter(|&site| {
                let targets = linker.targets(site, EnvId::NONE);
                targets
                    .list
                    .iter()
                    .any(|target| matches!(*target, Target::Row { made: Some(of), .. } if of == lazy_call))
            })
            .collect()
    }
}
