//! The shape of one item of a response: the number of its fields, and the levels of nested models.

use blocklint_facts::{BodyId, Form, FormId};
use blocklint_link::classes::hierarchy::Ancestor;
use blocklint_link::linker::{Linker, Typed};
use blocklint_link::program::ids::{BodyRef, ClassRef, FileId};
use blocklint_link::values::expr::Scope;
use blocklint_link::values::value::{EnvId, Val};

/// How deep the type arguments of a field are searched for models: 2 for `list[list[Order]]`.
const MAX_TYPE_DEPTH: u32 = 3;

/// The shape of one item of a collection.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// The number of annotated fields.
    pub(super) fields: u32,
    /// The number of fields with those of nested models, each model counted once.
    pub(super) all_fields: u32,
    /// The number of levels of models: a model without nested models has 1.
    pub(super) nesting_depth: u32,
    /// True if the item is a plain value, such as a name.
    pub(super) is_plain: bool,
    /// True if the response is the collection itself, not a model that contains it.
    pub(super) is_direct: bool,
    /// The type of a list of items, as the file of the route can write it: `list[Client]`.
    pub(super) written: Option<String>,
}

/// The most levels of nested models that are followed.
const DEEPEST: u32 = 6;

/// Returns the item of a response model that is a collection of models, or contains one. `None` for other models and
/// for pages.
pub(super) fn item_of_type(linker: &Linker<'_>, body: BodyRef, model: FormId) -> Option<Item> {
    let typed = linker.annotation(linker.signature_scope(body), model);
    if super::size::is_bound_type(&linker.written(body.file, model)) {
        return None;
    }
    item_of(linker, typed, body.file, DEEPEST)
}

/// Returns the item of a returned value. `None` if its type is unknown or no collection.
pub(super) fn item_of_value(linker: &Linker<'_>, scope: Scope, form: FormId) -> Option<Item> {
    if let Some(class) = validated_class(linker, scope, form) {
        return Some(Item {
            fields: linker.annotated_fields(class).len() as u32,
            all_fields: count_all_fields(linker, class),
            nesting_depth: count_nesting_depth(linker, class, DEEPEST),
            is_plain: false,
            is_direct: true,
            written: written_model(linker, class, scope.file),
        });
    }
    if is_list_of_names(linker, scope, form) {
        return Some(Item {
            fields: 1,
            all_fields: 1,
            nesting_depth: 0,
            is_plain: true,
            is_direct: true,
            written: None,
        });
    }
    item_of(linker, linker.eval(scope, form), scope.file, DEEPEST)
}

/// True if a value is a list of plain fields: `[row.name for row in rows]`.
fn is_list_of_names(linker: &Linker<'_>, scope: Scope, form: FormId) -> bool {
    let facts = linker.program.facts(scope.file);
    only_element(linker, scope, form).is_some_and(|element| match facts.form(element) {
        Form::Attr(base, name) => matches!(facts.form(base), Form::Var(_)) && is_plain_name(facts.text(name)),
        _ => false,
    })
}

/// Returns the element of a list display or comprehension with one element, also through a local variable.
fn only_element(linker: &Linker<'_>, scope: Scope, form: FormId) -> Option<FormId> {
    let facts = linker.program.facts(scope.file);
    let items = match facts.form(form) {
        Form::Var(var) => {
            let mut assigns = facts.assigns_of(var);
            let (first_assign, second_assign) = (assigns.next()?, assigns.next());
            if second_assign.is_some() {
                return None;
            }
            first_assign.value
        }
        _ => form,
    };
    let Form::Display(_, elements) = facts.form(items) else { return None };
    match facts.list(elements) {
        [element] => Some(*element),
        _ => None,
    }
}

/// Returns the class of the validated models in a list: `Client` for `[Client.model_validate(row) for row in rows]`.
fn validated_class(linker: &Linker<'_>, scope: Scope, form: FormId) -> Option<ClassRef> {
    let facts = linker.program.facts(scope.file);
    let Form::Result(site) = facts.form(only_element(linker, scope, form)?) else { return None };
    let Form::Attr(base, name) = facts.form(facts.site(site).callee) else { return None };
    let validators = ["model_validate", "from_orm", "parse_obj", "model_construct", "validate"];
    if !validators.contains(&facts.text(name)) {
        return None;
    }
    linker.values.members(linker.eval(scope, base).value).iter().find_map(|val| match *val {
        Val::Class(class) => Some(class),
        _ => None,
    })
}

/// Returns the item of a type that is a collection of models, or contains one.
pub(super) fn item_of_typed(linker: &Linker<'_>, typed: Typed, file: FileId) -> Option<Item> {
    item_of(linker, typed, file, DEEPEST)
}

/// Returns the item of a type that is a collection of models, or contains one. Nested models are followed to `depth`.
fn item_of(linker: &Linker<'_>, typed: Typed, file: FileId, depth: u32) -> Option<Item> {
    let depth = depth.checked_sub(1)?;
    linker.values.members(typed.value).iter().find_map(|val| match *val {
        Val::Library { ty, args, .. } => {
            let text = linker.library.text(ty);
            let last = text.rsplit('.').next().unwrap_or(&text);
            if super::size::is_bound_type(last) {
                return None;
            }
            let argument_index = match last {
                "list" | "List" | "set" | "Set" | "frozenset" | "Sequence" | "Iterable" | "Collection" | "tuple"
                | "Tuple" => 0,
                "dict" | "Dict" | "Mapping" => 1,
                _ => return None,
            };
            let inner = linker.values.nth(args, argument_index).map(|value| Typed { value, inferred_steps: 0 });
            Some(shape_of_item(linker, inner, file))
        }
        // A model that contains a collection of models.
        Val::Instance { class, .. } => {
            if super::size::is_bound_type(linker.program.facts(class.file).text(linker.program.class(class).name)) {
                return None;
            }
            linker.annotated_fields(class).into_iter().find_map(|(_, typed)| {
                let may_contain =
                    linker.values.members(typed.value).iter().any(|val| matches!(*val, Val::Library { .. }));
                if !may_contain {
                    return None;
                }
                let item = item_of(linker, typed, class.file, depth).filter(|item| item.nesting_depth > 0)?;
                // The response model is the containing model, so no list type is written.
                Some(Item { is_direct: false, written: None, ..item })
            })
        }
        _ => None,
    })
}

/// Returns the shape of an item by its type.
fn shape_of_item(linker: &Linker<'_>, typed: Option<Typed>, file: FileId) -> Item {
    let class = typed.and_then(|typed| {
        linker.values.members(typed.value).iter().find_map(|val| match *val {
            Val::Instance { class, .. } => Some(class),
            _ => None,
        })
    });
    match class {
        Some(class) => Item {
            fields: linker.annotated_fields(class).len() as u32,
            all_fields: count_all_fields(linker, class),
            nesting_depth: count_nesting_depth(linker, class, DEEPEST),
            is_plain: false,
            is_direct: true,
            written: written_model(linker, class, file),
        },
        None => Item { fields: 0, all_fields: 0, nesting_depth: 0, is_plain: false, is_direct: true, written: None },
    }
}

/// Returns the number of fields of a class and of the models in it, each model counted once.
fn count_all_fields(linker: &Linker<'_>, class: ClassRef) -> u32 {
    let (mut visited, mut open, mut count) = (vec![class], vec![class], 0);
    while let Some(class) = open.pop() {
        for (_, typed) in linker.annotated_fields(class) {
            count += 1;
            for inner in linker.models_in(typed, MAX_TYPE_DEPTH) {
                if !visited.contains(&inner) {
                    visited.push(inner);
                    open.push(inner);
                }
            }
        }
    }
    count
}

/// Returns the number of levels of models in a class, itself counted. The search goes level by level with each model
/// once in a level, because models that contain each other have many paths.
fn count_nesting_depth(linker: &Linker<'_>, class: ClassRef, depth: u32) -> u32 {
    let mut level = vec![class];
    for count in 1..=depth {
        let mut below: Vec<ClassRef> = Vec::new();
        for class in level {
            let models = linker
                .annotated_fields(class)
                .into_iter()
                .flat_map(|(_, typed)| linker.models_in(typed, MAX_TYPE_DEPTH));
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

/// Returns the type of a list of a class as a file can write it (`list[Client]`), if the class is a model and the file
/// has a name for it.
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
        let scope = Scope { file, at: Default::default(), env: EnvId::NONE };
        facts.assigns_of(var).any(|assign| matches!(facts.form(assign.value), Form::Class(_) | Form::Import(_)))
            && linker
                .values
                .members(linker.var(scope, var).value)
                .iter()
                .any(|val| matches!(*val, Val::Class(of) if of == class))
    })?;
    Some(format!("list[{}]", facts.text(facts.var(named).name)))
}

/// True if a field of this name is usually a short text or a number.
fn is_plain_name(name: &str) -> bool {
    let last = name.rsplit('_').next().unwrap_or(name);
    matches!(last, "id" | "uuid" | "name" | "key" | "slug" | "code" | "title" | "label" | "email" | "username")
}
