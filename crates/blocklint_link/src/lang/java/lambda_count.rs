//! Java: how many lambdas implement an interface of the project, beside the classes that do: where many are passed to
//! those that ask for the interface, what its one named class does shows nothing about a call.

use blocklint_facts::{BodyKind, ExitKind, FileFacts, Form, FormId, Sym};

use crate::linker::Linker;
use crate::program::ids::{BodyRef, ClassRef, FileId, Name, SiteRef};
use crate::values::value::EnvId;

/// So many are counted: more of them make no difference.
const MOST: usize = 8;

/// Calls of one method that are looked at.
const MOST_SITES: usize = 64;

impl Linker<'_> {
    /// Returns the number of lambdas and method references that are passed or stored where this functional interface is
    /// expected; at most eight, none of tests.
    pub fn lambdas_of(&self, class: ClassRef) -> usize {
        self.query(&self.tables.java.lambdas, class, usize::default, || self.count_lambdas(class))
    }

    fn count_lambdas(&self, class: ClassRef) -> usize {
        if self.functional_method(class).is_none() {
            return 0;
        }
        let mut found = 0;
        for name in self.class_names(class) {
            for &(file, sym) in self.program.occurrences(name) {
                if found >= MOST {
                    return MOST;
                }
                if !self.program.is_test(file) {
                    found += self.lambdas_asked_for(file, sym);
                }
            }
        }
        found.min(MOST)
    }

    /// Returns those given where a file names the type.
    fn lambdas_asked_for(&self, file: FileId, sym: Sym) -> usize {
        let facts = self.program.facts(file);
        let assigned = facts
            .assigns
            .iter()
            .filter(|row| is_lambda(facts, row.value) && self.names_type(file, row.annotation, sym))
            .count();
        let mut found = assigned;
        for (at, row) in facts.bodies.iter().enumerate() {
            let body = file.body_ref(blocklint_facts::BodyId(at as u32));
            if row.kind != BodyKind::Function {
                continue;
            }
            if self.names_type(file, row.returns, sym) {
                let exits = self.program.exits_in(body).filter(|exit| exit.kind == ExitKind::Return);
                found += exits.filter(|exit| is_lambda(facts, exit.value)).count();
            }
            for (index, param) in self.program.params_of(body).iter().enumerate() {
                if found < MOST && self.names_type(file, param.annotation, sym) {
                    found += self.lambdas_passed(body, index, MOST - found);
                }
            }
        }
        found
    }

    /// Returns the number of calls that pass one to a parameter.
    fn lambdas_passed(&self, body: BodyRef, index: usize, most: usize) -> usize {
        let names: Vec<Name> = self.body_names(body);
        let sites = names.into_iter().flat_map(|name| self.program.sites_named(name)).take(MOST_SITES);
        let passes = |site: &SiteRef| {
            let facts = self.program.facts(site.file);
            let given = self.program.args_of(*site).get(index).is_some_and(|arg| is_lambda(facts, arg.value));
            given && !self.program.is_test(site.file) && self.targets(*site, EnvId::NONE).receiver_of(body).is_some()
        };
        sites.filter(passes).take(most).count()
    }
}

/// True if a form is a lambda or a method reference.
fn is_lambda(facts: &FileFacts, form: FormId) -> bool {
    match facts.form(form) {
        Form::Callable(body) => facts.body(body).kind == BodyKind::Lambda,
        Form::Path(..) => true,
        _ => false,
    }
}
