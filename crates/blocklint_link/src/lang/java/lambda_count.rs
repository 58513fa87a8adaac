//! Java: the number of lambdas that implement a functional interface of the project. If there are many, a call of the
//! interface probably runs a lambda and not the one class that implements the interface.

use blocklint_facts::{BodyId, BodyKind, ExitKind, FileFacts, Form, FormId, Sym};

use crate::linker::Linker;
use crate::program::ids::{BodyRef, ClassRef, FileId, Name, SiteRef};
use crate::values::value::EnvId;

/// The number of lambdas at which the count ends, because more of them make no difference.
const MOST: usize = 8;

/// The number of calls of one method that are searched for lambdas.
const MOST_SITES: usize = 64;

impl Linker<'_> {
    /// Returns the number of lambdas and method references in code outside of tests that are passed or assigned where
    /// this functional interface is declared; at most eight.
    pub fn lambda_count(&self, class: ClassRef) -> usize {
        self.query(&self.tables.java.lambda_counts, class, usize::default, || self.count_lambdas(class))
    }

    fn count_lambdas(&self, class: ClassRef) -> usize {
        if self.functional_method(class).is_none() {
            return 0;
        }
        let mut count = 0;
        for name in self.class_names(class) {
            for &(file, sym) in self.program.occurrences(name) {
                if count >= MOST {
                    return MOST;
                }
                if !self.program.is_test(file) {
                    count += self.count_lambdas_declared_as(file, sym);
                }
            }
        }
        count.min(MOST)
    }

    /// Returns the number of lambdas in a file, or passed to its methods, where the declared type has this name.
    fn count_lambdas_declared_as(&self, file: FileId, sym: Sym) -> usize {
        let facts = self.program.facts(file);
        let assigned = facts
            .assigns
            .iter()
            .filter(|assignment| {
                is_lambda(facts, assignment.value) && self.names_type(file, assignment.annotation, sym)
            })
            .count();
        let mut count = assigned;
        for (body_index, body_facts) in facts.bodies.iter().enumerate() {
            let body = file.body_ref(BodyId(body_index as u32));
            if body_facts.kind != BodyKind::Function {
                continue;
            }
            if self.names_type(file, body_facts.returns, sym) {
                let exits = self.program.exits_in(body).filter(|exit| exit.kind == ExitKind::Return);
                count += exits.filter(|exit| is_lambda(facts, exit.value)).count();
            }
            for (index, param) in self.program.params_of(body).iter().enumerate() {
                if count < MOST && self.names_type(file, param.annotation, sym) {
                    count += self.count_lambdas_passed(body, index, MOST - count);
                }
            }
        }
        count
    }

    /// Returns the number of calls that pass a lambda to a parameter, at most `most`.
    fn count_lambdas_passed(&self, body: BodyRef, index: usize, max_count: usize) -> usize {
        let names: Vec<Name> = self.body_names(body);
        let sites = names.into_iter().flat_map(|name| self.program.sites_named(name)).take(MOST_SITES);
        let passes_lambda = |site: &SiteRef| {
            let facts = self.program.facts(site.file);
            let is_argument = self.program.args_of(*site).get(index).is_some_and(|arg| is_lambda(facts, arg.value));
            is_argument
                && !self.program.is_test(site.file)
                && self.targets(*site, EnvId::NONE).receiver_of(body).is_some()
        };
        sites.filter(passes_lambda).take(max_count).count()
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
