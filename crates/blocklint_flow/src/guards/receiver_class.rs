//! `self` calls on a class that is known: what `self.step()` runs is settled by the class of the object that the method
//! was called on. A label that came through one of several implementations remembers which, and ends at calls on
//! objects whose class looks the name up otherwise.

use blocklint_facts::{BodyKind, SiteKind};
use blocklint_link::classes::hierarchy::Ancestor;
use blocklint_link::effect::guard::OwnImplementation;
use blocklint_link::effect::label::Label;
use blocklint_link::linker::query::{Plain, Table};
use blocklint_link::linker::{LOW_STEPS, Linker};
use blocklint_link::program::ids::{BodyRef, ClassRef, Name};
use blocklint_link::values::value::Val;

use crate::callers::{Caller, Node};

/// Answers of this file that are kept for one program.
#[derive(Default)]
struct Memo {
    /// The objects that find the implementation of a label.
    found_by: Table<FinderKey, bool, Plain>,
}

/// Implementations of one method beyond which labels do not remember theirs.
const MOST_IMPLEMENTATIONS: usize = 16;

/// Classes looked at as what an object may be.
const MOST_CLASSES: usize = 64;

/// A class, exactly it or not, an implementation that its objects may find under its name, and another one through which that is reached:
/// each label that comes by asks again.
type FinderKey = (ClassRef, bool, OwnImplementation, Option<OwnImplementation>);

/// Narrows a label to objects on which a site runs the node, and returns the inferred steps of that; `None` if the object's class has
/// another implementation.
pub(crate) fn on_receiver(
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
    // Java leaves `this` out.
    let is_bare = || {
        facts.language == blocklint_core::Language::Java
            && linker.program.site(caller.site).kind == blocklint_facts::SiteKind::Call
    };
    let on_self =
        receiver.map_or_else(is_bare, |form| blocklint_link::program::occurrences::is_own_receiver(facts, form));
    let on_super = !on_self
        && receiver.is_some_and(|form| {
            is_super(linker, caller, form) || !caller.with_receiver && is_base(linker, caller, form)
        });
    let mut steps = 0;
    if let Some(own) = *own_of_label {
        let own_class = around.filter(|_| on_self || on_super);
        match own_class {
            Some(class) if !may_find(linker, class, false, own, None) => return None,
            Some(_) => {}
            None => {
                if let Some(mut classes) = receivers(linker, caller, node) {
                    let through = method_of(linker, node.body).filter(|_| !on_super);
                    classes.retain(|&(class, exact)| may_find(linker, class, exact, own, through));
                    if classes.is_empty() {
                        return None;
                    }
                    // The method that the class itself defines runs as a rule, not that of a derived class.
                    if classes.iter().all(|&(class, exact)| !exact && does_otherwise(linker, class, own)) {
                        steps = LOW_STEPS - 1;
                    }
                }
            }
        }
        if !on_self && !on_super {
            *own_of_label = None;
        }
    }
    // Through `super` one implementation is meant, whatever the object is.
    if on_self && own_of_label.is_none() {
        *own_of_label = implementation(linker, around, node.body);
    }
    Some(steps)
}

/// True if some object has both a root as its method and the implementation that a label came through.
pub(crate) fn may_start_at(linker: &Linker<'_>, label: &Label, root: BodyRef) -> bool {
    let around = linker.class_around(root);
    let both = label.own.zip(around).zip(method_of(linker, root));
    both.is_none_or(|((own, class), through)| may_find(linker, class, false, own, Some(through)))
}

/// Returns the inferred steps of a label that ends in a method of a class whose own way is another one.
pub(crate) fn steps_on_root(linker: &Linker<'_>, label: &Label, root: BodyRef) -> u8 {
    let around = linker.class_around(root);
    let otherwise = label.own.zip(around).is_some_and(|(own, class)| does_otherwise(linker, class, own));
    if otherwise { LOW_STEPS - 1 } else { 0 }
}

/// True if a class finds another body under a name, one with code of its own.
fn does_otherwise(linker: &Linker<'_>, class: ClassRef, own: OwnImplementation) -> bool {
    for ancestor in linker.mro(class).iter() {
        match *ancestor {
            Ancestor::Class(owner) => {
                if let Some((owner, var)) = linker.own_member(owner, own.name) {
                    let found = linker.functions_of(owner, var);
                    return !found.is_empty() && found.iter().all(|&body| body != own.body && !linker.is_stub(body));
                }
            }
            Ancestor::Unknown | Ancestor::Library(..) => return false,
        }
    }
    false
}

/// Returns a method that other classes implement otherwise.
fn implementation(linker: &Linker<'_>, around: Option<ClassRef>, body: BodyRef) -> Option<OwnImplementation> {
    let row = linker.program.body(body);
    if row.kind != BodyKind::Function || row.class.is_none() {
        return None;
    }
    let name = linker.program.global(body.file, row.name)?;
    let others = linker.overrides(around?, name).len();
    (1..=MOST_IMPLEMENTATIONS).contains(&others).then_some(OwnImplementation { name, body })
}

/// True if the method of a class calls one of the same name, which may be that of its base.
fn calls_base(linker: &Linker<'_>, class: ClassRef, name: Name) -> bool {
    linker.mro(class).iter().any(|ancestor| match *ancestor {
        Ancestor::Class(owner) => {
            let Some((owner, var)) = linker.own_member(owner, name) else { return false };
            let bodies = linker.functions_of(owner, var);
            let Some(sym) = linker.program.local(owner.file, name) else { return false };
            let facts = linker.program.facts(owner.file);
            let index = linker.program.index_of(owner.file);
            index.sites_named(sym).iter().any(|&site| {
                let at = facts.body_of(facts.site(site).at);
                bodies.contains(&owner.file.body_ref(at))
            })
        }
        _ => false,
    })
}

/// Returns a method under its name.
fn method_of(linker: &Linker<'_>, body: BodyRef) -> Option<OwnImplementation> {
    let row = linker.program.body(body);
    let name = linker.program.global(body.file, row.name)?;
    (row.kind == BodyKind::Function && row.class.is_some()).then_some(OwnImplementation { name, body })
}

/// True if an object of a class, or of one derived from it, may look a name up as that body; as one who also looks up the method through
/// which that is reached.
fn may_find(
    linker: &Linker<'_>,
    class: ClassRef,
    exact: bool,
    own: OwnImplementation,
    through: Option<OwnImplementation>,
) -> bool {
    let key = (class, exact, own, through);
    linker.query(&linker.layer_memo::<Memo>().found_by, key, || true, || look_for(linker, class, exact, own, through))
}

fn look_for(
    linker: &Linker<'_>,
    class: ClassRef,
    exact: bool,
    own: OwnImplementation,
    through: Option<OwnImplementation>,
) -> bool {
    let both = |class| {
        let runs = |of: OwnImplementation| finds(linker, class, of.name, of.body) || calls_base(linker, class, of.name);
        finds(linker, class, own.name, own.body) && through.is_none_or(runs)
    };
    if both(class) {
        return true;
    }
    if exact {
        return false;
    }
    let classes = linker.with_descendants(class, usize::MAX, MOST_CLASSES + 1);
    classes.len() > MOST_CLASSES || classes.into_iter().skip(1).any(both)
}

/// True if the first definition of a name in a class's lookup order is this body.
fn finds(linker: &Linker<'_>, class: ClassRef, name: Name, body: BodyRef) -> bool {
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

/// Returns the classes of the objects that a site calls a method on; `None` where one is not known.
fn receivers(linker: &Linker<'_>, caller: Caller, node: Node) -> Option<Vec<(ClassRef, bool)>> {
    let callee = match linker.program.site(caller.site).kind {
        SiteKind::Call | SiteKind::New => linker.callee(caller.site, caller.env),
        _ => {
            let row = linker.program.site(caller.site);
            linker.eval(linker.scope_of(caller.site, caller.env), row.callee)
        }
    };
    let mut found = Vec::new();
    for val in linker.values.members(callee.value) {
        match val {
            Val::Class(class) => found.push((class, true)),
            Val::Instance { class, exact, .. } => found.push((class, exact)),
            Val::Fn { body, receiver, .. } if body == node.body || receiver.is_some() => {
                if !receiver.is_some() {
                    return None;
                }
                match linker.values.single(receiver) {
                    Val::Instance { class, exact, .. } => found.push((class, exact)),
                    _ => return None,
                }
            }
            Val::None => {}
            _ => return None,
        }
    }
    (!found.is_empty()).then_some(found)
}

/// True if a form is a class whose method is called on the body's own object: `Base.load(self)`.
fn is_base(linker: &Linker<'_>, caller: Caller, form: blocklint_facts::FormId) -> bool {
    let facts = linker.program.facts(caller.site.file);
    let args = linker.program.args_of(caller.site);
    let on_self =
        args.first().is_some_and(|arg| blocklint_link::program::occurrences::is_own_receiver(facts, arg.value));
    on_self && {
        let typed = linker.eval(linker.scope_of(caller.site, caller.env), form);
        linker.values.members(typed.value).iter().any(|val| matches!(val, Val::Class(_)))
    }
}

/// True if a form is `super()`.
fn is_super(linker: &Linker<'_>, caller: Caller, form: blocklint_facts::FormId) -> bool {
    let typed = linker.eval(linker.scope_of(caller.site, caller.env), form);
    linker.values.members(typed.value).iter().any(|val| matches!(val, Val::Super { .. }))
}
