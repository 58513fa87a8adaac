//! Virtual calls on `self`: the class of the object on which a method was called decides which override `self.step()`
//! runs. A label that came through one of several implementations stores that implementation (`Own`). The label ends at
//! calls on objects whose class resolves the name to another implementation.

use blocklint_facts::{BodyKind, FormId, SiteKind};
use blocklint_link::classes::hierarchy::Ancestor;
use blocklint_link::effect::guard::OwnImplementation;
use blocklint_link::effect::label::Label;
use blocklint_link::linker::query::{Plain, Table};
use blocklint_link::linker::{LOW_STEPS, Linker};
use blocklint_link::program::ids::{BodyRef, ClassRef, Name};
use blocklint_link::values::value::Val;

use crate::callers::{Caller, Node};

/// Results of this file's queries, stored for one program.
#[derive(Default)]
struct Memo {
    /// True if objects of a class may run an implementation.
    may_run: Table<ResolutionKey, bool, Plain>,
}

/// The most implementations of one method. Labels do not store the implementation of a method with more.
const MOST_IMPLEMENTATIONS: usize = 16;

/// The most classes that are read as the possible classes of an object.
const MOST_CLASSES: usize = 64;

/// A class; true if the object is exactly of this class; the implementation that its objects may run; and the method of
/// the same object that calls it, if there is one.
type ResolutionKey = (ClassRef, bool, OwnImplementation, Option<OwnImplementation>);

/// Narrows a label to the objects on which a call runs the node. Returns the inferred steps that this adds; `None` if
/// the receiver's class has another implementation. Sets `own_of_label` to the implementation that the label carries
/// further up.
pub(crate) fn narrow_to_receiver(
    linker: &Linker<'_>,
    own_of_label: &mut Option<OwnImplementation>,
    caller: Caller,
    node: Node,
) -> Option<u8> {
    if caller.arg.is_some() {
        *own_of_label = None;
        return Some(0);
    }
    let facts = linker.program.facts(caller.site.file);
    let around = linker.class_around(linker.program.body_of_site(caller.site));
    let receiver = linker.receiver_form(caller.site);
    // A call without a receiver is one on `this` (Java).
    let is_implicit_this =
        || facts.language == blocklint_core::Language::Java && linker.program.site(caller.site).kind == SiteKind::Call;
    let on_self = receiver
        .map_or_else(is_implicit_this, |form| blocklint_link::program::occurrences::is_own_receiver(facts, form));
    let on_super = !on_self
        && receiver.is_some_and(|form| {
            is_super(linker, caller, form) || !caller.with_receiver && is_base(linker, caller, form)
        });
    let mut steps = 0;
    if let Some(own) = *own_of_label {
        let own_class = around.filter(|_| on_self || on_super);
        match own_class {
            Some(class) if !may_run(linker, class, false, own, None) => return None,
            Some(_) => {}
            None => {
                if let Some(mut classes) = receiver_classes(linker, caller, node) {
                    let through = own_of_method(linker, node.body).filter(|_| !on_super);
                    classes.retain(|&(class, exact)| may_run(linker, class, exact, own, through));
                    if classes.is_empty() {
                        return None;
                    }
                    // An object mostly runs the method of its declared class, not an override in a subclass.
                    if classes.iter().all(|&(class, exact)| !exact && has_other_implementation(linker, class, own)) {
                        steps = LOW_STEPS - 1;
                    }
                }
            }
        }
        if !on_self && !on_super {
            *own_of_label = None;
        }
    }
    // A call on `super()` has one implementation, whatever the object's class is.
    if on_self && own_of_label.is_none() {
        *own_of_label = own_if_overridden(linker, around, node.body);
    }
    Some(steps)
}

/// True if one object can have both methods: the root, and the implementation that a label came through.
pub(crate) fn may_start_at(linker: &Linker<'_>, label: &Label, root: BodyRef) -> bool {
    let around = linker.class_around(root);
    let both = label.own.zip(around).zip(own_of_method(linker, root));
    both.is_none_or(|((own, class), through)| may_run(linker, class, false, own, Some(through)))
}

/// Returns the inferred steps that a label gets at a root: some if the root's class itself has another implementation
/// than the label's, so that only objects of a subclass run the label's.
pub(crate) fn steps_on_root(linker: &Linker<'_>, label: &Label, root: BodyRef) -> u8 {
    let around = linker.class_around(root);
    let is_other = label.own.zip(around).is_some_and(|(own, class)| has_other_implementation(linker, class, own));
    if is_other { LOW_STEPS - 1 } else { 0 }
}

/// True if a class resolves the name of an implementation to another body, which is no stub.
fn has_other_implementation(linker: &Linker<'_>, class: ClassRef, implementation: OwnImplementation) -> bool {
    for ancestor in linker.mro(class).iter() {
        match *ancestor {
            Ancestor::Class(owner) => {
                if let Some((owner, var)) = linker.own_member(owner, implementation.name) {
                    let bodies = linker.functions_of(owner, var);
                    return !bodies.is_empty()
                        && bodies.iter().all(|&body| body != implementation.body && !linker.is_stub(body));
                }
            }
            Ancestor::Unknown | Ancestor::Library(..) => return false,
        }
    }
    false
}

/// Returns a method with its name, if other classes override it and not too many do.
fn own_if_overridden(linker: &Linker<'_>, around: Option<ClassRef>, body: BodyRef) -> Option<OwnImplementation> {
    let body_facts = linker.program.body(body);
    if body_facts.kind != BodyKind::Function || body_facts.class.is_none() {
        return None;
    }
    let name = linker.program.global(body.file, body_facts.name)?;
    let overrides = linker.overrides(around?, name).len();
    (1..=MOST_IMPLEMENTATIONS).contains(&overrides).then_some(OwnImplementation { name, body })
}

/// True if a class's method of a name calls a method of that name, which may be the one of its base: `super().load()`.
fn calls_same_name(linker: &Linker<'_>, class: ClassRef, name: Name) -> bool {
    linker.mro(class).iter().any(|ancestor| match *ancestor {
        Ancestor::Class(owner) => {
            let Some((owner, var)) = linker.own_member(owner, name) else { return false };
            let bodies = linker.functions_of(owner, var);
            let Some(sym) = linker.program.local(owner.file, name) else { return false };
            let facts = linker.program.facts(owner.file);
            let index = linker.program.index_of(owner.file);
            index.sites_named(sym).iter().any(|&site| {
                let calling = facts.body_of(facts.site(site).at);
                bodies.contains(&owner.file.body_ref(calling))
            })
        }
        _ => false,
    })
}

/// Returns a body with its name, if it is a method.
fn own_of_method(linker: &Linker<'_>, body: BodyRef) -> Option<OwnImplementation> {
    let body_facts = linker.program.body(body);
    let name = linker.program.global(body.file, body_facts.name)?;
    (body_facts.kind == BodyKind::Function && body_facts.class.is_some()).then_some(OwnImplementation { name, body })
}

/// True if an object of a class may run an implementation, and also the method `through` that calls it. Unless `exact`,
/// the object may also be of a subclass.
fn may_run(
    linker: &Linker<'_>,
    class: ClassRef,
    exact: bool,
    implementation: OwnImplementation,
    through: Option<OwnImplementation>,
) -> bool {
    let key = (class, exact, implementation, through);
    let find = || find_may_run(linker, class, exact, implementation, through);
    linker.query(&linker.layer_memo::<Memo>().may_run, key, || true, find)
}

fn find_may_run(
    linker: &Linker<'_>,
    class: ClassRef,
    exact: bool,
    implementation: OwnImplementation,
    through: Option<OwnImplementation>,
) -> bool {
    let runs_both = |class| {
        let runs = |method: OwnImplementation| {
            resolves_to(linker, class, method.name, method.body) || calls_same_name(linker, class, method.name)
        };
        resolves_to(linker, class, implementation.name, implementation.body) && through.is_none_or(runs)
    };
    if runs_both(class) {
        return true;
    }
    if exact {
        return false;
    }
    let classes = linker.with_descendants(class, usize::MAX, MOST_CLASSES + 1);
    classes.len() > MOST_CLASSES || classes.into_iter().skip(1).any(runs_both)
}

/// True if the first definition of a name in a class's lookup order is this body.
fn resolves_to(linker: &Linker<'_>, class: ClassRef, name: Name, body: BodyRef) -> bool {
    for ancestor in linker.mro(class).iter() {
        match *ancestor {
            Ancestor::Class(owner) => {
                if let Some((owner, var)) = linker.own_member(owner, name) {
                    return linker.functions_of(owner, var).contains(&body);
                }
            }
            // An unknown base class may define it.
            Ancestor::Unknown => return true,
            Ancestor::Library(..) => {}
        }
    }
    false
}

/// Returns the classes of the receiver of a call, each with true if the object is exactly of that class. `None` if a
/// class is not known.
fn receiver_classes(linker: &Linker<'_>, caller: Caller, node: Node) -> Option<Vec<(ClassRef, bool)>> {
    let callee = match linker.program.site(caller.site).kind {
        SiteKind::Call | SiteKind::New => linker.callee(caller.site, caller.env),
        _ => {
            let site_facts = linker.program.site(caller.site);
            linker.eval(linker.scope_of(caller.site, caller.env), site_facts.callee)
        }
    };
    let mut classes = Vec::new();
    for val in linker.values.members(callee.value) {
        match val {
            Val::Class(class) => classes.push((class, true)),
            Val::Instance { class, exact, .. } => classes.push((class, exact)),
            Val::Fn { body, receiver, .. } if body == node.body || receiver.is_some() => {
                if !receiver.is_some() {
                    return None;
                }
                match linker.values.single(receiver) {
                    Val::Instance { class, exact, .. } => classes.push((class, exact)),
                    _ => return None,
                }
            }
            Val::None => {}
            _ => return None,
        }
    }
    (!classes.is_empty()).then_some(classes)
}

/// True if an expression is a class whose method the call runs on `self`: `Base` of `Base.load(self)`.
fn is_base(linker: &Linker<'_>, caller: Caller, form: FormId) -> bool {
    let facts = linker.program.facts(caller.site.file);
    let args = linker.program.args_of(caller.site);
    let on_self =
        args.first().is_some_and(|arg| blocklint_link::program::occurrences::is_own_receiver(facts, arg.value));
    on_self && {
        let typed = linker.eval(linker.scope_of(caller.site, caller.env), form);
        linker.values.members(typed.value).iter().any(|val| matches!(val, Val::Class(_)))
    }
}

/// True if an expression is `super()`.
fn is_super(linker: &Linker<'_>, caller: Caller, form: FormId) -> bool {
    let typed = linker.eval(linker.scope_of(caller.site, caller.env), form);
    linker.values.members(typed.value).iter().any(|val| matches!(val, Val::Super { .. }))
}
