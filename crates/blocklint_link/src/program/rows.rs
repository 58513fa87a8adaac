//! Access to rows of the facts (bodies, classes, sites, variables) by reference.

use blocklint_facts::{Args, Assign, Body, BodyId, Class, ClassId, FileFacts, Param, Site, SiteId, Var, VarId};

use crate::program::Program;
use crate::program::ids::{BodyRef, ClassRef, SiteRef, VarRef};
use crate::program::occurrences::Mentions;

/// A reference to a row of a file. The module is private, so that only [`Program::facts_and_id`] returns the index.
pub trait Reference: Copy {
    /// An index into the table of a file.
    type Id;

    /// Returns the file's facts and the index in its table.
    fn local<'a>(self, program: &Program<'a>) -> (&'a FileFacts, Self::Id);
}

impl Reference for BodyRef {
    type Id = BodyId;

    fn local<'a>(self, program: &Program<'a>) -> (&'a FileFacts, BodyId) {
        (program.facts(self.file), self.body)
    }
}

impl Reference for ClassRef {
    type Id = ClassId;

    fn local<'a>(self, program: &Program<'a>) -> (&'a FileFacts, ClassId) {
        (program.facts(self.file), self.class)
    }
}

impl Reference for SiteRef {
    type Id = SiteId;

    fn local<'a>(self, program: &Program<'a>) -> (&'a FileFacts, SiteId) {
        (program.facts(self.file), self.site)
    }
}

impl Reference for VarRef {
    type Id = VarId;

    fn local<'a>(self, program: &Program<'a>) -> (&'a FileFacts, VarId) {
        (program.facts(self.file), self.var)
    }
}

impl<'a> Program<'a> {
    /// Returns the row of a body.
    pub fn body(&self, body: BodyRef) -> Body {
        self.facts(body.file).body(body.body)
    }

    /// Returns the row of a class.
    pub fn class(&self, class: ClassRef) -> &'a Class {
        self.facts(class.file).class(class.class)
    }

    /// Returns the row of a site.
    pub fn site(&self, site: SiteRef) -> Site {
        self.facts(site.file).site(site.site)
    }

    /// Returns the row of a variable.
    pub fn var(&self, var: VarRef) -> Var {
        self.facts(var.file).var(var.var)
    }

    /// Returns the parameters of a body in order, receiver included.
    pub fn params_of(&self, body: BodyRef) -> &'a [Param] {
        self.facts(body.file).params_of(body.body)
    }

    /// Returns the arguments of a site as written, without the receiver of a method call.
    pub fn args_of(&self, site: SiteRef) -> Args {
        self.facts(site.file).args_of(site.site)
    }

    /// Returns the assignments to a variable, in the order of evaluation of each body.
    pub fn assigns_of(&self, var: VarRef) -> impl DoubleEndedIterator<Item = Assign> + use<'a> {
        self.facts(var.file).assigns_of(var.var)
    }

    /// Returns the only assignment to a variable; none if it has several.
    pub fn only_value_of(&self, var: VarRef) -> Option<Assign> {
        self.facts(var.file).only_value_of(var.var)
    }

    /// Returns the places in its file to which the result of a site goes.
    pub fn uses_of_result(&self, site: SiteRef) -> Mentions<'_> {
        self.index_of(site.file).uses_of_result(site.site)
    }

    /// Returns the places in its file to which a function literal goes.
    pub fn uses_of_callable(&self, body: BodyRef) -> Mentions<'_> {
        self.index_of(body.file).uses_of_callable(body.body)
    }

    /// Returns the facts of a reference's file and the index in its table, for code that works within one file.
    pub fn facts_and_id<R: Reference>(&self, reference: R) -> (&'a FileFacts, R::Id) {
        reference.local(self)
    }
}
