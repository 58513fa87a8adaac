//! Parts of a form: its last name, the forms inside it, and the value of a local.

use blocklint_facts::{BodyKind, FileFacts, Form, FormId, Sym};

/// Returns the last name of a form: `c` of `a.b.c` and of `a::b::c`.
pub fn last_name(facts: &FileFacts, form: FormId) -> Option<Sym> {
    match facts.form(form) {
        Form::Var(var) => Some(facts.var(var).name),
        Form::Name(name) | Form::Attr(_, name) | Form::Path(_, name) => Some(name),
        _ => None,
    }
}

/// True if a form, or one inside it, is wanted.
pub fn mentions(facts: &FileFacts, form: FormId, depth: u32, wanted: &dyn Fn(Form) -> bool) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    if form.is_none() {
        return false;
    }
    let own = facts.form(form);
    let inside = |form: FormId| mentions(facts, form, depth, wanted);
    wanted(own)
        || match own {
            Form::Attr(base, _) | Form::Path(base, _) => inside(base),
            Form::Result(site) => {
                inside(facts.site(site).callee) || facts.args_of(site).iter().any(|argument| inside(argument.value))
            }
            Form::Await(of) | Form::Try(of) | Form::Element(of) | Form::Not(of) | Form::Bound(of) => inside(of),
            Form::Part(of, _) | Form::Field(of, _) => inside(of),
            Form::Subscript(of, by) | Form::Cast(of, by) | Form::Compare(_, of, by) => inside(of) || inside(by),
            Form::Display(_, list) | Form::Pairs(list) | Form::Alt(_, list) | Form::Join(list) => {
                facts.list(list).iter().any(|&form| inside(form))
            }
            _ => false,
        }
}

/// Returns the field of the object itself that a form reads.
pub(crate) fn field_of(facts: &FileFacts, form: FormId) -> Option<Sym> {
    match facts.form(form) {
        Form::Var(var) if facts.body(facts.var(var).body).kind == BodyKind::Class => Some(facts.var(var).name),
        Form::Attr(base, name) if facts.form(base) == Form::This => Some(name),
        _ => None,
    }
}

/// Returns the only value of a local, or the form itself if it is no local. It returns `None` if the local may have
/// several values.
pub(crate) fn behind_local(facts: &FileFacts, form: FormId) -> Option<FormId> {
    match facts.form(form) {
        Form::Var(var) => facts.only_value_of(var).map(|only| only.value),
        _ => Some(form),
    }
}

/// True if two forms read the same variable or field.
pub fn is_same(facts: &FileFacts, a: FormId, b: FormId) -> bool {
    match (facts.form(a), facts.form(b)) {
        (Form::Var(a), Form::Var(b)) => a == b,
        (Form::Attr(a, x), Form::Attr(b, y)) => x == y && is_same(facts, a, b),
        (Form::This, Form::This) => true,
        _ => false,
    }
}
