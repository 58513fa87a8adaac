//! Java: handlers that never serve anybody, and waits that are over on the thread of their own channel.

use blocklint_core::Language;
use blocklint_facts::{BodyId, BodyKind, Form, FormId, SiteId, SiteKind, VarKind};

use crate::graph::Way;
use crate::idioms::java as idioms;
use crate::judge::memo::Memo;
use crate::link::Link;
use crate::link::memo::remembered;
use crate::program::ids::{BodyRef, ClassRef, FileId, SiteRef};

/// How far a value is followed through locals and receivers.
const DEPTH: u32 = 8;

impl<'a> Link<'a> {
    /// Whether a body belongs to a class that other classes of a program install, and nobody names any of those: the program
    /// left the server over that they are for.
    pub(crate) fn is_installed_by_nobody(&self, root: BodyRef) -> bool {
        remembered(&self.above::<Memo>().java_asked.installed, root, || self.is_of_server_left_over(root))
    }

    fn is_of_server_left_over(&self, root: BodyRef) -> bool {
        let Some(class) = self.class_around(root.file, root.body) else { return false };
        let facts = self.program.facts(class.file);
        let Some(name) = self.program.global(class.file, facts.class(class.class).name) else { return false };
        let names = self.program.occurrences(name).iter().map(|&(file, _)| file);
        let mut others = names.filter(|&file| file != class.file).peekable();
        others.peek().is_some()
            && self.is_plain_class(class)
            && others.all(|file| self.is_named_by_nobody(file))
            && self.has_main_beside(class.file)
            && !self.makes_classes_by_lists()
    }

    /// Whether the project may make objects of classes that only a file of settings names.
    fn makes_classes_by_lists(&self) -> bool {
        idioms::READS_LISTS.iter().any(|name| {
            let name = self.program.name(name);
            name.is_some_and(|name| !self.program.occurrences(name).is_empty())
        })
    }

    /// Whether nothing outside of a file names a class in it, tests neither, and nothing finds one of them by itself.
    fn is_named_by_nobody(&self, file: FileId) -> bool {
        let facts = self.program.facts(file);
        let outer = |class: &&blocklint_facts::Class| class.parent == BodyId(0);
        let mut classes = facts.classes.iter().filter(outer).peekable();
        facts.language == Language::Java
            && classes.peek().is_some()
            && !has_main(facts)
            && classes.all(|class| {
                let name = self.program.global(file, class.name);
                class.decorators.is_empty()
                    && class.bases.is_empty()
                    && name.is_some_and(|name| self.program.occurrences(name).iter().all(|&(other, _)| other == file))
            })
    }

    /// Whether no container finds a class by its annotations.
    fn is_plain_class(&self, class: ClassRef) -> bool {
        let facts = self.program.facts(class.file);
        facts.language == Language::Java && facts.class(class.class).decorators.is_empty()
    }

    /// Whether the module of a file is a program: something in it can be started.
    fn has_main_beside(&self, file: FileId) -> bool {
        let module = self.java_module_of(file);
        (0..self.program.files.len() as u32).map(FileId).any(|other| {
            self.program.language(other) == Language::Java
                && !self.program.is_test(other)
                && self.java_module_of(other) == module
                && has_main(self.program.facts(other))
        })
    }

    /// Whether a way ends where something waits for channels that it has just told to close, and the channel is the one of the
    /// handler where the way begins: on its own thread a channel is closed at once.
    pub(crate) fn waits_for_own_channel(&self, ways: &[Way], body_of: &dyn Fn(&Way) -> Option<BodyRef>) -> bool {
        let Some(last) = ways.last() else { return false };
        if !self.is_after_close(last.site) {
            return false;
        }
        ways.iter().filter(|way| body_of(way).is_some()).any(|way| {
            let facts = self.program.facts(way.site.file);
            facts.args_of(way.site.site).iter().any(|arg| self.comes_from_own_channel(way.site.file, arg.value, DEPTH))
        })
    }

    /// Whether the body of a call has told something to close before it, and listened for that.
    fn is_after_close(&self, site: SiteRef) -> bool {
        *self.above::<Memo>().java_asked.after_close.borrow_mut().entry(site).or_insert_with(|| {
            let facts = self.program.facts(site.file);
            let here = facts.site(site.site).at;
            let before = |name: &str| {
                facts.sites.iter().any(|row| {
                    facts.text(row.name) == name
                        && row.at.position < here.position
                        && facts.body_of(row.at) == facts.body_of(here)
                })
            };
            before(idioms::CLOSE) && before(idioms::LISTEN_FOR_CLOSE)
        })
    }

    /// Whether a value comes from the channel of what a method is given: `context.channel().attr(KEY).get()`.
    fn comes_from_own_channel(&self, file: FileId, form: FormId, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let facts = self.program.facts(file);
        match facts.form(form) {
            Form::Cast(inner, _) => self.comes_from_own_channel(file, inner, depth),
            Form::Var(var) => {
                facts.only_value_of(var).is_some_and(|row| self.comes_from_own_channel(file, row.value, depth))
            }
            Form::Result(call) => {
                let Some(of) = self.receiver_form(SiteRef { file, site: call }) else { return false };
                let is_param = match facts.form(of) {
                    Form::Var(var) => matches!(facts.var(var).kind, VarKind::Param(_)),
                    _ => false,
                };
                is_param && gives_channel(facts, call) || self.comes_from_own_channel(file, of, depth)
            }
            _ => false,
        }
    }
}

fn gives_channel(facts: &blocklint_facts::FileFacts, call: SiteId) -> bool {
    let row = facts.site(call);
    row.kind == SiteKind::Call && row.args.is_empty() && facts.text(row.name) == idioms::CHANNEL
}

/// Whether a program can be started by a class of a file.
fn has_main(facts: &blocklint_facts::FileFacts) -> bool {
    facts
        .bodies
        .iter()
        .any(|row| row.kind == BodyKind::Function && row.params.len == 1 && facts.text(row.name) == idioms::MAIN)
}
