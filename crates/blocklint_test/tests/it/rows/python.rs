//! Generated Python source that uses a path: with imports, a receiver, and arguments.

use blocklint_models::{
    Argument, CallRow, Condition, File, LanguageModels, Source, Subject, Test, TypeExpr, TypeRow, TypeTest,
};

use super::draft::{Arguments, Draft, Reason, literal};

/// The Python rows by path, to find functions that return needed types.
pub(crate) struct World<'m> {
    /// The models, for lookups as the linker makes them.
    pub lang: &'m LanguageModels,
    calls: Vec<(&'m str, &'m CallRow)>,
    types: Vec<(&'m str, &'m TypeRow)>,
}

/// The syntax in which a path is used.
#[derive(Clone, Debug)]
pub(crate) enum Spelling {
    /// An expression.
    Expression(String),
    /// The expression of `with ...:`.
    With(String),
    /// The expression of `async with ...:`.
    AsyncWith(String),
    /// The iterated expression.
    For(String),
    /// The expression that `async for` iterates.
    AsyncFor(String),
}

impl Spelling {
    /// Returns the use as a statement of one line.
    pub(crate) fn statement(&self) -> String {
        match self {
            Spelling::Expression(text) => text.clone(),
            Spelling::With(text) => format!("with {text}: pass"),
            Spelling::AsyncWith(text) => format!("async with {text}: pass"),
            Spelling::For(text) => format!("for _ in {text}: pass"),
            Spelling::AsyncFor(text) => format!("async for _ in {text}: pass"),
        }
    }

    /// Returns the use as an expression.
    pub(crate) fn expression(self) -> Result<String, Reason> {
        match self {
            Spelling::Expression(text) => Ok(text),
            _ => Err("a statement has no value"),
        }
    }
}

/// The parts of a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wish {
    /// The arguments.
    pub arguments: Arguments,
    /// The receiver's type, if it differs from the type in the path.
    pub receiver: Option<String>,
    /// The state of the receiver.
    pub state: Option<String>,
    /// The type arguments of the receiver.
    pub type_arguments: Option<String>,
}

const DEPTH: usize = 4;

/// Objects of modules that have rows for their methods.
const OBJECTS: [&str; 2] = ["sys.stdin", "sys.stdin.buffer"];

impl<'m> World<'m> {
    /// Collects the rows of these files.
    pub(crate) fn new(lang: &'m LanguageModels, files: &[&'m File]) -> Self {
        let mut world = World { lang, calls: Vec::new(), types: Vec::new() };
        for file in files {
            for entry in &file.calls {
                world.calls.extend(entry.paths.iter().map(|path| (path.text.as_str(), &entry.row)));
            }
            for entry in &file.types {
                world.types.extend(entry.paths.iter().map(|path| (path.text.as_str(), &entry.row)));
            }
        }
        world
    }

    /// True if a path is a class: lower-case classes of Python by name, others by their capital letter.
    pub(crate) fn is_class(&self, path: &str) -> bool {
        let last = path.rsplit('.').next().unwrap_or(path);
        let is_module = path == "xml.etree.ElementTree";
        let has_row = self.types.iter().any(|(row_path, _)| *row_path == path);
        let lower = path == "socket.socket" || path.strip_prefix("builtins.").is_some_and(|name| !name.contains('.'));
        !is_module && (has_row || lower || last.starts_with('<') || last.starts_with(char::is_uppercase))
    }

    /// Returns the path as source and imports its module. Synthetic names have no spelling.
    pub(crate) fn name(&self, draft: &mut Draft, path: &str) -> Result<String, Reason> {
        if path.contains('<') {
            return Err("a synthetic type has no name");
        }
        if let Some(name) = path.strip_prefix("builtins.") {
            return Ok(name.to_owned());
        }
        let parts: Vec<&str> = path.split('.').collect();
        let class = (1..parts.len()).find(|end| self.is_class(&parts[..=*end].join(".")));
        let module = parts[..class.unwrap_or(parts.len() - 1)].join(".");
        if !module.is_empty() {
            draft.import(format!("import {module}"));
        }
        Ok(path.to_owned())
    }

    /// Returns an expression of a type.
    pub(crate) fn value(
        &self,
        draft: &mut Draft,
        ty: &str,
        element: Option<&str>,
        depth: usize,
    ) -> Result<String, Reason> {
        if let Ok(name) = self.name(draft, ty) {
            let annotation = element.map_or_else(|| name.clone(), |element| format!("{name}[{element}]"));
            return Ok(draft.param(&annotation));
        }
        let depth = depth.checked_sub(1).ok_or("a synthetic type that nothing gives")?;
        let gives = |given: &Option<TypeExpr>| matches!(given, Some(TypeExpr::Path { path, .. }) if path == ty);
        for (path, row) in self.calls.iter().filter(|(_, row)| gives(&row.returns)) {
            let mut trial = draft.clone();
            let mut wish = Wish::default();
            if self.satisfy(&mut trial, &mut wish, path, &row.when, depth).is_err() {
                continue;
            }
            // The element type comes from the arguments.
            for argument in arguments_of(row.returns.as_ref()) {
                let text = match element {
                    Some(element) => self.value(&mut trial, element, None, depth)?,
                    None => trial.function(),
                };
                wish.arguments.put(argument, &text, false);
            }
            let Ok(Spelling::Expression(text)) = self.call(&mut trial, path, row.property, &wish, depth) else {
                continue;
            };
            *draft = trial;
            return Ok(if row.is_async == Some(true) { format!("(await {text})") } else { text });
        }
        for (holder, row) in &self.types {
            if gives(&row.enters) {
                let inner = self.value(draft, holder, element, depth)?;
                let name = draft.name();
                draft.open(format!("with {inner} as {name}:"));
                return Ok(name);
            }
            if let Some((field, _)) = row.fields.iter().find(|(_, element)| gives(&Some(element.clone()))) {
                return Ok(format!("{}.{field}", self.value(draft, holder, element, depth)?));
            }
        }
        Err("a synthetic type that nothing gives")
    }

    /// Returns a use of the path with the receiver and arguments of `wish`.
    pub(crate) fn call(
        &self,
        draft: &mut Draft,
        path: &str,
        property: bool,
        wish: &Wish,
        depth: usize,
    ) -> Result<Spelling, Reason> {
        // Any name matches a glob.
        let path = sample(path);
        let (owner, member) = path.rsplit_once('.').ok_or("a path of one segment")?;
        if OBJECTS.contains(&owner) {
            draft.import(format!("import {}", owner.split('.').next().unwrap_or(owner)));
        } else if !self.is_class(owner) || self.is_class(&path) && !path.contains('<') {
            let name = self.name(draft, &path)?;
            let arguments = draft.arguments(&wish.arguments);
            return Ok(Spelling::Expression(format!("{name}({arguments})")));
        }
        let receiver = match &wish.state {
            _ if OBJECTS.contains(&owner) => owner.to_owned(),
            Some(state) => self.in_state(draft, wish.receiver.as_deref().unwrap_or(owner), state, depth)?,
            None => {
                self.value(draft, wish.receiver.as_deref().unwrap_or(owner), wish.type_arguments.as_deref(), depth)?
            }
        };
        let arguments = draft.arguments(&wish.arguments);
        let first = wish.arguments.get(&Argument::Position(0)).unwrap_or("0").to_owned();
        Ok(match member {
            _ if property => Spelling::Expression(format!("{receiver}.{member}")),
            "__enter__" | "__exit__" => Spelling::With(receiver),
            "__aenter__" | "__aexit__" => Spelling::AsyncWith(receiver),
            "__iter__" | "__next__" => Spelling::For(receiver),
            "__aiter__" | "__anext__" => Spelling::AsyncFor(receiver),
            "__getitem__" => Spelling::Expression(format!("{receiver}[{first}]")),
            "__setitem__" => {
                let value = wish.arguments.get(&Argument::Position(1)).unwrap_or("0");
                Spelling::Expression(format!("{receiver}[0] = {value}"))
            }
            "__truediv__" => Spelling::Expression(format!("({receiver} / {first})")),
            "__rtruediv__" => Spelling::Expression(format!("({first} / {receiver})")),
            "__call__" => Spelling::Expression(format!("{receiver}({arguments})")),
            _ => Spelling::Expression(format!("{receiver}.{member}({arguments})")),
        })
    }

    /// Returns a name whose value is in a state.
    fn in_state(&self, draft: &mut Draft, ty: &str, state: &str, depth: usize) -> Result<String, Reason> {
        let depth = depth.checked_sub(1).ok_or("a state that nothing gives")?;
        for (path, row) in self.calls.iter().filter(|(_, row)| row.state.as_deref() == Some(state)) {
            let mut trial = draft.clone();
            let mut wish = Wish::default();
            if self.satisfy(&mut trial, &mut wish, path, &row.when, depth).is_err() {
                continue;
            }
            let owner = path.rsplit_once('.').map_or("", |(owner, _)| owner);
            let name = trial.name();
            if *path == ty || self.lang.calls(path).iter().any(|row| gives_type(row.row, ty)) {
                let Ok(Spelling::Expression(made)) = self.call(&mut trial, path, false, &wish, depth) else { continue };
                trial.line(format!("{name} = {made}"));
            } else if owner == ty {
                let made = self.name(&mut trial, ty)?;
                let arguments = trial.arguments(&wish.arguments);
                trial.line(format!("{name} = {made}()"));
                trial.line(format!("{name}.{}({arguments})", path.rsplit('.').next().unwrap_or(path)));
            } else {
                continue;
            }
            *draft = trial;
            return Ok(name);
        }
        Err("a state that nothing gives")
    }

    /// Adds arguments so that all conditions are met.
    pub(crate) fn satisfy(
        &self,
        draft: &mut Draft,
        wish: &mut Wish,
        path: &str,
        conditions: &[Condition],
        depth: usize,
    ) -> Result<(), Reason> {
        conditions.iter().try_for_each(|condition| self.satisfy_condition(draft, wish, path, condition, depth))
    }

    /// Adds arguments so that a condition is met.
    pub(crate) fn satisfy_condition(
        &self,
        draft: &mut Draft,
        wish: &mut Wish,
        path: &str,
        condition: &Condition,
        depth: usize,
    ) -> Result<(), Reason> {
        let argument = match &condition.subject {
            Subject::Argument(argument) => argument,
            Subject::Context(row_path) if row_path.contains(&blocklint_core::Context::EventLoop) => return Ok(()),
            Subject::Context(_) | Subject::Runtime(_) => return Err("another context than the event loop"),
            Subject::Switch(_) | Subject::Library(_) => return Err("dependencies are not read yet"),
        };
        for test in &condition.tests {
            let text = match test {
                Test::Equals(row_path) => literal(row_path.first().ok_or("no literal")?),
                Test::Contains(text) => format!("{text:?}"),
                Test::ShortSql => r#""select 1""#.to_owned(),
                Test::Symbol(row_path) => self.name(draft, row_path.first().ok_or("no symbol")?)?,
                Test::Null(true) => "None".to_owned(),
                Test::Absent(true) => continue,
                Test::Null(false) | Test::Absent(false) | Test::Literal(true) => "2.5".to_owned(),
                Test::Less(bound) => format!("{:?}", bound - 1.0),
                Test::Greater(bound) => format!("{:?}", bound + 1.0),
                Test::Type(row_path) => {
                    let first = row_path.iter().find_map(|test| match test {
                        TypeTest::Type(TypeExpr::Path { path, .. }) => Some(path.as_str()),
                        TypeTest::Tag(tag) => {
                            self.types.iter().find(|(_, row)| row.tags.contains(tag)).map(|(path, _)| *path)
                        }
                        TypeTest::Type(_) => None,
                    });
                    let first = first.ok_or("a type test without a path")?;
                    if *argument == Argument::Receiver {
                        // For a wrapper the wrapped value must have the type.
                        let owner = path.rsplit_once('.').map_or("", |(owner, _)| owner);
                        let is_wrapper = self.types(owner).any(|row| row.through.is_some());
                        *(if is_wrapper { &mut wish.type_arguments } else { &mut wish.receiver }) =
                            Some(first.to_owned());
                        continue;
                    }
                    self.value(draft, first, None, depth)?
                }
                Test::State(state) => {
                    if *argument != Argument::Receiver {
                        return Err("the state of an argument");
                    }
                    wish.state = Some(state.clone());
                    continue;
                }
                Test::Literal(false) => return Err("no literal"),
                // The body of a request is data from outside without a limit.
                Test::From(sources) if !sources.contains(&Source::Request) => return Err("no bytes of a request"),
                Test::From(_) | Test::Unbounded => {
                    if matches!(test, Test::From(_)) && condition.tests.contains(&Test::Unbounded) {
                        continue;
                    }
                    draft.import("import starlette.requests");
                    let request = draft.param("starlette.requests.Request");
                    let bytes = draft.name();
                    draft.line(format!("{bytes} = await {request}.body()"));
                    bytes
                }
                Test::Unseen => return Err("a parameter whose argument no caller shows"),
                Test::Version(_) | Test::Feature(_) => return Err("dependencies are not read yet"),
            };
            wish.arguments.put(argument, &text, false);
        }
        Ok(())
    }

    /// Returns the maximum depth of nested values of synthetic types.
    pub(crate) fn depth(&self) -> usize {
        DEPTH
    }

    /// True if values of this type are locks.
    pub(crate) fn is_lock(&self, ty: &str) -> bool {
        self.types.iter().filter(|(row_path, _)| *row_path == ty).any(|(_, row)| {
            row.role.is_some_and(blocklint_models::Role::is_lock)
                || row.bases.iter().filter_map(TypeExpr::path).any(|base| self.is_lock(base))
        })
    }

    /// Returns the rows of a type.
    pub(crate) fn types<'a>(&'a self, ty: &'a str) -> impl Iterator<Item = &'m TypeRow> + 'a {
        self.types.iter().filter(move |(row_path, _)| *row_path == ty).map(|(_, row)| *row)
    }
}

fn gives_type(row: &CallRow, ty: &str) -> bool {
    matches!(&row.returns, Some(TypeExpr::Path { path, .. }) if path == ty)
}

/// Returns a path with a name in place of each glob.
pub(crate) fn sample(path: &str) -> String {
    path.replace("**", "sample").replace("[a-z]*", "sample").replace("[A-Z]*", "Sample").replace('*', "sample")
}

/// Returns the arguments in a type expression.
pub(crate) fn arguments_of(ty: Option<&TypeExpr>) -> Vec<&Argument> {
    let mut arguments = Vec::new();
    if let Some(ty) = ty {
        ty.visit(&mut |part| {
            if let TypeExpr::Argument(argument) = part {
                arguments.push(argument);
            }
        });
    }
    arguments
}
