//! Whether facts hold together: every id in range, every list inside its table.

use crate::{FileFacts, Form, FormId, List};

/// Says what is wrong with the facts; nothing if they hold together. Front ends' tests call it on every input,
/// because the analysis indexes without asking.
pub fn check(facts: &FileFacts) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut note = |ok: bool, what: &str, at: usize| {
        if !ok {
            wrong.push(format!("{what} of row {at} is out of range"));
        }
    };
    let form = |id: FormId| id.is_none() || id.index() < facts.forms.len();
    let forms = |list: List| list.range().end <= facts.lists.len() && facts.list(list).iter().all(|&id| form(id));
    let opt = |index: u32, len: usize| index == u32::MAX || (index as usize) < len;
    let sym = |sym: crate::Sym| opt(sym.0, facts.symbols.len());
    for (at, &row) in facts.forms.iter().enumerate() {
        let ok = match row {
            Form::Str(s) | Form::Bytes(s) | Form::Name(s) => s.index() < facts.symbols.len(),
            Form::Var(var) => var.index() < facts.vars.len(),
            Form::Attr(base, s) | Form::Path(base, s) | Form::Field(base, s) => form(base) && sym(s),
            Form::Result(site) => site.index() < facts.sites.len(),
            Form::Callable(body) | Form::Run(body) => body.index() < facts.bodies.len(),
            Form::Class(class) => class.index() < facts.classes.len(),
            Form::Import(import) => import.index() < facts.imports.len(),
            Form::Await(a)
            | Form::Try(a)
            | Form::Element(a)
            | Form::Part(a, _)
            | Form::Star(a)
            | Form::StarStar(a)
            | Form::Not(a)
            | Form::Bound(a) => form(a),
            Form::Display(_, list) | Form::Pairs(list) | Form::Alt(_, list) | Form::Join(list) => forms(list),
            Form::Subscript(a, b) | Form::Compare(_, a, b) | Form::Cast(a, b) => form(a) && form(b),
            _ => true,
        };
        note(ok, "a part of a form", at);
    }
    for (at, body) in facts.bodies.iter().enumerate() {
        note(body.parent.is_none() || body.parent.index() < at, "the parent of a body", at);
        note(opt(body.class.0, facts.classes.len()), "the class of a body", at);
        note(opt(body.var.0, facts.vars.len()), "the variable of a body", at);
        note(body.region.index() < facts.regions.len(), "the region of a body", at);
        note(body.params.range().end <= facts.params.len(), "the parameters of a body", at);
        note(sym(body.name) && forms(body.decorators) && form(body.returns), "the signature of a body", at);
    }
    for (at, param) in facts.params.iter().enumerate() {
        note(opt(param.var.0, facts.vars.len()) && sym(param.name), "the variable of a parameter", at);
        note(form(param.default) && form(param.annotation), "the type of a parameter", at);
    }
    for (at, class) in facts.classes.iter().enumerate() {
        note(class.body.index() < facts.bodies.len(), "the body of a class", at);
        note(class.parent.index() < facts.bodies.len(), "the parent of a class", at);
        note(opt(class.var.0, facts.vars.len()) && sym(class.name), "the variable of a class", at);
        note(forms(class.bases) && forms(class.decorators) && forms(class.type_params), "a list of a class", at);
        note(form(class.subject) && class.keywords.range().end <= facts.args.len(), "the subject of a class", at);
    }
    for (at, var) in facts.vars.iter().enumerate() {
        note(sym(var.name) && var.body.index() < facts.bodies.len(), "the body of a variable", at);
    }
    for (at, region) in facts.regions.iter().enumerate() {
        note(region.parent.is_none() || region.parent.index() < at, "the parent of a region", at);
        note(region.body.index() < facts.bodies.len() && form(region.test), "the body of a region", at);
    }
    let place = |region: crate::RegionId| region.index() < facts.regions.len();
    for (at, site) in facts.sites.iter().enumerate() {
        note(form(site.callee) && sym(site.name), "the callee of a site", at);
        note(place(site.at.region), "the region of a site", at);
        note(site.args.range().end <= facts.args.len(), "the arguments of a site", at);
        note(site.span.contains(site.name_span) || site.name_span == blocklint_core::Span::default(), "the name", at);
    }
    for (at, arg) in facts.args.iter().enumerate() {
        note(sym(arg.name) && form(arg.value), "an argument", at);
    }
    for (at, assign) in facts.assigns.iter().enumerate() {
        note(form(assign.target) && form(assign.value) && form(assign.annotation), "an assignment", at);
        note(place(assign.at.region), "the region of an assignment", at);
    }
    for (at, exit) in facts.exits.iter().enumerate() {
        note(form(exit.value) && place(exit.at.region), "an exit", at);
    }
    for (at, import) in facts.imports.iter().enumerate() {
        note(sym(import.module) && sym(import.name) && place(import.at.region), "an import", at);
    }
    for (at, comment) in facts.suppressions.iter().enumerate() {
        note(forms(comment.rules) && sym(comment.reason), "a comment", at);
    }
    wrong
}
