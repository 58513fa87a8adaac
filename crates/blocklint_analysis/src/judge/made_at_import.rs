//! Folders that are there since the program began: `CACHE.mkdir(exist_ok=True)` in a request, where a module makes the same
//! folder when it is imported.

use blocklint_facts::{BodyId, FileFacts, Form, FormId, RegionKind, SiteId, VarKind};

use crate::code::regions::{around, lies_in};
use crate::labels::constant::Constant;
use crate::link::Link;
use crate::link::value::EnvId;
use crate::program::ids::{FileId, SiteRef, VarRef};

/// How many names and operators a folder is followed through.
const DEPTH: u32 = 8;

/// Functions that make a folder: methods of a path, functions that take one.
const MAKES: &[&str] = &["mkdir", "makedirs"];

/// Methods and functions that add parts to a path.
const JOINS: &[&str] = &["__truediv__", "joinpath", "join"];

/// A folder below one that a module's constant holds.
#[derive(Debug, PartialEq, Eq)]
struct Folder {
    constant: VarRef,
    parts: Vec<String>,
}

impl Link<'_> {
    /// Whether a site makes a folder that a module of the project makes when it is imported.
    pub(crate) fn is_made_at_import(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        if !MAKES.contains(&facts.text(facts.site(site.site).name))
            || facts.body_of(facts.site(site.site).at) == BodyId(0)
        {
            return false;
        }
        let Some(folder) = self.folder_made(site) else { return false };
        MAKES.iter().filter_map(|name| self.program.name(name)).any(|name| {
            self.program.sites_named(name).any(|other| {
                let facts = self.program.facts(other.file);
                facts.body_of(facts.site(other.site).at) == BodyId(0)
                    && runs_at_import(facts, other.site)
                    && self.folder_made(other).as_ref() == Some(&folder)
            })
        })
    }

    fn folder_made(&self, site: SiteRef) -> Option<Folder> {
        let facts = self.program.facts(site.file);
        let form = match (facts.text(facts.site(site.site).name), facts.args_of(site.site).first()) {
            ("mkdir", _) => self.receiver_form(site)?,
            (_, Some(path)) => path.value,
            _ => return None,
        };
        self.folder(site.file, form, DEPTH)
    }

    fn folder(&self, file: FileId, form: FormId, depth: u32) -> Option<Folder> {
        let depth = depth.checked_sub(1)?;
        let facts = self.program.facts(file);
        match facts.form(form) {
            Form::Result(call) => {
                let row = facts.site(call);
                let args = facts.args_of(call);
                let mut parts = args.iter();
                if !JOINS.contains(&facts.text(row.name)) {
                    return None;
                }
                let is_method = match facts.form(row.callee) {
                    // `os.path.join(folder, "name")`
                    Form::Attr(base, _) => {
                        matches!(facts.form(base), Form::Attr(_, path) if facts.text(path) == "path")
                    }
                    _ => false,
                };
                let base = match is_method {
                    true => parts.next()?.value,
                    false => self.receiver_form(SiteRef { file, site: call })?,
                };
                let mut folder = self.folder(file, base, depth)?;
                for part in parts {
                    match self.constant_in(file, facts.body_of(row.at), part.value, EnvId::NONE, 3) {
                        Constant::Str(part) => folder.parts.push(part),
                        _ => return None,
                    }
                }
                Some(folder)
            }
            Form::Var(var) => {
                let row = facts.var(var);
                if matches!(row.kind, VarKind::Param(_)) {
                    return None;
                }
                if let Some(kept) = self.module_var(file, form) {
                    return self.folder_of_constant(kept, depth);
                }
                if row.body == BodyId(0) {
                    return self.folder_of_constant(VarRef { file, var }, depth);
                }
                self.folder(file, facts.only_value_of(var)?.value, depth)
            }
            Form::Attr(..) => self.folder_of_constant(self.module_var(file, form)?, depth),
            _ => None,
        }
    }

    /// The folder that a module's variable holds, by what the module puts together.
    fn folder_of_constant(&self, kept: VarRef, depth: u32) -> Option<Folder> {
        let facts = self.program.facts(kept.file);
        let only = facts.only_value_of(kept.var);
        let put_together = only.and_then(|only| self.folder(kept.file, only.value, depth));
        put_together.or(Some(Folder { constant: kept, parts: Vec::new() }))
    }
}

/// Whether a module that can be imported at all runs a site of its own then: in no branch, or in what follows one that ends
/// with an exception, up to the end of the module.
fn runs_at_import(facts: &FileFacts, site: SiteId) -> bool {
    let last = facts.sites.iter().filter(|row| facts.body_of(row.at) == BodyId(0)).max_by_key(|row| row.at.position);
    around(facts, facts.site(site).at.region).all(|id| match facts.region(id).kind {
        RegionKind::Else => last.as_ref().is_some_and(|last| lies_in(facts, last.at.region, id)),
        RegionKind::Body | RegionKind::With => true,
        _ => false,
    })
}
