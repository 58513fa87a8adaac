//! Parts of forms: the last name, nested forms, and the value of a local variable.

use blocklint_facts::{BodyKind, FileFacts, Form, FormId, Sym};

/// Returns the last name of a form: `c` of `a.b.c` and of `a::b::c`.
pub fn last_name(facts: &FileFacts, form: FormId) -> Option<Sym> {
    match facts.form(form) {
        Form::Var(var) => Some(facts.var(var).name),
        Form::Name(name) | Form::Attr(_, name) | Form::Path(_, name) => Some(name),
        _ => None,
    }
}

/// True if a form, or a form nested in it, meets a predicate.
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
            Form::Await(inner) | Form::Try(inner) | Form::Element(inner) | Form::Not(inner) | Form::Bound(inner) => {
                inside(inner)
            }
            Form::Part(inner, _) | Form::Field(inner, _) => inside(inner),
            Form::Subscript(left, right) | Form::Cast(left, right) | Form::Compare(_, left, right) => {
                inside(left) || inside(right)
            }
            Form::Display(_, list) | Form::Pairs(list) | Form::Alt(_, list) | Form::Join(list) => {
                facts.list(list).iter().any(|&form| inside(form))
            }
            _ => false,
        }
}

/// Returns the name of the receiver's field that a form reads: `store` of `this.store` (Java).
pub(crate) fn field_of(facts: &FileFacts, form: FormId) -> Option<Sym> {
    match facts.form(form) {
        Form::Var(var) if facts.body(facts.var(var).body).kind == BodyKind::Class => Some(facts.var(var).name),
        Form::Attr(base, name) if facts.form(base) == Form::This => Some(name),
        _ => None,
    }
}

/// Returns the only value of a local variable, or a form that is no variable unchanged. Returns `None` if the variable
/// has several values.
pub(crate) fn value_of_local(facts: &FileFacts, form: FormId) -> Option<FormId> {
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
