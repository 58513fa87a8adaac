//! Answers about a linked project for programs that rewrite Python: one JSON object a question, one an answer. The linker stays, so a
//! question costs what it asks for alone. [docs/ask.md](../../../docs/ask.md) describes the objects.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use blocklint_analysis::{BodyRef, ClassRef, FileId, Linker, SourceFile};
use blocklint_core::{Language, Place, Refusal, Span};
use blocklint_facts::Expression;
use blocklint_mending::moved_with;
use blocklint_mending::rewriting::{Meaning, Means, Meant, Places};
use blocklint_models::Models;
use blocklint_output::Sources;
use blocklint_project::Project;
use blocklint_python::Import;
use blocklint_rules::refusal;
use camino::Utf8Path;
use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::analyse::with_linker;
use crate::sources::{line_span, locate_one, text_of};
use crate::{Failure, Options};

/// The version of questions and answers; it grows when one of them changes its meaning or goes.
pub const ASK_VERSION: u32 = 1;

/// A question.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case", deny_unknown_fields)]
enum Question {
    /// The meaning of an expression.
    Meaning(Text),
    /// The meaning of a dotted name of the project.
    Path { path: String },
    /// The functions that change together with one, and all uses of them.
    Function(Name),
    /// All uses of a class.
    Class(Name),
    /// The targets and uses of a variable or attribute.
    Variable(Text),
    /// All uses of a name of a library.
    Library { path: String },
    /// The reason why a call belongs to its thread.
    Thread(Text),
    /// How a file writes a path at a place.
    Spelling { filename: String, location: At, path: String },
    /// A text with imports added.
    Imports { text: String, imports: Vec<Added> },
}

/// The text of an expression.
#[derive(Clone, Debug, Deserialize)]
struct Text {
    filename: String,
    location: At,
    end_location: At,
}

/// The name in a definition.
#[derive(Clone, Debug, Deserialize)]
struct Name {
    filename: String,
    location: At,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct At {
    row: u32,
    column: u32,
}

#[derive(Clone, Debug, Deserialize)]
struct Added {
    module: String,
    name: Option<String>,
}

/// Answers questions until there are no more. `next` returns one as JSON, and `tell` gets first the versions and files, then one answer
/// for each question, in order.
///
/// # Errors
///
/// Where the system gives no threads.
pub fn ask(
    project: &Project,
    models: &Models,
    options: Options,
    next: &mut (dyn FnMut() -> Option<String> + Send),
    tell: &mut (dyn FnMut(&Value) + Send),
) -> Result<(), Failure> {
    let mut is_greeted = false;
    // A question that meets a mistake of the analysis is asked again without the function at fault.
    let mut pending: Option<String> = None;
    with_linker(project, models, options, |linker| {
        let answers = Answers::new(project, linker);
        if !std::mem::replace(&mut is_greeted, true) {
            tell(&answers.greeting());
        }
        while let Some(question) = pending.take().or_else(&mut *next) {
            pending = Some(question.clone());
            let answer = match serde_json::from_str(&question) {
                Ok(question) => answers.answer(question),
                Err(error) => Err(format!("no question: {error}")),
            };
            pending = None;
            tell(&answer.unwrap_or_else(|error| json!({ "error": error })));
        }
    })?;
    Ok(())
}

/// A linked project, with what was read of its files for questions.
struct Answers<'a, 'l> {
    project: &'a Project,
    linker: &'a Linker<'l>,
    slots: FxHashMap<&'a Utf8Path, FileId>,
    expressions: RefCell<FxHashMap<FileId, Rc<[Expression]>>>,
    texts: RefCell<FxHashMap<FileId, Arc<str>>>,
    sources: RefCell<Sources>,
}

/// An answer, or why there is none.
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

    fn greeting(&self) -> Value {
        let files = self.linker.program.files.iter();
        let python =
            files.filter(|file| file.facts.language == Language::Python && file.path.extension() == Some("py"));
        let file = |of: &SourceFile| {
            let slot = self.slots.get(&*of.path).copied();
            json!({
                "filename": of.path.as_str(),
                "module": slot.map(|slot| self.linker.module_name(slot)),
                "unread": !of.facts.problems.is_empty(),
            })
        };
        let files: Vec<Value> = python.map(file).collect();
        json!({ "version": ASK_VERSION, "blocklint": env!("CARGO_PKG_VERSION"), "files": files })
    }

    fn answer(&self, question: Question) -> Answer {
        let expressions = |file| self.expressions(file);
        let places = Places::new(self.linker, &expressions);
        match question {
            Question::Meaning(text) => {
                let (file, expression) = self.expression(&places, &text)?;
                Ok(self.meant(&places.meaning(file, &expression)))
            }
            Question::Path { path } => Ok(self.meant(&places.meaning_of_path(&path))),
            Question::Function(name) => {
                let file = self.file(&name.filename)?;
                let body =
                    places.function(file, self.name(file, name.location)?).ok_or("no function is defined there")?;
                Ok(self.function(&places, body))
            }
            Question::Class(name) => {
                let file = self.file(&name.filename)?;
                let class = places.class(file, self.name(file, name.location)?).ok_or("no class is defined there")?;
                Ok(json!({ "uses": self.all(&places.uses_of_class(class)) }))
            }
            Question::Variable(text) => {
                let (file, expression) = self.expression(&places, &text)?;
                let found = places.variable_uses(file, &expression);
                Ok(json!({
                    "known": found.is_known,
                    "parameter": found.is_parameter,
                    "targets": self.all(&found.targets),
                    "uses": self.all(&found.uses),
                    "unknown": self.all(&found.unknown),
                }))
            }
            Question::Library { path } => Ok(json!({ "uses": self.all(&places.uses_of_library(&path)) })),
            Question::Thread(text) => {
                let file = self.file(&text.filename)?;
                let span = self.span(file, &text)?;
                let site = places.call(file, span).ok_or("no call stands there")?;
                let bound = moved_with(self.linker, site).bound;
                Ok(json!({ "bound": bound.map(|bound| self.refusal(refusal(&bound))) }))
            }
            Question::Spelling { filename, location, path } => {
                let file = self.file(&filename)?;
                let offset = self.offset(file, location)?;
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
                let imports = imports.into_iter().map(|of| Import { module: of.module, name: of.name });
                Ok(json!({ "text": blocklint_python::add_imports(&text, &imports.collect::<Vec<_>>()) }))
            }
        }
    }

    fn function(&self, places: &Places<'_, '_>, body: BodyRef) -> Value {
        let found = places.function_uses(body);
        let family: Vec<Value> = found.family.iter().map(|of| self.function_place(*of)).collect();
        let base =
            |(class, path): &(ClassRef, Option<String>)| json!({ "class": self.class_place(*class), "path": path });
        let bases: Vec<Value> = found.bases.iter().map(base).collect();
        let means = |means| match means {
            Means::Family => "family",
            Means::Either => "either",
            Means::Unknown => "unknown",
        };
        let uses = found.uses.iter().map(|one| {
            let mut place = self.place(one.file, one.expression.span);
            place["means"] = means(one.means).into();
            place["target"] = one.expression.is_target.into();
            place
        });
        let shown = |of: &[(FileId, Span)]| of.iter().map(|(file, span)| self.place(*file, *span)).collect::<Vec<_>>();
        json!({
            "family": family,
            "bases": bases,
            "uses": uses.collect::<Vec<_>>(),
            "shown": shown(&found.shown),
            "class_shown": shown(&found.class_shown),
        })
    }

    fn meant(&self, meant: &Meant) -> Value {
        let object = |key: &str, value: Value| json!({ "kind": "object", key: value });
        let one = |meaning: &Meaning| match meaning {
            Meaning::Function(body) => json!({ "kind": "function", "function": self.function_place(*body) }),
            Meaning::Class(class) => json!({ "kind": "class", "class": self.class_place(*class) }),
            Meaning::Module(file) => json!({
                "kind": "module",
                "filename": self.linker.program.files[file.index()].path.as_str(),
                "name": self.linker.module_name(*file),
            }),
            Meaning::Library(path) => json!({ "kind": "library", "path": path }),
            Meaning::Instance(class) => object("class", self.class_place(*class)),
            Meaning::LibraryInstance(path) => object("type", path.as_str().into()),
            Meaning::Nothing => json!({ "kind": "none" }),
            Meaning::Other => json!({ "kind": "other" }),
            Meaning::Unknown => json!({ "kind": "unknown" }),
        };
        json!({ "meanings": meant.meanings.iter().map(one).collect::<Vec<_>>(), "sure": meant.is_sure })
    }

    fn refusal(&self, refusal: Refusal) -> Value {
        let mut said = json!({ "reason": refusal.reason });
        if let Some(mut place) = refusal.place {
            locate_one(self.project, &mut place, &mut self.sources.borrow_mut());
            said["filename"] = place.path.as_str().into();
            said["location"] = json!({ "row": place.start.row, "column": place.start.column });
        }
        said
    }

    fn function_place(&self, body: BodyRef) -> Value {
        self.place(body.file, self.linker.program.body(body).name_span)
    }

    fn class_place(&self, class: ClassRef) -> Value {
        self.place(class.file, self.linker.program.class(class).name_span)
    }

    fn all(&self, places: &[(FileId, Expression)]) -> Vec<Value> {
        places.iter().map(|(file, expression)| self.place(*file, expression.span)).collect()
    }

    fn place(&self, file: FileId, span: Span) -> Value {
        let mut place = Place::unlocated(Arc::clone(&self.linker.program.files[file.index()].path), span);
        locate_one(self.project, &mut place, &mut self.sources.borrow_mut());
        json!({
            "filename": place.path.as_str(),
            "location": { "row": place.start.row, "column": place.start.column },
            "end_location": { "row": place.end.row, "column": place.end.column },
        })
    }

    fn file(&self, name: &str) -> Result<FileId, String> {
        self.slots.get(Utf8Path::new(name)).copied().ok_or_else(|| format!("{name} is no file of the project"))
    }

    fn expression(&self, places: &Places<'_, '_>, text: &Text) -> Result<(FileId, Expression), String> {
        let file = self.file(&text.filename)?;
        let expression = places.expression(file, self.span(file, text)?);
        Ok((file, expression.ok_or("no expression stands there")?))
    }

    fn span(&self, file: FileId, text: &Text) -> Result<Span, String> {
        Ok(Span::new(self.offset(file, text.location)?, self.offset(file, text.end_location)?))
    }

    fn name(&self, file: FileId, at: At) -> Result<Span, String> {
        let start = self.offset(file, at)?;
        Ok(Span::new(start, start))
    }

    fn offset(&self, file: FileId, at: At) -> Result<u32, String> {
        let text = self.text(file)?;
        let line = line_span(&text, at.row).ok_or("the file has no such line")?;
        let written = text.get(line.start as usize..line.end as usize).unwrap_or_default();
        let mark = if at.row == 1 { written.len() - written.trim_start_matches('\u{feff}').len() } else { 0 };
        let before: usize =
            written[mark..].chars().take(at.column.saturating_sub(1) as usize).map(char::len_utf8).sum();
        Ok(line.start + (mark + before) as u32)
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

    /// Returns the expressions of a file; none of a file that has changed since it was linked.
    fn expressions(&self, file: FileId) -> Rc<[Expression]> {
        if let Some(known) = self.expressions.borrow().get(&file) {
            return Rc::clone(known);
        }
        let linked = &self.linker.program.files[file.index()];
        let source = self.project.file_at(&linked.path).filter(|source| !source.is_notebook());
        let bytes = source.and_then(|source| source.read(self.project.configuration.max_file_size).ok());
        let read = bytes
            .filter(|_| linked.facts.language == Language::Python)
            .map(|bytes| blocklint_python::extract_expressions(&bytes));
        let same = read.filter(|(facts, _)| facts.content_hash == linked.facts.content_hash);
        let expressions: Rc<[Expression]> = same.map(|(_, expressions)| expressions).unwrap_or_default().into();
        self.expressions.borrow_mut().insert(file, Rc::clone(&expressions));
        expressions
    }
}
