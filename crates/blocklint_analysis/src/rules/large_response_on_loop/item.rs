//! The shape of one item of a response: how many fields it has, and how deep models nest in it.

use blocklint_facts::{BodyId, Form, FormId};
use blocklint_link::classes::hierarchy::Ancestor;
use blocklint_link::linker::{Linker, Typed};
use blocklint_link::program::ids::{BodyRef, ClassRef, FileId};
use blocklint_link::values::expr::Scope;
use blocklint_link::values::value::Val;

/// One item of a collection.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// Annotated fields.
    pub(super) fields: u32,
    /// Those of the models in it too, each model counted once.
    pub(super) all_fields: u32,
    /// Levels of models: one that holds no other model has 1.
    pub(super) levels: u32,
    /// It is one plain value, such as a name.
    pub(super) is_plain: bool,
    /// True if the response is the collection, rather than a model that holds it.
    pub(super) is_direct: bool,
    /// A list of it, as the file of the route can write it.
    pub(super) written: Option<String>,
}

/// Nested models are followed so far.
const DEEPEST: u32 = 6;

/// Returns the item of a response model that is a collection of models, or holds one; none for others and for pages.
pub(super) fn item_of_type(linker: &Linker<'_>, body: BodyRef, model: FormId) -> Option<Item> {
    let typed = linker.annotation(linker.signature_scope(body), model);
    if super::size::is_bound_type(&linker.written(body.file, model)) {
        return None;
    }
    item_of(linker, typed, body.file, DEEPEST)
}

/// Returns the item of a returned value, as far as its type is known.
pub(super) fn item_of_value(linker: &Linker<'_>, scope: Scope, form: FormId) -> Option<Item> {
    if let Some(class) = validated(linker, scope, form) {
        return Some(Item {
            fields: linker.annotated_fields(class).len() as u32,
            all_fields: all_fields(linker, class),
            levels: levels(linker, class, DEEPEST),
            is_plain: false,
            is_direct: true,
            written: written_model(linker, class, scope.file),
        });
    }
    if is_of_names(linker, scope, form) {
        return Some(Item { fields: 1, all_fields: 1, levels: 0, is_plain: true, is_direct: true, written: None });
    }
    item_of(linker, linker.eval(scope, form), scope.file, DEEPEST)
}

/// True if a value is `[row.name for row in rows]`.
fn is_of_names(linker: &Linker<'_>, scope: Scope, form: FormId) -> bool {
    let facts = linker.program.facts(scope.file);
    written_element(linker, scope, form).is_some_and(|element| match facts.form(element) {
        Form::Attr(base, name) => matches!(facts.form(base), Form::Var(_)) && is_plain_name(facts.text(name)),
        _ => false,
    })
}

/// Returns the element of a list that is written with one, also through one local name.
fn written_element(linker: &Linker<'_>, scope: Scope, form: FormId) -> Option<FormId> {
    let facts = linker.program.facts(scope.file);
    let list = match facts.form(form) {
        Form::Var(var) => {
            let mut assigns = facts.assigns_of(var);
            let (first, more) = (assigns.next()?, assigns.next());
            if more.is_some() {
                return None;
            }
            first.value
        }
        _ => form,
    };
    let Form::Display(_, elements) = facts.form(list) else { return None };
    match facts.list(elements) {
        [element] => Some(*element),
        _ => None,
    }
}

/// Returns the class of `[Client.model_validate(row) for row in rows]`.
fn validated(linker: &Linker<'_>, scope: Scope, form: FormId) -> Option<ClassRef> {
    let facts = linker.program.facts(scope.file);
    let Form::Result(site) = facts.form(written_element(linker, scope, form)?) else { return None };
    let Form::Attr(base, name) = facts.form(facts.site(site).callee) else { return None };
    let makes = ["model_validate", "from_orm", "parse_obj", "model_construct", "validate"];
    if !makes.contains(&facts.text(name)) {
        return None;
    }
    linker.values.members(linker.eval(scope, base).value).iter().find_map(|val| match *val {
        Val::Class(class) => Some(class),
        _ => None,
    })
}

/// Returns the item of a type that is a collection of models, or holds one.
pub(super) fn item_in(linker: &Linker<'_>, typed: Typed, file: FileId) -> Option<Item> {
    item_of(linker, typed, file, DEEPEST)
}

fn item_of(linker: &Linker<'_>, typed: Typed, file: FileId, depth: u32) -> Option<Item> {
    let depth = depth.checked_sub(1)?;
    linker.values.members(typed.value).iter().find_map(|val| match *val {
        Val::Library { ty, args, .. } => {
            let text = linker.library.text(ty);
            let last = text.rsplit('.').next().unwrap_or(&text);
            if super::size::is_bound_type(last) {
                return None;
            }
            let at = match last {
                "list" | "List" | "set" | "Set" | "frozenset" | "Sequence" | "Iterable" | "Collection" | "tuple"
                | "Tuple" => 0,
                "dict" | "Dict" | "Mapping" => 1,
                _ => return None,
            };
            let inner = linker.values.nth(args, at).map(|value| Typed { value, inferred_steps: 0 });
            Some(one(linker, inner, file))
        }
        // A model that holds a collection of models.
        Val::Instance { class, .. } => {
            if super::size::is_bound_type(linker.program.facts(class.file).text(linker.program.class(class).name)) {
                return None;
            }
            linker.annotated_fields(class).into_iter().find_map(|(_, typed)| {
                let holds = linker.values.members(typed.value).iter().any(|val| matches!(*val, Val::Library { .. }));
                if !holds {
                    return None;
                }
                let item = item_of(linker, typed, class.file, depth).filter(|item| item.levels > 0)?;
                // A list of such items is no response model here.
                Some(Item { is_direct: false, written: None, ..item })
            })
        }
        _ => None,
    })
}

/// Returns the shape of one item, by its type.
fn one(linker: &Linker<'_>, typed: Option<Typed>, file: FileId) -> Item {
    let class = typed.and_then(|typed| {
        linker.values.members(typed.value).iter().find_map(|val| match *val {
            Val::Instance { class, .. } => Some(class),
            _ => None,
        })
    });
    match class {
        Some(class) => Item {
            fields: linker.annotated_fields(class).len() as u32,
            all_fields: all_fields(linker, class),
            levels: levels(linker, class, DEEPEST),
            is_plain: false,
            is_direct: true,
            written: written_model(linker, class, file),
        },
        None => Item { fields: 0, all_fields: 0, levels: 0, is_plain: false, is_direct: true, written: None },
    }
}

/// Returns the fields of a class and of the models in it, each model counted once.
fn all_fields(linker: &Linker<'_>, class: ClassRef) -> u32 {
    let (mut seen, mut left, mut count) = (vec![class], vec![class], 0);
    while let Some(class) = left.pop() {
        for (_, typed) in linker.annotated_fields(class) {
            count += 1;
            for inner in linker.models_in(typed, 3) {
                if !seen.contains(&inner) {
                    seen.push(inner);
                    left.push(inner);
                }
            }
        }
    }
    count
}

/// Returns how deep models nest in a class, itself counted. Goes down level by level, each model once in each of them: models that hold
/// each other have many paths.
fn levels(linker: &Linker<'_>, class: ClassRef, depth: u32) -> u32 {
    let mut level = vec![class];
    for count in 1..=depth {
        let mut below: Vec<ClassRef> = Vec::new();
        for class in level {
            let models = linker.annotated_fields(class).into_iter().flat_map(|(_, typed)| linker.models_in(typed, 3));
            below.extend(models.filter(|inner| *inner != class));
        }
        below.sort_unstable();
        below.dedup();
        if below.is_empty() {
            return count;
        }
        level = below;
    }
    1 + depth
}

/// `list[Client]`, if the class is a model of pydantic and the file knows it by a name.
fn written_model(linker: &Linker<'_>, class: ClassRef, file: FileId) -> Option<String> {
    let is_model = linker.mro(class).iter().any(|ancestor| match *ancestor {
        Ancestor::Library(path, _) => {
            let text = linker.library.text(path);
            matches!(text.rsplit('.').next(), Some("BaseModel" | "SQLModel"))
        }
        _ => false,
    });
    if !is_model {
        return None;
    }
    let facts = linker.program.facts(file);
    let named = facts.vars_of(BodyId(0)).find(|&var| {
        let scope = Scope { file, at: Default::default(), env: blocklint_link::values::value::EnvId::NONE };
        facts.assigns_of(var).any(|assign| matches!(facts.form(assign.value), Form::Class(_) | Form::Import(_)))
            && linker
                .values
                .members(linker.var(scope, var).value)
                .iter()
                .any(|val| matches!(*val, Val::Class(of) if of == class))
    })?;
    Some(format!("list[{}]", facts.text(facts.var(named).name)))
}

/// True if a field of this name is, by custom, a short text or a number.
fn is_plain_name(name: &str) -> bool {
    let last = name.rsplit('_').next().unwrap_or(name);
    matches!(last, "id" | "uuid" | "name" | "key" | "slug" | "code" | "title" | "label" | "email" | "username")
}
