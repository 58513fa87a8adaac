//! Java: where objects of a file's classes stand without the name of their class: `this`, and anonymous classes where they are made.

use std::rc::Rc;

use blocklint_core::Language;
use blocklint_facts::{AssignId, At, ClassId, Form, FormId, SiteId, SiteKind};
use blocklint_link::linker::Linker;
use blocklint_link::linker::query::{Plain, Table};
use blocklint_link::program::ids::{BodyRef, FileId};
use blocklint_link::program::occurrences::Mention;
use rustc_hash::FxHashMap;

/// Answers of this file that are kept for one program.
#[derive(Default)]
struct Memo {
    /// Places where objects stand without the name of their class.
    objects: Table<FileId, Rc<InFile>, Plain>,
}

/// Those of one file, by class.
#[derive(Debug, Default)]
pub(crate) struct InFile {
    /// Where an anonymous class is made.
    pub made: FxHashMap<ClassId, Vec<SiteId>>,
    /// The places at which a method of the class passes `this` on.
    pub own: FxHashMap<ClassId, Vec<Mention>>,
}

/// Returns the objects of a file, found once.
pub(crate) fn objects_in(linker: &Linker<'_>, file: FileId) -> Rc<InFile> {
    let memo = linker.layer_memo::<Memo>();
    linker.query(&memo.objects, file, Rc::default, || Rc::new(InFile::new(linker, file)))
}

/// Returns the places at which a method stands for a callable by its anonymous class: where the object goes that its
/// class is made for.
pub(crate) fn uses_of_anonymous(linker: &Linker<'_>, body: BodyRef) -> Vec<Mention> {
    let facts = linker.program.facts(body.file);
    let Some(class) = linker.program.body(body).class.get() else { return Vec::new() };
    if facts.language != Language::Java
        || !facts.text(facts.class(class).name).is_empty()
        || !linker.is_run_by_instance(body)
    {
        return Vec::new();
    }
    let objects = objects_in(linker, body.file);
    let made = objects.made.get(&class).into_iter().flatten();
    made.flat_map(|&site| linker.program.index_of(body.file).uses_of_result(site).iter())
        .map(|(mention, _)| mention)
        .collect()
}

impl InFile {
    fn new(linker: &Linker<'_>, file: FileId) -> Self {
        let mut found = InFile::default();
        let facts = linker.program.facts(file);
        let mut see = |at: At, form: FormId, mention: Mention| {
            if facts.form(form) == Form::This
                && let Some(class) = linker.class_around(linker.program.body_of(file, at))
            {
                let (_, class_id) = linker.program.facts_and_id(class);
                found.own.entry(class_id).or_default().push(mention);
            }
        };
        for (at, row) in facts.sites.iter().enumerate() {
            let site = SiteId(at as u32);
            for (arg, given) in facts.args_of(site).iter().enumerate() {
                see(row.at, given.value, Mention::Arg(site, arg as u32));
            }
        }
        for (at, row) in facts.assigns.iter().enumerate() {
            see(row.at, row.value, Mention::Assign(AssignId(at as u32)));
        }
        for (at, row) in facts.exits.iter().enumerate() {
            see(row.at, row.value, Mention::Exit(at as u32));
        }
        for (at, row) in facts.sites.iter().enumerate() {
            if let (SiteKind::New, Form::Class(class)) = (row.kind, facts.form(row.callee)) {
                found.made.entry(class).or_default().push(SiteId(at as u32));
            }
        }
        found
    }
}
