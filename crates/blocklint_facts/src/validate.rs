//! The validation of facts: every reference between the tables of one file must be to a row that exists.

use crate::{FileFacts, Form, FormId, List, RegionId};

/// Checks every reference and range of the facts. Tests of front ends use it, and it can check facts from a cache.
///
/// # Errors
///
/// Returns a message with the table and the row of the first invalid reference.
pub fn validate(facts: &FileFacts) -> Result<(), String> {
    let check = Check { facts };
    check.check_forms()?;
    check.check_definitions()?;
    check.check_operations()?;
    check.check_imports_and_comments()
}

struct Check<'a> {
    facts: &'a FileFacts,
}

type Checked = Result<(), String>;

/// Returns the message as an error, unless the index is below the length, or is that of no row and `may_be_none` is
/// true.
fn check_index(index: u32, len: usize, may_be_none: bool, message: impl FnOnce() -> String) -> Checked {
    if (index as usize) < len || (may_be_none && index == u32::MAX) { Ok(()) } else { Err(message()) }
}

impl Check<'_> {
    fn form(&self, form: FormId, may_be_none: bool, table: &str, row: usize) -> Checked {
        check_index(form.0, self.facts.forms.len(), may_be_none, || format!("{table} {row}: no form {}", form.0))
    }

    fn sym(&self, sym: u32, may_be_none: bool, table: &str, row: usize) -> Checked {
        check_index(sym, self.facts.symbols.len(), may_be_none, || format!("{table} {row}: no symbol {sym}"))
    }

    fn list(&self, list: List, table: &str, row: usize) -> Checked {
        if list.is_empty() {
            return Ok(());
        }
        let end = list.start as usize + list.len as usize;
        if end > self.facts.lists.len() {
            return Err(format!("{table} {row}: list ends at {end}"));
        }
        Ok(())
    }

    fn region(&self, region: RegionId, table: &str, row: usize) -> Checked {
        check_index(region.0, self.facts.regions.len(), false, || format!("{table} {row}: no region {}", region.0))
    }

    fn check_forms(&self) -> Checked {
        let facts = self.facts;
        for (row, &member) in facts.lists.iter().enumerate() {
            self.form(member, true, "list entry", row)?;
        }
        for (row, form) in facts.forms.iter().enumerate() {
            let table = "form";
            match form {
                Form::Other
                | Form::None
                | Form::Ellipsis
                | Form::Bool(_)
                | Form::Int(_)
                | Form::Float(_)
                | Form::This => {}
                Form::Str(sym) | Form::Text(sym) | Form::Bytes(sym) | Form::Name(sym) => {
                    self.sym(sym.0, false, table, row)?;
                }
                Form::Var(var) => check_index(var.0, facts.vars.len(), false, || format!("form {row}: no variable"))?,
                Form::Attr(base, sym) | Form::Path(base, sym) | Form::Field(base, sym) => {
                    self.form(base, false, table, row)?;
                    self.sym(sym.0, false, table, row)?;
                }
                Form::Result(site) => check_index(site.0, facts.sites.len(), false, || format!("form {row}: no site"))?,
                Form::Callable(body) | Form::Run(body) => {
                    check_index(body.0, facts.bodies.len(), false, || format!("form {row}: no body"))?;
                }
                Form::Class(class) => {
                    check_index(class.0, facts.classes.len(), false, || format!("form {row}: no class"))?;
                }
                Form::Import(import) => {
                    check_index(import.0, facts.imports.len(), false, || format!("form {row}: no import"))?;
                }
                Form::Part(base, _)
                | Form::Await(base)
                | Form::Try(base)
                | Form::Element(base)
                | Form::Star(base)
                | Form::StarStar(base)
                | Form::Not(base)
                | Form::Bound(base) => self.form(base, false, table, row)?,
                Form::Subscript(a, b) | Form::Compare(_, a, b) => {
                    self.form(a, false, table, row)?;
                    self.form(b, false, table, row)?;
                }
                // The value that a handler without types catches has no type.
                Form::Cast(a, b) => {
                    self.form(a, false, table, row)?;
                    self.form(b, true, table, row)?;
                }
                Form::Display(_, list) | Form::Pairs(list) | Form::Alt(_, list) | Form::Join(list) => {
                    self.list(list, table, row)?;
                }
            }
        }
        Ok(())
    }

    fn check_definitions(&self) -> Checked {
        let facts = self.facts;
        if facts.bodies.is_empty() {
            return Err("no body for the top level".to_owned());
        }
        for (row, body) in facts.bodies.iter().enumerate() {
            let table = "body";
            self.sym(body.name.0, true, table, row)?;
            if row > 0 && body.parent.index() >= row {
                return Err(format!("body {row}: does not follow its parent"));
            }
            check_index(body.class.0, facts.classes.len(), true, || format!("body {row}: no class"))?;
            check_index(body.var.0, facts.vars.len(), true, || format!("body {row}: no variable"))?;
            if !body.params.is_empty() && body.params.range().end > facts.params.len() {
                return Err(format!("body {row}: no such parameters"));
            }
            self.list(body.decorators, table, row)?;
            self.form(body.returns, true, table, row)?;
            self.region(body.region, table, row)?;
            if facts.region(body.region).body.index() != row {
                return Err(format!("body {row}: its region belongs to another body"));
            }
        }
        for (row, param) in facts.params.iter().enumerate() {
            self.sym(param.name.0, true, "parameter", row)?;
            self.form(param.default, true, "parameter", row)?;
            self.form(param.annotation, true, "parameter", row)?;
            check_index(param.var.0, facts.vars.len(), true, || format!("parameter {row}: no variable"))?;
        }
        for (row, class) in facts.classes.iter().enumerate() {
            let table = "class";
            self.sym(class.name.0, true, table, row)?;
            check_index(class.body.0, facts.bodies.len(), true, || format!("class {row}: no body"))?;
            check_index(class.parent.0, facts.bodies.len(), false, || format!("class {row}: no parent"))?;
            check_index(class.var.0, facts.vars.len(), true, || format!("class {row}: no variable"))?;
            self.list(class.bases, table, row)?;
            self.list(class.decorators, table, row)?;
            self.list(class.type_params, table, row)?;
            self.form(class.subject, true, table, row)?;
            if !class.keywords.is_empty() && class.keywords.range().end > facts.args.len() {
                return Err(format!("class {row}: no such keywords"));
            }
        }
        for (row, var) in facts.vars.iter().enumerate() {
            self.sym(var.name.0, false, "variable", row)?;
            check_index(var.body.0, facts.bodies.len(), false, || format!("variable {row}: no body"))?;
        }
        Ok(())
    }

    fn check_operations(&self) -> Checked {
        let facts = self.facts;
        for (row, region) in facts.regions.iter().enumerate() {
            if region.parent.is_some() && region.parent.index() >= row {
                return Err(format!("region {row}: does not follow its parent"));
            }
            check_index(region.body.0, facts.bodies.len(), false, || format!("region {row}: no body"))?;
            if let Some(parent) = region.parent.get()
                && facts.region(parent).body != region.body
            {
                return Err(format!("region {row}: its parent belongs to another body"));
            }
            self.form(region.test, true, "region", row)?;
            if region.span.end < region.span.start {
                return Err(format!("region {row}: ends before it starts"));
            }
        }
        let mut last_positions = vec![0; facts.bodies.len()];
        for (row, site) in facts.sites.iter().enumerate() {
            let table = "site";
            self.form(site.callee, true, table, row)?;
            self.sym(site.name.0, true, table, row)?;
            self.region(site.at.region, table, row)?;
            if !site.args.is_empty() && site.args.range().end > facts.args.len() {
                return Err(format!("site {row}: no such arguments"));
            }
            let body = facts.body_of(site.at);
            if std::mem::replace(&mut last_positions[body.index()], site.at.position) >= site.at.position {
                return Err(format!("site {row}: out of order"));
            }
            if site.span.end < site.span.start {
                return Err(format!("site {row}: ends before it starts"));
            }
        }
        for (row, arg) in facts.args.iter().enumerate() {
            self.sym(arg.name.0, true, "argument", row)?;
            self.form(arg.value, true, "argument", row)?;
        }
        for (row, assign) in facts.assigns.iter().enumerate() {
            let table = "assignment";
            self.form(assign.target, false, table, row)?;
            self.form(assign.value, true, table, row)?;
            self.form(assign.annotation, true, table, row)?;
            self.region(assign.at.region, table, row)?;
        }
        for (row, exit) in facts.exits.iter().enumerate() {
            self.form(exit.value, true, "exit", row)?;
            self.region(exit.at.region, "exit", row)?;
        }
        Ok(())
    }

    fn check_imports_and_comments(&self) -> Checked {
        let facts = self.facts;
        for (row, import) in facts.imports.iter().enumerate() {
            self.sym(import.module.0, true, "import", row)?;
            self.sym(import.name.0, true, "import", row)?;
            self.region(import.at.region, "import", row)?;
        }
        for (row, comment) in facts.suppressions.iter().enumerate() {
            self.list(comment.rules, "comment", row)?;
            self.sym(comment.reason.0, true, "comment", row)?;
        }
        if facts.var_assign_starts.len() != facts.vars.len() + 1
            || facts.body_var_starts.len() != facts.bodies.len() + 1
        {
            return Err("the cross tables were not built".to_owned());
        }
        Ok(())
    }
}
