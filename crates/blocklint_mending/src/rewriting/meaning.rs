//! The meaning of an expression or of a dotted path: a function, class or module of the project, a name of a library,
//! or an object.

use blocklint_facts::{At, BodyId, Expression};
use blocklint_link::classes::hierarchy::Ancestor;
use blocklint_link::linker::{LOW_STEPS, Linker, Typed};
use blocklint_link::program::ids::{BodyRef, ClassRef, FileId, Name};
use blocklint_link::values::expr::Scope;
use blocklint_link::values::value::{EnvId, Val};

use super::Places;

/// A possible meaning of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A function or method of the project.
    Function(BodyRef),
    /// A class of the project.
    Class(ClassRef),
    /// A module of the project.
    Module(FileId),
    /// A module, class, function or method of a library.
    Library(String),
    /// An object of a class of the project.
    Instance(ClassRef),
    /// An object of a type of a library.
    LibraryInstance(String),
    /// `None`.
    Nothing,
    /// A value of another kind.
    Other,
    /// The meaning is unknown.
    Unknown,
}

/// All possible meanings of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PossibleMeanings {
    /// The alternatives.
    pub meanings: Vec<Meaning>,
    /// False if the linker guessed.
    pub is_sure: bool,
}

impl Places<'_, '_> {
    /// Returns the meaning of an expression at its place.
    pub fn meaning(&self, file: FileId, expression: &Expression) -> PossibleMeanings {
        to_possible_meanings(self.linker, self.linker.eval(Self::scope(file, expression), expression.form))
    }

    /// Returns the meaning of a dotted path: a module, or a name that is defined or imported in one.
    pub fn meaning_of_path(&self, path: &str) -> PossibleMeanings {
        let linker = self.linker;
        let parts: Vec<&str> = path.split('.').collect();
        let files = || (0..linker.program.files.len() as u32).map(FileId);
        for length in (1..=parts.len()).rev() {
            let module = parts[..length].join(".");
            let is_module = |file: &FileId| {
                linker.program.language(*file) == blocklint_core::Language::Python
                    && linker.module_name(*file) == module
            };
            if let Some(file) = files().find(is_module) {
                let mut value = PossibleMeanings { meanings: vec![Meaning::Module(file)], is_sure: true };
                for part in &parts[length..] {
                    let Some(name) = linker.program.name(part) else { return unknown() };
                    value = match *value.meanings.as_slice() {
                        [Meaning::Module(file)] => self.meaning_in_module(file, name),
                        [Meaning::Class(class)] => self.member_of_class(class, name),
                        _ => return unknown(),
                    };
                }
                return value;
            }
        }
        unknown()
    }

    /// Returns the meaning of a name at the top level of a module.
    pub(super) fn meaning_in_module(&self, file: FileId, name: Name) -> PossibleMeanings {
        let Some(var) = self.linker.program.scope_var(file, BodyId(0), name) else { return unknown() };
        to_possible_meanings(self.linker, self.linker.var(Scope { file, at: At::default(), env: EnvId::NONE }, var))
    }

    fn member_of_class(&self, class: ClassRef, name: Name) -> PossibleMeanings {
        let method = self.linker.mro(class).iter().find_map(|ancestor| match *ancestor {
            Ancestor::Class(ancestor_class) => {
                let (holder, var) = self.linker.own_member(ancestor_class, name)?;
                self.linker.functions_of(holder, var).last().copied()
            }
            Ancestor::Library(..) | Ancestor::Unknown => None,
        });
        method.map_or_else(unknown, |body| PossibleMeanings { meanings: vec![Meaning::Function(body)], is_sure: true })
    }

    /// Returns the places in the project that mention a name of a library.
    pub fn uses_of_library(&self, path: &str) -> Vec<(FileId, Expression)> {
        let Some(name) = path.rsplit('.').next().and_then(|last| self.linker.program.name(last)) else {
            return Vec::new();
        };
        let names_library = |(file, expression): &(FileId, Expression)| {
            let meanings = self.meaning(*file, expression).meanings;
            !expression.is_target && matches!(&meanings[..], [Meaning::Library(found)] if found == path)
        };
        self.expressions_named(&self.linker.with_aliases(name)).into_iter().filter(names_library).collect()
    }

    /// Returns the places in the project that mention a class.
    pub fn uses_of_class(&self, class: ClassRef) -> Vec<(FileId, Expression)> {
        let names_class = |(file, expression): &(FileId, Expression)| {
            !expression.is_target && self.meaning(*file, expression).meanings == [Meaning::Class(class)]
        };
        self.expressions_named(&self.linker.class_names(class)).into_iter().filter(names_class).collect()
    }
}

fn unknown() -> PossibleMeanings {
    PossibleMeanings { meanings: vec![Meaning::Unknown], is_sure: true }
}

fn to_possible_meanings(linker: &Linker<'_>, typed: Typed) -> PossibleMeanings {
    let text = |path| linker.library.text(path).to_string();
    let meaning = |val: &Val| match *val {
        Val::Unknown(_) => Meaning::Unknown,
        Val::None => Meaning::Nothing,
        Val::Instance { class, .. } => Meaning::Instance(class),
        Val::Library { ty, .. } => Meaning::LibraryInstance(text(ty)),
        Val::Class(class) => Meaning::Class(class),
        Val::Module(file) => Meaning::Module(file),
        Val::External(path) | Val::Method { path, .. } => Meaning::Library(text(path)),
        Val::Fn { body, .. } => Meaning::Function(body),
        _ => Meaning::Other,
    };
    let mut meanings: Vec<Meaning> = Vec::new();
    for member in linker.values.members(typed.value).iter().map(meaning) {
        if !meanings.contains(&member) {
            meanings.push(member);
        }
    }
    PossibleMeanings { meanings, is_sure: typed.inferred_steps < LOW_STEPS }
}
