//! Uses of the results of functions: its calls, also through an interface, and the calls it is passed to.

use std::rc::Rc;

use crate::calls::targets::Target;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, FileId, SiteRef};
use crate::program::occurrences::Mention;
use crate::values::value::{EnvId, Val};

/// Sites and mentions that are looked at for one function.
const MOST: usize = 4_000;

/// One use of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyUse {
    /// It is called.
    Call(SiteRef),
    /// It is the n-th argument of a call: `flatMap(this::load)`.
    Passed(SiteRef, u32),
}

impl BodyUse {
    /// Returns the file of the use.
    pub fn file(self) -> FileId {
        self.site().file
    }

    /// Returns the call of the use.
    pub fn site(self) -> SiteRef {
        match self {
            BodyUse::Call(site) | BodyUse::Passed(site, _) => site,
        }
    }
}

impl<'a> Linker<'a> {
    /// Returns the known uses of a function.
    pub fn uses_of_body(&self, body: BodyRef) -> Rc<[BodyUse]> {
        self.query(&self.tables.chains.uses, body, Rc::default, || self.find_uses_of_body(body).into())
    }

    fn find_uses_of_body(&self, body: BodyRef) -> Vec<BodyUse> {
        let mut found: Vec<BodyUse> = Vec::new();
        let mut looked = 0;
        for name in self.body_names(body) {
            for &(file, sym) in self.program.occurrences(name) {
                let index = self.program.index_of(file);
                for &site in index.sites_named(sym) {
                    looked += 1;
                    let site = file.site_ref(site);
                    if looked <= MOST && self.runs(site, body) {
                        found.push(BodyUse::Call(site));
                    }
                }
                for (mention, _) in index.mentions_named(sym).iter() {
                    let Mention::Arg(site, arg) = mention else { continue };
                    looked += 1;
                    if looked <= MOST && self.is_value(file, mention, body) {
                        found.push(BodyUse::Passed(file.site_ref(site), arg));
                    }
                }
            }
        }
        found
    }

    fn runs(&self, site: SiteRef, body: BodyRef) -> bool {
        self.targets(site, EnvId::NONE).list.iter().any(|target| match *target {
            Target::Body { body: of, .. } => of == body,
            Target::Overrides { class, name } => self.may_run_override(class, name, body, site),
            Target::Row { .. } => false,
        })
    }

    fn is_value(&self, file: FileId, mention: Mention, body: BodyRef) -> bool {
        let value = self.mentioned(file, mention);
        self.values.members(value).iter().any(|val| matches!(*val, Val::Fn { body: of, .. } if of == body))
    }

    /// True if another class implements this method.
    pub(crate) fn has_implementations(&self, body: BodyRef) -> bool {
        let row = self.program.body(body);
        let Some(class) = row.class.get() else { return false };
        let Some(name) = self.program.global(body.file, row.name) else { return false };
        !self.overrides(body.file.class_ref(class), name).is_empty()
    }
}
