//! `blocklint ask`: answers questions of programs that rewrite Python about a linked project. Each question is one JSON
//! object and gets one JSON object as answer. All questions use one linker, so each costs only its own queries.
//! [docs/ask.md](../../../docs/ask.md) describes the objects.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use blocklint_analysis::{BodyRef, ClassRef, FileId, Linker, SourceFile};
use blocklint_core::{Language, Place, Refusal, Span};
use blocklint_facts::Expression;
use blocklint_mending::code_moved_with_call;
use blocklint_mending::rewriting::{Meaning, Means, Places, PossibleMeanings};
use blocklint_models::Models;
use blocklint_output::Sources;
use blocklint_project::Project;
use blocklint_python::Import;
use blocklint_rules::refusal_of_bound;
use camino::Utf8Path;
use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::analyse::with_linker;
use crate::sources::{line_span, locate_one, text_of};
use crate::{Failure, Options};

/// The version of questions and answers. It grows when one of them changes its meaning or is removed.
pub const ASK_VERSION: u32 = 1;

/// A question.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case", deny_unknown_fields)]
enum Question {
    /// The meaning of an expression.
    Meaning(Text),
    /// The meaning of a dotted path, such as `shop.models.Order`.
    Path { path: String },
    /// The functions that change together with one, and all uses of them.
    Function(Name),
    /// All uses of a class.
    Class(Name),
    /// The targets and uses of a variable or attribute.
    Variable(Text),
    /// All uses of a name of a library.
    Library { path: String },
    /// The reason why a call cannot move to another thread.
    Thread(Text),
    /// The spelling of a dotted path at a place of a file, and the import that it needs.
    Spelling { filename: String, location: Position, path: String },
    /// The text of a file with imports added.
    Imports { text: String, imports: Vec<AddedImport> },
}

/// The place of an expression, from its first to its last character.
#[derive(Clone, Debug, Deserialize)]
struct Text {
    filename: String,
    location: Position,
    end_location: Position,
}

/// The place of the name in a definition.
#[derive(Clone, Debug, Deserialize)]
struct Name {
    filename: String,
    location: Position,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct Position {
    row: u32,
    column: u32,
}

#[derive(Clone, Debug, Deserialize)]
struct AddedImport {
    module: String,
    name: Option<String>,
}

/// Answers questions until there are no more. `next` returns a question as JSON. `reply` gets first the versions and
/// files, then one answer for each question, in order.
///
/// # Errors
///
/// If the system starts no threads.
pub fn ask(
    project: &Project,
    models: &Models,
    options: Options,
    next: &mut (dyn FnMut() -> Option<String> + Send),
    reply: &mut (dyn FnMut(&Value) + Send),
) -> Result<(), Failure> {
    let mut is_greeted = false;
    // If the analysis panics at a question, the closure runs again without the function at fault, and repeats this
    // question.
    let mut pending: Option<String> = None;
    with_linker(project, models, options, |linker| {
        let answers = Answers::new(project, linker);
        if !std::mem::replace(&mut is_greeted, true) {
            reply(&answers.first_message());
        }
        while let Some(question) = pending.take().or_else(&mut *next) {
            pending = Some(question.clone());
            let answer = match serde_json::from_str(&question) {
                Ok(question) => answers.answer(question),
                Err(error) => Err(format!("no question: {error}")),
            };
            pending = None;
            reply(&answer.unwrap_or_else(|error| json!({ "error": error })));
        }
    })?;
    Ok(())
}

/// A linked project, with the texts and expressions of the files that questions have named.
struct Answers<'a, 'l> {
    project: &'a Project,
    linker: &'a Linker<'l>,
    slots: FxHashMap<&'a Utf8Path, FileId>,
    expressions: RefCell<FxHashMap<FileId, Rc<[Expression]>>>,
    texts: RefCell<FxHashMap<FileId, Arc<str>>>,
    sources: RefCell<Sources>,
}

/// An answer, or the reason why there is none.
type Answer = Result<Value, String>;

impl<'a, 'l> Answers<'a, 'l> {
    fn new(project: &'a Project, linker: &'a Linker<'l>) -> Self {
        let files = linker.program.files.iter().enumerate();
        Answers {
            project,
            linker,
            slots: files.map(|(slot, file)| (&*file.path, FileId(slot as u32))).collect(),
            expressions: RefCell::default(),
            texts: RefCell::default(),
            sources: RefCell::default(),
        }
    }

    fn first_message(&self) -> Value {
        let files = self.linker.program.files.iter();
        let python =
            files.filter(|file| file.facts.language == Language::Python && file.path.extension() == Some("py"));
        let file_json = |file: &SourceFile| {
            let slot = self.slots.get(&*file.path).copied();
            json!({
                "filename": file.path.as_str(),
                "module": slot.map(|slot| self.linker.module_name(slot)),
                "unread": !file.facts.problems.is_empty(),
            })
        };
        let files: Vec<Value> = python.map(file_json).collect();
        json!({ "version": ASK_VERSION, "blocklint": env!("CARGO_PKG_VERSION"), "files": files })
    }

    fn answer(&self, question: Question) -> Answer {
        let expressions = |file| self.expressions(file);
        let places = Places::new(self.linker, &expressions);
        match question {
            Question::Meaning(text) => {
                let (file, expression) = self.find_expression(&places, &text)?;
                Ok(self.meant_json(&places.meaning(file, &expression)))
            }
            Question::Path { path } => Ok(self.meant_json(&places.meaning_of_path(&path))),
            Question::Function(name) => {
                let file = self.file_id(&name.filename)?;
                let body = places
                    .function(file, self.name_span(file, name.location)?)
                    .ok_or("no function is defined at this place")?;
                Ok(self.function_json(&places, body))
            }
            Question::Class(name) => {
                let file = self.file_id(&name.filename)?;
                let class =
                    places.class(file, self.name_span(file, name.location)?).ok_or("no class is defined there")?;
                Ok(json!({ "uses": self.places_json(&places.uses_of_class(class)) }))
            }
            Question::Variable(text) => {
                let (file, expression) = self.find_expression(&places, &text)?;
                let variable = places.variable_uses(file, &expression);
                Ok(json!({
                    "known": variable.is_known,
                    "parameter": variable.is_parameter,
                    "targets": self.places_json(&variable.targets),
                    "uses": self.places_json(&variable.uses),
                    "unknown": self.places_json(&variable.unknown),
                }))
            }
            Question::Library { path } => Ok(json!({ "uses": self.places_json(&places.uses_of_library(&path)) })),
            Question::Thread(text) => {
                let file = self.file_id(&text.filename)?;
                let span = self.text_span(file, &text)?;
                let site = places.call(file, span).ok_or("no call is at this place")?;
                let bound = code_moved_with_call(self.linker, site).bound;
                Ok(json!({ "bound": bound.map(|bound| self.refusal_json(refusal_of_bound(&bound))) }))
            }
            Question::Spelling { filename, location, path } => {
                let file = self.file_id(&filename)?;
                let offset = self.byte_offset(file, location)?;
                let text = self.text(file)?;
                Ok(match blocklint_python::spell_path(&text, offset, &path) {
                    Ok(spelled) => json!({
                        "written": spelled.written,
                        "import": spelled.import.map(|import| json!({ "module": import.module, "name": import.name })),
                    }),
                    Err(refused) => json!({ "refused": refused.reason }),
                })
            }
            Question::Imports { text, imports } => {
                let imports = imports.into_iter().map(|import| Import { module: import.module, name: import.name });
                Ok(json!({ "text": blocklint_python::add_imports(&text, &imports.collect::<Vec<_>>()) }))
            }
        }
    }

    fn function_json(&self, places: &Places<'_, '_>, body: BodyRef) -> Value {
        let family_uses = places.function_uses(body);
        let family: Vec<Value> = family_uses.family.iter().map(|member| self.function_name_json(*member)).collect();
        let base =
            |(class, path): &(ClassRef, Option<String>)| json!({ "class": self.class_name_json(*class), "path": path });
        let bases: Vec<Value> = family_uses.bases.iter().map(base).collect();
        let means = |means| match means {
            Means::Family => "family",
            Means::Either => "either",
            Means::Unknown => "unknown",
        };
        let uses = family_uses.uses.iter().map(|family_use| {
            let mut place = self.place_json(family_use.file, family_use.expression.span);
            place["means"] = means(family_use.means).into();
            place["target"] = family_use.expression.is_target.into();
            place
        });
        let to_json = |exports: &[(FileId, Span)]| {
            exports.iter().map(|(file, span)| self.place_json(*file, *span)).collect::<Vec<_>>()
        };
        json!({
            "family": family,
            "bases": bases,
            "uses": uses.collect::<Vec<_>>(),
            "shown": to_json(&family_uses.exports),
            "class_shown": to_json(&family_uses.class_exports),
        })
    }

    fn meant_json(&self, meant: &PossibleMeanings) -> Value {
        let object = |key: &str, value: Value| json!({ "kind": "object", key: value });
        let meaning_json = |meaning: &Meaning| match meaning {
            Meaning::Function(body) => json!({ "kind": "function", "function": self.function_name_json(*body) }),
            Meaning::Class(class) => json!({ "kind": "class", "class": self.class_name_json(*class) }),
            Meaning::Module(file) => json!({
                "kind": "module",
                "filename": self.linker.program.files[file.index()].path.as_str(),
                "name": self.linker.module_name(*file),
            }),
            Meaning::Library(path) => json!({ "kind": "library", "path": path }),
            Meaning::Instance(class) => object("class", self.class_name_json(*class)),
            Meaning::LibraryInstance(path) => object("type", path.as_str().into()),
            Meaning::Nothing => json!({ "kind": "none" }),
            Meaning::Other => json!({ "kind": "other" }),
            Meaning::Unknown => json!({ "kind": "unknown" }),
        };
        json!({ "meanings": meant.meanings.iter().map(meaning_json).collect::<Vec<_>>(), "sure": meant.is_sure })
    }

    fn refusal_json(&self, refusal: Refusal) -> Value {
        let mut answer = json!({ "reason": refusal.reason });
        if let Some(mut place) = refusal.place {
            locate_one(self.project, &mut place, &mut self.sources.borrow_mut());
            answer["filename"] = place.path.as_str().into();
            answer["location"] = json!({ "row": place.start.row, "column": place.start.column });
        }
        answer
    }

    fn function_name_json(&self, body: BodyRef) -> Value {
        self.place_json(body.file, self.linker.program.body(body).name_span)
    }

    fn class_name_json(&self, class: ClassRef) -> Value {
        self.place_json(class.file, self.linker.program.class(class).name_span)
    }

    fn places_json(&self, places: &[(FileId, Expression)]) -> Vec<Value> {
        places.iter().map(|(file, expression)| self.place_json(*file, expression.span)).collect()
    }

    fn place_json(&self, file: FileId, span: Span) -> Value {
        let mut place = Place::unlocated(Arc::clone(&self.linker.program.files[file.index()].path), span);
        locate_one(self.project, &mut place, &mut self.sources.borrow_mut());
        json!({
            "filename": place.path.as_str(),
            "location": { "row": place.start.row, "column": place.start.column },
            "end_location": { "row": place.end.row, "column": place.end.column },
        })
    }

    fn file_id(&self, name: &str) -> Result<FileId, String> {
        self.slots.get(Utf8Path::new(name)).copied().ok_or_else(|| format!("{name} is not a file of the project"))
    }

    fn find_expression(&self, places: &Places<'_, '_>, text: &Text) -> Result<(FileId, Expression), String> {
        let file = self.file_id(&text.filename)?;
        let expression = places.expression(file, self.text_span(file, text)?);
        Ok((file, expression.ok_or("no expression is at this place")?))
    }

    fn text_span(&self, file: FileId, text: &Text) -> Result<Span, String> {
        Ok(Span::new(self.byte_offset(file, text.location)?, self.byte_offset(file, text.end_location)?))
    }

    fn name_span(&self, file: FileId, position: Position) -> Result<Span, String> {
        let start = self.byte_offset(file, position)?;
        Ok(Span::new(start, start))
    }

    fn byte_offset(&self, file: FileId, position: Position) -> Result<u32, String> {
        let text = self.text(file)?;
        let line = line_span(&text, position.row).ok_or("the file has no such line")?;
        let written = text.get(line.start as usize..line.end as usize).unwrap_or_default();
        let byte_order_mark =
            if position.row == 1 { written.len() - written.trim_start_matches('\u{feff}').len() } else { 0 };
        let before: usize = written[byte_order_mark..]
            .chars()
            .take(position.column.saturating_sub(1) as usize)
            .map(char::len_utf8)
            .sum();
        Ok(line.start + (byte_order_mark + before) as u32)
    }

    fn text(&self, file: FileId) -> Result<Arc<str>, String> {
        if let Some(text) = self.texts.borrow().get(&file) {
            return Ok(Arc::clone(text));
        }
        let path = &self.linker.program.files[file.index()].path;
        let (text, _) = text_of(self.project, path).ok_or("the file cannot be read")?;
        self.texts.borrow_mut().insert(file, Arc::clone(&text));
        Ok(text)
    }

    /// Returns the expressions of a Python file; none if the file has changed since it was linked, or is a notebook.
    fn expressions(&self, file: FileId) -> Rc<[Expression]> {
        if let Some(cached) = self.expressions.borrow().get(&file) {
            return Rc::clone(cached);
        }
        let linked = &self.linker.program.files[file.index()];
        let source = self.project.file_at(&linked.path).filter(|source| !source.is_notebook());
        let bytes = source.and_then(|source| source.read(self.project.configuration.max_file_size).ok());
        let read = bytes
            .filter(|_| linked.facts.language == Language::Python)
            .map(|bytes| blocklint_python::extract_expressions(&bytes));
        let unchanged = read.filter(|(facts, _)| facts.content_hash == linked.facts.content_hash);
        let expressions: Rc<[Expression]> = unchanged.map(|(_, expressions)| expressions).unwrap_or_default().into();
        self.expressions.borrow_mut().insert(file, Rc::clone(&expressions));
        expressions
    }
}
