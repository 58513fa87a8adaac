//! Checks that the tables of one file refer to rows that exist.

use crate::{FileFacts, Form, FormId, List, RegionId};

/// Checks every reference and range of the facts; returns the first mistake. Front ends are tested with it, and what
/// was read from a cache can be.
///
/// # Errors
///
/// The table, the row and the column that refer to nothing.
pub fn validate(facts: &FileFacts) -> Result<(), String> {
    let check = Check { facts };
    check.forms()?;
    check.definitions()?;
    check.operations()?;
    check.rest()
}

struct Check<'a> {
    facts: &'a FileFacts,
}

type Checked = Result<(), String>;

/// Fails with the words unless the index is below the length, or is none where that is allowed.
fn below(index: u32, len: usize, none: bool, words: impl FnOnce() -> String) -> Checked {
    if (index as usize) < len || (none && index == u32::MAX) { Ok(()) } else { Err(words()) }
}

impl Check<'_> {
    fn form(&self, form: FormId, none: bool, words: &str, row: usize) -> Checked {
        below(form.0, self.facts.forms.len(), none, || format!("{words} {row}: no form {}", form.0))
    }

    fn sym(&self, sym: u32, none: bool, words: &str, row: usize) -> Checked {
        below(sym, self.facts.symbols.len(), none, || format!("{words} {row}: no symbol {sym}"))
    }

    fn list(&self, list: List, words: &str, row: usize) -> Checked {
        if list.is_empty() {
            return Ok(());
        }
        let end = list.start as usize + list.len as usize;
        if end > self.facts.lists.len() {
            return Err(format!("{words} {row}: list ends at {end}"));
        }
        Ok(())
    }

    fn region(&self, region: RegionId, words: &str, row: usize) -> Checked {
        below(region.0, self.facts.regions.len(), false, || format!("{words} {row}: no region {}", region.0))
    }

    fn forms(&self) -> Checked {
        let facts = self.facts;
        for (row, &member) in facts.lists.iter().enumerate() {
            self.form(member, true, "list entry", row)?;
        }
        for (row, form) in facts.forms.iter().enumerate() {
            let words = "form";
            match form {
                Form::Other
                | Form::None
                | Form::Ellipsis
                | Form::Bool(_)
                | Form::Int(_)
                | Form::Float(_)
                | Form::This => {}
                Form::Str(sym) | Form::Text(sym) | Form::Bytes(sym) | Form::Name(sym) => {
                    self.sym(sym.0, false, words, row)?;
                }
                Form::Var(var) => below(var.0, facts.vars.len(), false, || format!("form {row}: no variable"))?,
                Form::Attr(base, sym) | Form::Path(base, sym) | Form::Field(base, sym) => {
                    self.form(base, false, words, row)?;
                    self.sym(sym.0, false, words, row)?;
                }
                Form::Result(site) => below(site.0, facts.sites.len(), false, || format!("form {row}: no site"))?,
                Form::Callable(body) | Form::Run(body) => {
                    below(body.0, facts.bodies.len(), false, || format!("form {row}: no body"))?;
                }
                Form::Class(class) => {
                    below(class.0, facts.classes.len(), false, || format!("form {row}: no class"))?;
                }
                Form::Import(import) => {
                    below(import.0, facts.imports.len(), false, || format!("form {row}: no import"))?;
                }
                Form::Part(base, _)
                | Form::Await(base)
                | Form::Try(base)
                | Form::Element(base)
                | Form::Star(base)
                | Form::StarStar(base)
                | Form::Not(base)
                | Form::Bound(base) => self.form(base, false, words, row)?,
                Form::Subscript(a, b) | Form::Compare(_, a, b) => {
                    self.form(a, false, words, row)?;
                    self.form(b, false, words, row)?;
                }
                // A handler without types catches a value of none.
                Form::Cast(a, b) => {
                    self.form(a, false, words, row)?;
                    self.form(b, true, words, row)?;
                }
                Form::Display(_, list) | Form::Pairs(list) | Form::Alt(_, list) | Form::Join(list) => {
                    self.list(list, words, row)?;
                }
            }
        }
        Ok(())
    }

    fn definitions(&self) -> Checked {
        let facts = self.facts;
        if facts.bodies.is_empty() {
            return Err("no body for the top level".to_owned());
        }
        for (row, body) in facts.bodies.iter().enumerate() {
            let words = "body";
            self.sym(body.name.0, true, words, row)?;
            if row > 0 && body.parent.index() >= row {
                return Err(format!("body {row}: does not follow its parent"));
            }
            below(body.class.0, facts.classes.len(), true, || format!("body {row}: no class"))?;
            below(body.var.0, facts.vars.len(), true, || format!("body {row}: no variable"))?;
            if !body.params.is_empty() && body.params.range().end > facts.params.len() {
                return Err(format!("body {row}: no such parameters"));
            }
            self.list(body.decorators, words, row)?;
            self.form(body.returns, true, words, row)?;
            self.region(body.region, words, row)?;
            if facts.region(body.region).body.index() != row {
                return Err(format!("body {row}: its region belongs to another body"));
            }
        }
        for (row, param) in facts.params.iter().enumerate() {
            self.sym(param.name.0, true, "parameter", row)?;
            self.form(param.default, true, "parameter", row)?;
            self.form(param.annotation, true, "parameter", row)?;
            below(param.var.0, facts.vars.len(), true, || format!("parameter {row}: no variable"))?;
        }
        for (row, class) in facts.classes.iter().enumerate() {
            let words = "class";
            self.sym(class.name.0, true, words, row)?;
            below(class.body.0, facts.bodies.len(), true, || format!("class {row}: no body"))?;
            below(class.parent.0, facts.bodies.len(), false, || format!("class {row}: no parent"))?;
            below(class.var.0, facts.vars.len(), true, || format!("class {row}: no variable"))?;
            self.list(class.bases, words, row)?;
            self.list(class.decorators, words, row)?;
            self.list(class.type_params, words, row)?;
            self.form(class.subject, true, words, row)?;
            if !class.keywords.is_empty() && class.keywords.range().end > facts.args.len() {
                return Err(format!("class {row}: no such keywords"));
            }
        }
        for (row, var) in facts.vars.iter().enumerate() {
            self.sym(var.name.0, false, "variable", row)?;
            below(var.body.0, facts.bodies.len(), false, || format!("variable {row}: no body"))?;
        }
        Ok(())
    }

    fn operations(&self) -> Checked {
        let facts = self.facts;
        for (row, region) in facts.regions.iter().enumerate() {
            if region.parent.is_some() && region.parent.index() >= row {
                return Err(format!("region {row}: does not follow its parent"));
            }
            below(region.body.0, facts.bodies.len(), false, || format!("region {row}: no body"))?;
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
        let mut last = vec![0; facts.bodies.len()];
        for (row, site) in facts.sites.iter().enumerate() {
            let words = "site";
            self.form(site.callee, true, words, row)?;
            self.sym(site.name.0, true, words, row)?;
            self.region(site.at.region, words, row)?;
            if !site.args.is_empty() && site.args.range().end > facts.args.len() {
                return Err(format!("site {row}: no such arguments"));
            }
            let body = facts.body_of(site.at);
            if std::mem::replace(&mut last[body.index()], site.at.position) >= site.at.position {
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
            let words = "assignment";
            self.form(assign.target, false, words, row)?;
            self.form(assign.value, true, words, row)?;
            self.form(assign.annotation, true, words, row)?;
            self.region(assign.at.region, words, row)?;
        }
        for (row, exit) in facts.exits.iter().enumerate() {
            self.form(exit.value, true, "exit", row)?;
            self.region(exit.at.region, "exit", row)?;
        }
        Ok(())
    }

    fn rest(&self) -> Checked {
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
