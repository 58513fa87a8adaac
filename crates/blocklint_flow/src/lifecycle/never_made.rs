//! Python: classes of which the program never makes an object. Its own code names them nowhere but where they are defined, imported and
//! used as a type; at most its tests make one. A call through the base runs a sibling.

use std::cell::OnceCell;

use blocklint_core::Language;
use blocklint_facts::{AssignKind, BodyId, FileFacts, Form, FormId, Sym};
use blocklint_link::classes::hierarchy::Ancestor;
use blocklint_link::lang::python::{builtins, conventions};
use blocklint_link::linker::Linker;
use blocklint_link::linker::query::{Plain, Table};
use blocklint_link::program::ids::{BodyRef, ClassRef, FileId, Name};
use blocklint_link::values::value::{EnvId, Val};
use rustc_hash::FxHashSet;

use crate::entries::purpose::{project_serves, project_takes_arguments};

/// Answers of this file that are kept for one program.
#[derive(Default)]
struct Memo {
    /// Names that code of the program uses as values.
    used: OnceCell<FxHashSet<Name>>,
    /// True if the program may make objects of classes that it does not name.
    makes_by_name: OnceCell<bool>,
    /// True for a class of which the program makes no object.
    never_made: Table<ClassRef, bool, Plain>,
}

/// True if a method belongs to a class that the program never makes, while it makes another class that implements the same method
/// of a common base.
pub(crate) fn is_of_class_never_made(linker: &Linker<'_>, method: BodyRef) -> bool {
    let row = linker.program.body(method);
    if linker.program.language(method.file) != Language::Python {
        return false;
    }
    let Some(class) = row.class.get() else { return false };
    let class = method.file.class_ref(class);
    let Some(name) = linker.program.global(method.file, row.name) else { return false };
    let is_made = |other: &BodyRef| {
        let of = linker.program.body(*other).class.get().map(|of| other.file.class_ref(of));
        of.is_some_and(|of| of != class && is_named(linker, of))
    };
    let has_made_sibling = || {
        linker.mro(class).iter().skip(1).any(|ancestor| match *ancestor {
            Ancestor::Class(base) => linker.overrides(base, name).iter().any(is_made),
            Ancestor::Library(..) | Ancestor::Unknown => false,
        })
    };
    has_made_sibling() && is_never_made(linker, class)
}

/// True if the program makes no object of a class.
fn is_never_made(linker: &Linker<'_>, class: ClassRef) -> bool {
    linker.query(&linker.layer_memo::<Memo>().never_made, class, bool::default, || {
        let facts = linker.program.facts(class.file);
        let row = linker.program.class(class);
        // A library, a decorator or a metaclass may make objects, and so may a subclass that is made.
        let is_own = |of: &Ancestor| match *of {
            Ancestor::Class(of) => {
                let row = linker.program.class(of);
                row.keywords.is_empty() && linker.program.facts(of.file).list(row.decorators).is_empty()
            }
            Ancestor::Library(path, _) => builtins::is_interface_marker(&linker.library.text(path)),
            Ancestor::Unknown => false,
        };
        let is_top_level = facts.body(row.parent).parent.get().is_none();
        is_top_level
            && !linker.is_for_tests(class.file.body_ref(row.body))
            && !is_named(linker, class)
            && linker.descendants(class, 1).classes.is_empty()
            && linker.mro(class).iter().all(is_own)
            && (project_serves(linker) || project_takes_arguments(linker))
            && !makes_by_name(linker)
    })
}

/// True if code that is not for tests uses the name of a class as a value.
fn is_named(linker: &Linker<'_>, class: ClassRef) -> bool {
    is_used_by_name(linker, linker.program.facts(class.file).text(linker.program.class(class).name))
}

/// True if code that is not for tests uses a name as a value, or writes it in a string.
pub(crate) fn is_used_by_name(linker: &Linker<'_>, name: &str) -> bool {
    let used = linker.layer_memo::<Memo>().used.get_or_init(|| names_used(linker));
    linker.program.name(name).is_some_and(|name| used.contains(&name))
}

/// True if code of the program looks classes up by names that it puts together, or loads modules so.
pub(crate) fn makes_by_name(linker: &Linker<'_>) -> bool {
    *linker.layer_memo::<Memo>().makes_by_name.get_or_init(|| finds_classes(linker))
}

fn finds_classes(linker: &Linker<'_>) -> bool {
    let is_of_program = |file: FileId| !linker.is_for_tests(file.body_ref(BodyId(0)));
    let occurs = |text: &&str| {
        let name = linker.program.name(text);
        name.is_some_and(|name| linker.program.occurrences(name).iter().any(|&(file, _)| is_of_program(file)))
    };
    if conventions::FINDING_CLASSES.iter().any(occurs) {
        return true;
    }
    // `getattr(parts, kind)` of a module.
    let Some(getattr) = linker.program.name(conventions::GETTING_BY_NAME) else { return false };
    linker.program.sites_named(getattr).filter(|site| is_of_program(site.file)).any(|site| {
        let facts = linker.program.facts(site.file);
        let args = linker.program.args_of(site);
        let [of, name, ..] = args[..] else { return false };
        let members = linker.values.members(linker.eval(linker.scope_of(site, EnvId::NONE), of.value).value);
        !matches!(facts.form(name.value), Form::Str(_))
            && members.iter().any(|val| matches!(val, Val::Module(_) | Val::Folder(_)))
    })
}

/// Returns the names that files of the program use as values: all but definitions, imports and declared types. A string names
/// its last segment.
fn names_used(linker: &Linker<'_>) -> FxHashSet<Name> {
    let mut found = FxHashSet::default();
    for (at, source) in linker.program.files.iter().enumerate() {
        let file = FileId(at as u32);
        let facts = &source.facts;
        if facts.language != Language::Python || linker.is_for_tests(file.body_ref(BodyId(0))) {
            continue;
        }
        let mut reader = Reader { facts, seen: FxHashSet::default(), names: FxHashSet::default(), texts: Vec::new() };
        reader.read_file();
        found.extend(reader.names.iter().filter_map(|&sym| linker.program.global(file, sym)));
        for text in reader.texts {
            let last = facts.text(text).rsplit(['.', ':', '/', ' ']).next();
            found.extend(last.and_then(|last| linker.program.name(last)));
        }
        // Other projects may make the classes that a package exports. An import may rename a class.
        let is_package = source.relative.ends_with("__init__.py");
        for row in facts.assigns.iter().filter(|row| row.kind == AssignKind::Import) {
            let (Form::Import(import), Form::Var(var)) = (facts.form(row.value), facts.form(row.target)) else {
                continue;
            };
            let name = facts.import(import).name;
            if name.is_some() && (is_package || facts.var(var).name != name) {
                found.extend(linker.program.global(file, name));
            }
        }
    }
    found
}

/// Collects the names and texts that one file uses as values.
struct Reader<'a> {
    facts: &'a FileFacts,
    seen: FxHashSet<FormId>,
    names: FxHashSet<Sym>,
    texts: Vec<Sym>,
}

impl Reader<'_> {
    fn read_file(&mut self) {
        let facts = self.facts;
        for site in &facts.sites {
            self.read(site.callee);
        }
        for arg in facts.args.iter() {
            self.read(arg.value);
        }
        for assign in &facts.assigns {
            if matches!(assign.kind, AssignKind::Import | AssignKind::Definition) {
                continue;
            }
            self.read(assign.value);
            if !matches!(facts.form(assign.target), Form::Var(_)) {
                self.read(assign.target);
            }
        }
        for exit in &facts.exits {
            self.read(exit.value);
        }
        for param in &facts.params {
            self.read(param.default);
            // `part: Part = Depends()` makes one.
            if matches!(param.default.get().map(|default| facts.form(default)), Some(Form::Result(_))) {
                self.read(param.annotation);
            }
        }
        for region in &facts.regions {
            self.read(region.test);
        }
        for class in &facts.classes {
            facts.list(class.bases).iter().chain(facts.list(class.decorators)).for_each(|&form| self.read(form));
        }
        for body in &facts.bodies {
            facts.list(body.decorators).iter().for_each(|&form| self.read(form));
        }
    }

    fn read(&mut self, form: FormId) {
        if form.is_none() || !self.seen.insert(form) {
            return;
        }
        let facts = self.facts;
        match facts.form(form) {
            Form::Var(var) => _ = self.names.insert(facts.var(var).name),
            Form::Name(name) => _ = self.names.insert(name),
            Form::Str(text) | Form::Text(text) => self.texts.push(text),
            Form::Attr(base, name) | Form::Path(base, name) | Form::Field(base, name) => {
                self.names.insert(name);
                self.read(base);
            }
            Form::Await(of) | Form::Try(of) | Form::Element(of) | Form::Not(of) | Form::Bound(of) => self.read(of),
            Form::Part(of, _) | Form::Star(of) | Form::StarStar(of) => self.read(of),
            Form::Subscript(of, by) | Form::Cast(of, by) | Form::Compare(_, of, by) => {
                self.read(of);
                self.read(by);
            }
            Form::Display(_, list) | Form::Pairs(list) | Form::Alt(_, list) | Form::Join(list) => {
                facts.list(list).iter().for_each(|&form| self.read(form));
            }
            _ => {}
        }
    }
}
