//! The uses of a function: its calls, also through an interface, and the calls to which it is passed.

use std::rc::Rc;

use crate::calls::targets::Target;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, FileId, SiteRef};
use crate::program::occurrences::Mention;
use crate::values::value::{EnvId, Val};

/// The maximal number of sites and mentions that are checked for one function.
const MAX_USES: usize = 4_000;

/// One use of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyUse {
    /// The site calls the function.
    Call(SiteRef),
    /// The function is the n-th argument of a call: `flatMap(this::load)`.
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
    /// Returns the uses of a function.
    pub fn uses_of_body(&self, body: BodyRef) -> Rc<[BodyUse]> {
        self.query(&self.tables.chains.uses, body, Rc::default, || self.find_uses_of_body(body).into())
    }

    fn find_uses_of_body(&self, body: BodyRef) -> Vec<BodyUse> {
        let mut uses: Vec<BodyUse> = Vec::new();
        let mut checked = 0;
        for name in self.body_names(body) {
            for &(file, sym) in self.program.occurrences(name) {
                let index = self.program.index_of(file);
                for &site in index.sites_named(sym) {
                    checked += 1;
                    let site = file.site_ref(site);
                    if checked <= MAX_USES && self.runs_body(site, body) {
                        uses.push(BodyUse::Call(site));
                    }
                }
                for (mention, _) in index.mentions_named(sym).iter() {
                    let Mention::Arg(site, arg) = mention else { continue };
                    checked += 1;
                    if checked <= MAX_USES && self.mentions_body(file, mention, body) {
                        uses.push(BodyUse::Passed(file.site_ref(site), arg));
                    }
                }
            }
        }
        uses
    }

    /// True if a body is among the targets of a site.
    fn runs_body(&self, site: SiteRef, body: BodyRef) -> bool {
        self.targets(site, EnvId::NONE).list.iter().any(|target| match *target {
            Target::Body { body: target, .. } => target == body,
            Target::Overrides { class, name } => self.may_run_override(class, name, body, site),
            Target::Row { .. } => false,
        })
    }

    /// True if a body is among the values of a mention.
    fn mentions_body(&self, file: FileId, mention: Mention, body: BodyRef) -> bool {
        let value = self.mentioned_value(file, mention);
        self.values.members(value).iter().any(|val| matches!(*val, Val::Fn { body: function, .. } if function == body))
    }

    /// True if another class implements this method.
    pub(crate) fn has_implementations(&self, body: BodyRef) -> bool {
        let body_facts = self.program.body(body);
        let Some(class) = body_facts.class.get() else { return false };
        let Some(name) = self.program.global(body.file, body_facts.name) else { return false };
        !self.overrides(body.file.class_ref(class), name).is_empty()
    }
}
