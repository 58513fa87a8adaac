//! Answers for codemods (`blocklint ask`): the meaning of an expression, the functions that change together with a
//! function and all their uses, the targets and uses of a variable or attribute (Python).
//!
//! Facts have forms without places. The places come from the front end, which parses a file again ([`Expression`]). So
//! for each name, only files in which it occurs are read.

mod function_uses;
mod meaning;
mod variable_uses;

use std::rc::Rc;

use blocklint_core::Span;
use blocklint_facts::{Body, BodyId, BodyKind, ClassId, Expression, Form, FormId, Sym};
use blocklint_link::linker::Linker;
use blocklint_link::program::ids::{BodyRef, ClassRef, FileId, Name, SiteRef, VarRef};
use blocklint_link::values::expr::Scope;
use blocklint_link::values::value::{EnvId, Val};

pub use function_uses::{FunctionUses, Means, Use};
pub use meaning::{Meaning, PossibleMeanings};
pub use variable_uses::VariableUses;

/// The greatest number of subclasses that are searched.
const MAX_CLASSES: usize = 1_000;

/// A linked program with the places of expressions, file by file.
pub struct Places<'p, 'l> {
    linker: &'p Linker<'l>,
    expressions: &'p dyn Fn(FileId) -> Rc<[Expression]>,
}

impl<'p, 'l> Places<'p, 'l> {
    /// Returns a program with the expressions of each file that `expressions` returns.
    pub fn new(linker: &'p Linker<'l>, expressions: &'p dyn Fn(FileId) -> Rc<[Expression]>) -> Self {
        Places { linker, expressions }
    }

    /// Returns the expression with a span.
    pub fn expression(&self, file: FileId, span: Span) -> Option<Expression> {
        (self.expressions)(file).iter().rev().find(|expression| expression.span == span).copied()
    }

    /// Returns the call with a span.
    pub fn call(&self, file: FileId, span: Span) -> Option<SiteRef> {
        let expression = self.expression(file, span)?;
        match self.linker.program.facts(file).form(expression.form) {
            Form::Result(site) => Some(file.site_ref(site)),
            _ => None,
        }
    }

    /// Returns the function whose definition has its name at a place.
    pub fn function(&self, file: FileId, name: Span) -> Option<BodyRef> {
        let bodies = self.linker.program.facts(file).bodies.iter();
        let is_it = |body: &Body| body.kind == BodyKind::Function && body.name_span.start == name.start;
        let at = bodies.enumerate().find(|(_, body)| is_it(body))?.0;
        Some(file.body_ref(BodyId(at as u32)))
    }

    /// Returns the class whose definition has its name at a place.
    pub fn class(&self, file: FileId, name: Span) -> Option<ClassRef> {
        let classes = self.linker.program.facts(file).classes.iter();
        let at = classes.enumerate().find(|(_, class)| class.name_span.start == name.start)?.0;
        Some(file.class_ref(ClassId(at as u32)))
    }

    /// Returns all names and attributes in the project that are spelled like one of these names.
    fn expressions_named(&self, names: &[Name]) -> Vec<(FileId, Expression)> {
        let mut expressions = Vec::new();
        for &name in names {
            for &(file, sym) in self.linker.program.occurrences(name) {
                let all = (self.expressions)(file);
                expressions
                    .extend(all.iter().filter(|named| self.is_named(file, named, sym)).map(|named| (file, *named)));
            }
        }
        expressions
    }

    fn is_named(&self, file: FileId, expression: &Expression, sym: Sym) -> bool {
        let facts = self.linker.program.facts(file);
        let length = facts.text(sym).len() as u32;
        expression.name_span.end - expression.name_span.start == length
            && match facts.form(expression.form) {
                Form::Var(var) => expression.span == expression.name_span && facts.var(var).name == sym,
                Form::Name(name) => expression.span == expression.name_span && name == sym,
                Form::Attr(_, name) => expression.span != expression.name_span && name == sym,
                _ => false,
            }
    }

    /// Returns the object of an attribute.
    fn attribute_object(&self, file: FileId, form: FormId) -> Option<FormId> {
        match self.linker.program.facts(file).form(form) {
            Form::Attr(base, _) => Some(base),
            _ => None,
        }
    }

    /// Returns the variable with a name at the top level of a module.
    fn variable_of_module(&self, module: FileId, name: Name) -> Option<VarRef> {
        Some(module.var_ref(self.linker.program.scope_var(module, BodyId(0), name)?))
    }

    fn scope(file: FileId, expression: &Expression) -> Scope {
        Scope { file, at: expression.at, env: EnvId::NONE }
    }

    /// Returns the possible values of a form at the place of an expression.
    fn members(&self, file: FileId, at: &Expression, form: FormId) -> Vec<Val> {
        self.linker.values.members(self.linker.eval(Self::scope(file, at), form).value).to_vec()
    }
}
