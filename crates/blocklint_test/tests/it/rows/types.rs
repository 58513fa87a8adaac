//! Generated uses of types in Python rows: a probe sleeps if its argument has the type that the row states.

use std::collections::BTreeMap;

use blocklint_models::{CallRow, TypeExpr, TypeRow};

use super::calls::{Uses, next};
use super::draft::{Draft, Reason};
use super::python::{Spelling, Wish, World, arguments_of};
use super::uses::{Expected, RowPath};

/// The probes: functions that sleep if their argument has a type, one for each type.
#[derive(Debug, Default)]
pub(crate) struct Probes {
    of_type: BTreeMap<String, usize>,
    of_state: BTreeMap<String, usize>,
}

impl Probes {
    fn of_type(&mut self, ty: &str) -> String {
        let count = self.of_type.len();
        format!("probe.type_{}", self.of_type.entry(ty.to_owned()).or_insert(count))
    }

    fn of_state(&mut self, state: &str) -> String {
        let count = self.of_state.len();
        format!("probe.state_{}", self.of_state.entry(state.to_owned()).or_insert(count))
    }

    /// Returns the model file of the probes, as label and text.
    pub(crate) fn model(&self) -> (String, String) {
        let head = "schema = 1\nlanguage = \"python\"\nlibrary = \"probe\"\ndocs = \"https://example.org\"\n";
        let class = "[[call]]\npath = \"probe.Elem.touch\"\neffect = \"none\"\n";
        let row = |name: String, test: String| {
            format!("[[call]]\npath = \"probe.{name}\"\nwhen = {{ argument = 0, {test} }}\neffect = \"sleep\"\n")
        };
        let types = self.of_type.iter().map(|(ty, number)| row(format!("type_{number}"), format!("type = {ty:?}")));
        let states =
            self.of_state.iter().map(|(state, number)| row(format!("state_{number}"), format!("state = {state:?}")));
        let text = [head, class].into_iter().map(str::to_owned).chain(types).chain(states).collect();
        ("python/probe.toml".to_owned(), text)
    }
}

/// The class that is used for type parameters.
const ELEMENT: &str = "probe.Elem";

struct Stated<'s> {
    world: &'s World<'s>,
    row_path: &'s RowPath,
    probes: &'s mut Probes,
    number: &'s mut usize,
    uses: Uses,
}

impl Stated<'_> {
    /// Adds a use that passes an expression, or an item of it, to the probe.
    fn probe(&mut self, draft: Draft, expression: &str, ty: &str, head: Option<&str>) {
        self.probe_part(draft, expression, ty, head, "");
    }

    /// Adds a use of a part of the item that `head` binds.
    fn probe_part(&mut self, mut draft: Draft, expression: &str, ty: &str, head: Option<&str>, part: &str) {
        // These types do not determine their value.
        if ["typing.Any", "typing.Awaitable"].contains(&ty) {
            return;
        }
        draft.import("import probe");
        let probe = self.probes.of_type(ty);
        match head {
            Some(head) => draft.line(format!("{head} {expression}: {probe}(item{part})")),
            None => draft.line(format!("{probe}({expression})")),
        }
        let expected = Expected::Found { rule: "BLT101", severity: None, hold: None, call: probe };
        self.uses.effect_uses.push(draft.finish(self.row_path, next(self.number), expected));
    }

    /// Adds uses that check the type of an expression, as far as probes can test it.
    fn expect(&mut self, draft: &Draft, expression: &str, ty: &TypeExpr, receiver: &str, head: Option<&str>) {
        match ty {
            TypeExpr::Path { path, arguments } => {
                // The awaited result is that of the function in the argument.
                let awaited = self.world.types(path).any(|row| matches!(row.awaits, Some(TypeExpr::Parameter(_))));
                if awaited && head.is_none() && matches!(arguments.first(), Some(TypeExpr::Result(_))) {
                    self.probe(draft.clone(), &format!("(await {expression})"), ELEMENT, None);
                }
                let elements = match path.as_str() {
                    "typing.Iterator" | "typing.Iterable" | "builtins.list" | "builtins.set" => "for item in",
                    "typing.AsyncIterator" => "async for item in",
                    _ => "",
                };
                match (elements, arguments.first(), head) {
                    ("", ..) | (_, None, _) => self.probe(draft.clone(), expression, path, head),
                    (elements, Some(TypeExpr::Tuple(parts)), None) => {
                        for (index, part) in parts.iter().enumerate() {
                            let ty = match part {
                                TypeExpr::Path { path, .. } => path,
                                TypeExpr::SelfType(_) => receiver,
                                _ => ELEMENT,
                            };
                            let part = format!("[{index}]");
                            self.probe_part(draft.clone(), expression, ty, Some(elements), &part);
                        }
                    }
                    (elements, Some(element), None) => {
                        self.expect(draft, expression, element, receiver, Some(elements));
                    }
                    (_, Some(_), Some(_)) => self.probe(draft.clone(), expression, path, head),
                }
            }
            TypeExpr::SelfType(_) => self.probe(draft.clone(), expression, receiver, head),
            TypeExpr::Parameter(_)
            | TypeExpr::Argument(_)
            | TypeExpr::Result(_)
            | TypeExpr::Yield(_)
            | TypeExpr::Element(_)
            | TypeExpr::Instance(_) => self.probe(draft.clone(), expression, ELEMENT, head),
            TypeExpr::Union(members) => {
                members.iter().for_each(|member| self.expect(draft, expression, member, receiver, head));
            }
            TypeExpr::Tuple(parts) if head.is_none() => {
                for (index, part) in parts.iter().enumerate() {
                    self.expect(draft, &format!("{expression}[{index}]"), part, receiver, None);
                }
            }
            TypeExpr::Tuple(_) | TypeExpr::Literal(_) | TypeExpr::Array(_) | TypeExpr::None => {}
        }
    }
}

/// Returns uses that check the result of a call, and the state of its receiver after it.
pub(crate) fn result_uses(
    world: &World<'_>,
    row_path: &RowPath,
    row: &CallRow,
    probes: &mut Probes,
    number: &mut usize,
) -> Uses {
    let mut stated = Stated { world, row_path, probes, number, uses: Uses::default() };
    let made = [returned(&mut stated, row), state(&mut stated, row), added(&mut stated, row)];
    for reason in made.into_iter().filter_map(Result::err) {
        stated.uses.skipped.push((row_path.clone(), reason));
    }
    stated.uses
}

/// Returns `[probe.Elem, ...]` for a type with parameters.
fn parameters(world: &World<'_>, draft: &mut Draft, ty: &str) -> Option<String> {
    let count = world.lang.ty(ty).map_or(0, |rows| rows.params().len());
    draft.import("import probe");
    (count > 0).then(|| vec![ELEMENT; count].join(", "))
}

fn returned(stated: &mut Stated<'_>, row: &CallRow) -> Result<(), Reason> {
    let Some(returns) = &row.returns else { return Ok(()) };
    let (world, row_path) = (stated.world, stated.row_path);
    let mut draft = Draft::default();
    let owner = row_path.path.rsplit_once('.').map_or("", |(owner, _)| owner);
    let mut wish = Wish::default();
    world.satisfy(&mut draft, &mut wish, &row_path.path, &row.when, world.depth())?;
    if world.is_class(owner) {
        wish.type_arguments = wish.type_arguments.or_else(|| parameters(world, &mut draft, owner));
    }
    // Rows with precedence over this one must not match.
    let rows = world.lang.calls(&row_path.path);
    for earlier in rows.with(|row| row.returns.is_some()).take_while(|other| other.row != row) {
        if earlier.when.is_empty() {
            let excuse = earlier.unless.first().ok_or("a row before it always holds")?;
            world.satisfy_condition(&mut draft, &mut wish, &row_path.path, excuse, world.depth())?;
        } else if earlier.when.iter().any(|condition| condition.tests.contains(&blocklint_models::Test::Absent(true)))
            && let blocklint_models::Subject::Argument(argument) = &earlier.when[0].subject
            && wish.arguments.get(argument).is_none()
            // The parts of the type are passed below.
            && !arguments_of(Some(returns)).contains(&argument)
        {
            wish.arguments.put(argument, "'x'", false);
        }
    }
    let mut tested = None;
    returns.visit(&mut |part| {
        let (TypeExpr::Result(inner) | TypeExpr::Yield(inner) | TypeExpr::Element(inner) | TypeExpr::Instance(inner)) =
            part
        else {
            return;
        };
        let TypeExpr::Argument(argument) = &**inner else { return };
        if wish.arguments.get(argument).is_some() {
            return;
        }
        draft.import("import probe");
        let text = match part {
            TypeExpr::Element(_) => draft.param(&format!("list[{ELEMENT}]")),
            TypeExpr::Instance(_) => ELEMENT.to_owned(),
            _ => draft.function(),
        };
        wish.arguments.put(argument, &text, false);
    });
    for argument in arguments_of(Some(returns)) {
        if let Some(given) = wish.arguments.get(argument) {
            // A condition has added the argument with its type.
            tested = Some(given.to_owned());
        } else {
            draft.import("import probe");
            let text = draft.param(ELEMENT);
            wish.arguments.put(argument, &text, false);
        }
    }
    let receiver = wish.receiver.clone().unwrap_or_else(|| owner.to_owned());
    let spelling = world.call(&mut draft, &row_path.path, row.property, &wish, world.depth())?;
    let text = match (spelling, row_path.path.rsplit('.').next()) {
        (Spelling::Expression(text), _) if row.is_async == Some(true) => format!("(await {text})"),
        (Spelling::Expression(text), _) => text,
        (Spelling::For(text), Some("__next__")) => {
            stated.expect(&draft, &text, returns, &receiver, Some("for item in"));
            return Ok(());
        }
        (Spelling::AsyncFor(text), Some("__anext__")) => {
            stated.expect(&draft, &text, returns, &receiver, Some("async for item in"));
            return Ok(());
        }
        (Spelling::For(text), Some("__iter__")) => {
            let TypeExpr::Path { arguments, .. } = returns else { return Err("an iterator of unknown elements") };
            let element = arguments.first().ok_or("an iterator of unknown elements")?;
            stated.expect(&draft, &text, element, &receiver, Some("for item in"));
            return Ok(());
        }
        _ => return Err("a statement has no value"),
    };
    // `$cm` of an argument with a condition on its type can be any of these types.
    if let (TypeExpr::Argument(_), Some(_)) = (returns, &tested) {
        let ty = row.when.iter().flat_map(|condition| &condition.tests).find_map(|test| match test {
            blocklint_models::Test::Type(row_path) => row_path.iter().find_map(|test| match test {
                blocklint_models::TypeTest::Type(ty) => ty.path(),
                blocklint_models::TypeTest::Tag(_) => None,
            }),
            _ => None,
        });
        if let Some(ty) = ty {
            stated.probe(draft, &text, ty, None);
            return Ok(());
        }
    }
    stated.expect(&draft, &text, returns, &receiver, None);
    Ok(())
}

fn state(stated: &mut Stated<'_>, row: &CallRow) -> Result<(), Reason> {
    let Some(state) = &row.state else { return Ok(()) };
    let (world, row_path) = (stated.world, stated.row_path);
    let mut draft = Draft::default();
    let mut wish = Wish::default();
    world.satisfy(&mut draft, &mut wish, &row_path.path, &row.when, world.depth())?;
    draft.import("import probe");
    let owner = row_path.path.rsplit_once('.').map_or("", |(owner, _)| owner);
    let gives =
        world.is_class(&row_path.path) || world.lang.calls(&row_path.path).iter().any(|row| row.returns.is_some());
    let subject = draft.name();
    if world.is_class(owner) && !gives {
        let class = world.name(&mut draft, owner)?;
        let arguments = draft.arguments(&wish.arguments);
        draft.line(format!("{subject} = {class}()"));
        draft.line(format!("{subject}.{}({arguments})", row_path.path.rsplit('.').next().unwrap_or_default()));
    } else {
        let made = world.call(&mut draft, &row_path.path, false, &wish, world.depth())?.expression()?;
        draft.line(format!("{subject} = {made}"));
    }
    let probe = stated.probes.of_state(state);
    draft.line(format!("{probe}({subject})"));
    let expected = Expected::Found { rule: "BLT101", severity: None, hold: None, call: probe };
    stated.uses.effect_uses.push(draft.finish(row_path, next(stated.number), expected));
    Ok(())
}

/// Adds a use that puts an element into a container and takes it out.
fn added(stated: &mut Stated<'_>, row: &CallRow) -> Result<(), Reason> {
    let Some(argument) = &row.adds else { return Ok(()) };
    let (world, row_path) = (stated.world, stated.row_path);
    let (owner, member) = row_path.path.rsplit_once('.').ok_or("a path of one segment")?;
    let mut draft = Draft::default();
    let class = world.name(&mut draft, owner)?;
    let container = draft.name();
    draft.import("import probe");
    let element = draft.param(ELEMENT);
    let mut wish = Wish::default();
    wish.arguments.put(argument, &element, false);
    let arguments = draft.arguments(&wish.arguments);
    let is_map = world.lang.ty(owner).is_some_and(|rows| rows.params().len() == 2);
    if owner.starts_with("typing.") {
        return Err("an abstract class is not made");
    }
    draft.line(format!("{container} = {class}()"));
    match member {
        "__setitem__" => draft.line(format!("{container}[0] = {element}")),
        _ => draft.line(format!("{container}.{member}({arguments})")),
    }
    match is_map {
        true => stated.probe(draft, &format!("{container}[0]"), ELEMENT, None),
        false => stated.probe(draft, &container, ELEMENT, Some("for item in")),
    }
    Ok(())
}

/// Returns uses that check the fields of a type.
pub(crate) fn of_type(
    world: &World<'_>,
    row_path: &RowPath,
    row: &TypeRow,
    probes: &mut Probes,
    number: &mut usize,
) -> Uses {
    let mut stated = Stated { world, row_path, probes, number, uses: Uses::default() };
    let mut draft = Draft::default();
    let parameters = parameters(world, &mut draft, &row_path.path);
    let value = match world.value(&mut draft, &row_path.path, parameters.as_deref(), world.depth()) {
        Ok(value) => value,
        Err(reason) => {
            stated.uses.skipped.push((row_path.clone(), reason));
            return stated.uses;
        }
    };
    for base in &row.bases {
        stated.expect(&draft, &value, base, &row_path.path, None);
    }
    for (field, ty) in &row.fields {
        stated.expect(&draft, &format!("{value}.{field}"), ty, &row_path.path, None);
    }
    let is_async = row_path.path.rsplit('.').next().is_some_and(|name| name.starts_with("Async"))
        || !world.lang.calls(&format!("{}.__aenter__", row_path.path)).is_empty()
        || !world.lang.calls(&format!("{}.__anext__", row_path.path)).is_empty()
        || row_path.path.contains(".Async")
        || row_path.path.contains("aclosing");
    if let Some(element) = &row.element {
        let head = if is_async { "async for item in" } else { "for item in" };
        stated.expect(&draft, &value, element, &row_path.path, Some(head));
    }
    if let Some(awaits) = &row.awaits {
        stated.expect(&draft, &format!("(await {value})"), awaits, &row_path.path, None);
    }
    if let Some(enters) = &row.enters {
        let mut draft = draft.clone();
        let name = draft.name();
        draft.open(format!("{}with {value} as {name}:", if is_async { "async " } else { "" }));
        stated.expect(&draft, &name, enters, &row_path.path, None);
    }
    if stated.uses.effect_uses.is_empty() {
        // The row has only a role, a tag or parameters, so the use only checks that the name is a type.
        stated.probe(draft, &value, &row_path.path, None);
    }
    stated.uses
}
