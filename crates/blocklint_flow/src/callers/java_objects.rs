//! Objects that code uses without the name of their class (Java): `this`, and objects of anonymous classes.

use std::rc::Rc;

use blocklint_core::Language;
use blocklint_facts::{AssignId, At, ClassId, Form, FormId, SiteId, SiteKind};
use blocklint_link::linker::Linker;
use blocklint_link::linker::query::{Plain, Table};
use blocklint_link::program::ids::{BodyRef, FileId};
use blocklint_link::program::occurrences::Mention;
use rustc_hash::FxHashMap;

/// Results of this file's queries, stored for one program.
#[derive(Default)]
struct Memo {
    objects: Table<FileId, Rc<UnnamedObjects>, Plain>,
}

/// The objects of one file that code uses without the name of their class, by class.
#[derive(Debug, Default)]
pub(crate) struct UnnamedObjects {
    /// The sites that make an anonymous class.
    pub made: FxHashMap<ClassId, Vec<SiteId>>,
    /// The mentions of `this` in methods of the class.
    pub this_mentions: FxHashMap<ClassId, Vec<Mention>>,
}

/// Returns the unnamed objects of a file; cached.
pub(crate) fn unnamed_objects_in(linker: &Linker<'_>, file: FileId) -> Rc<UnnamedObjects> {
    let memo = linker.layer_memo::<Memo>();
    linker.query(&memo.objects, file, Rc::default, || Rc::new(UnnamedObjects::new(linker, file)))
}

/// Returns the uses of a method of an anonymous class as a callable: the mentions of the object of its class
/// (`loop.execute(new Runnable() { … })`). Empty for any other method.
pub(crate) fn uses_of_anonymous(linker: &Linker<'_>, body: BodyRef) -> Vec<Mention> {
    let facts = linker.program.facts(body.file);
    let Some(class) = linker.program.body(body).class.get() else { return Vec::new() };
    if facts.language != Language::Java
        || !facts.text(facts.class(class).name).is_empty()
        || !linker.is_run_by_instance(body)
    {
        return Vec::new();
    }
    let objects = unnamed_objects_in(linker, body.file);
    let sites = objects.made.get(&class).into_iter().flatten();
    sites
        .flat_map(|&site| linker.program.index_of(body.file).uses_of_result(site).iter())
        .map(|(mention, _)| mention)
        .collect()
}

impl UnnamedObjects {
    fn new(linker: &Linker<'_>, file: FileId) -> Self {
        let mut objects = UnnamedObjects::default();
        let facts = linker.program.facts(file);
        let mut add_if_this = |at: At, form: FormId, mention: Mention| {
            if facts.form(form) == Form::This
                && let Some(class) = linker.class_around(linker.program.body_of(file, at))
            {
                let (_, class_id) = linker.program.facts_and_id(class);
                objects.this_mentions.entry(class_id).or_default().push(mention);
            }
        };
        for (index, site_facts) in facts.sites.iter().enumerate() {
            let site = SiteId(index as u32);
            for (arg, argument) in facts.args_of(site).iter().enumerate() {
                add_if_this(site_facts.at, argument.value, Mention::Arg(site, arg as u32));
            }
        }
        for (index, assignment) in facts.assigns.iter().enumerate() {
            add_if_this(assignment.at, assignment.value, Mention::Assign(AssignId(index as u32)));
        }
        for (index, exit) in facts.exits.iter().enumerate() {
            add_if_this(exit.at, exit.value, Mention::Exit(index as u32));
        }
        for (index, site_facts) in facts.sites.iter().enumerate() {
            if let (SiteKind::New, Form::Class(class)) = (site_facts.kind, facts.form(site_facts.callee)) {
                objects.made.entry(class).or_default().push(SiteId(index as u32));
            }
        }
        objects
    }
}
