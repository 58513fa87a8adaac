//! Java: which implementation an object is, where everything that makes it can be seen: `factory.forUser(id).getFiles().exists(path)`.

use blocklint_facts::{AltKind, Assign, AssignKind, BodyKind, Exit, ExitKind, Form, FormId, SiteKind, Sym, VarKind};

use crate::code::forms::field_of;
use crate::graph::Way;
use crate::judge::memo::Memo;
use crate::link::Link;
use crate::link::hierarchy::Ancestor;
use crate::link::names;
use crate::link::targets::{Edge, Target};
use crate::link::value::{EnvId, Val};
use crate::program::ids::{BodyRef, ClassRef, FileId, SiteRef, VarRef};

/// How many forms are followed, one from another.
const DEPTH: u32 = 16;

/// Objects beyond which nothing is said.
const MOST: usize = 8;

/// What was called on the way into a body: by which site, and the body.
type Frames = Vec<(SiteRef, BodyRef)>;

/// An object that `new` makes, and how its surroundings were entered.
struct Made {
    site: SiteRef,
    frames: Frames,
}

/// What the object of a call says of the implementation that is entered there.
#[derive(Clone, Copy)]
pub(crate) enum Objects {
    /// Whether it is of others alone, by whatever way it comes there.
    Known(bool),
    /// What was passed on the way decides, for this receiver.
    ByWay(FormId),
}

impl<'a> Link<'a> {
    /// Whether a way leads to one of several implementations, and the object there can be seen to be of others alone.
    pub(crate) fn is_of_another_object(&self, ways: &[Way], body_of: &dyn Fn(&Way) -> Option<BodyRef>) -> bool {
        let mut frames = Frames::new();
        for way in ways {
            let Some(taken) = body_of(way) else { return false };
            if way.shared && self.is_made_otherwise(way.site, taken, &frames) {
                return true;
            }
            frames.push((way.site, taken));
        }
        false
    }

    fn is_made_otherwise(&self, site: SiteRef, taken: BodyRef, frames: &[(SiteRef, BodyRef)]) -> bool {
        let known = self.above::<Memo>().java_asked.objects.borrow().get(&(site, taken)).copied();
        match known {
            Some(Objects::Known(known)) => known,
            Some(Objects::ByWay(receiver)) => self.are_of_others(site, receiver, taken, frames),
            None => {
                self.above::<Memo>().java_asked.asked_way.set(false);
                let receiver = self.object_to_follow(site, taken);
                let found = receiver.is_some_and(|receiver| self.are_of_others(site, receiver, taken, frames));
                let objects = match receiver.filter(|_| self.above::<Memo>().java_asked.asked_way.get()) {
                    Some(receiver) => Objects::ByWay(receiver),
                    None => Objects::Known(found),
                };
                self.above::<Memo>().java_asked.objects.borrow_mut().insert((site, taken), objects);
                found
            }
        }
    }

    /// The receiver of a call that means one of several implementations, where the class of the one that is entered has a name.
    fn object_to_follow(&self, site: SiteRef, taken: BodyRef) -> Option<FormId> {
        let is_one_of_many = self.targets(site, EnvId::NONE).list.iter().any(|target| match *target {
            Target::Overrides { class, name } => self.overrides(class, name).contains(&taken),
            _ => false,
        });
        let receiver = self.receiver_form(site).filter(|_| is_one_of_many)?;
        // Of a nameless class only its base is known.
        let class = self.class_around(taken.file, taken.body)?;
        let facts = self.program.facts(class.file);
        (!facts.text(facts.class(class.class).name).is_empty()).then_some(receiver)
    }

    /// Whether all that makes the object of a call can be seen, and makes objects of other implementations alone.
    fn are_of_others(&self, site: SiteRef, receiver: FormId, taken: BodyRef, frames: &[(SiteRef, BodyRef)]) -> bool {
        let mut found = Vec::new();
        self.objects_of(site.file, receiver, frames, &mut found, DEPTH)
            && !found.is_empty()
            && found.iter().all(|made| self.class_made(made.site).is_some_and(|class| !self.runs_method(class, taken)))
    }

    /// Whether a method is the one that objects of a class have under its name; also where that is not known.
    fn runs_method(&self, class: ClassRef, method: BodyRef) -> bool {
        let facts = self.program.facts(method.file);
        let row = facts.body(method.body);
        let (name, params) = (facts.text(row.name), row.params.len);
        for ancestor in self.mro(class).iter() {
            let Ancestor::Class(next) = *ancestor else {
                match ancestor {
                    Ancestor::Unknown => return true,
                    _ => continue,
                }
            };
            if next.file == method.file && row.class.get() == Some(next.class) {
                return true;
            }
            let other = self.program.facts(next.file);
            let replaces = other.bodies.iter().any(|row| {
                row.kind == BodyKind::Function
                    && row.class.get() == Some(next.class)
                    && other.text(row.name) == name
                    && row.params.len == params
            });
            if replaces && !self.is_interface(next) {
                return false;
            }
        }
        false
    }

    fn is_interface(&self, class: ClassRef) -> bool {
        let kind = self.program.facts(class.file).class(class.class).kind;
        kind == blocklint_facts::ClassKind::Interface
    }

    /// The one class of the project whose object a call of its constructor makes.
    fn class_made(&self, site: SiteRef) -> Option<ClassRef> {
        let typed = self.result(site, EnvId::NONE);
        match self.values.members(typed.value)[..] {
            [Val::Instance { class, .. }] => Some(class),
            _ => None,
        }
    }

    /// Adds the objects that a form may be; whether these are all.
    fn objects_of(
        &self,
        file: FileId,
        form: FormId,
        frames: &[(SiteRef, BodyRef)],
        found: &mut Vec<Made>,
        depth: u32,
    ) -> bool {
        let Some(depth) = depth.checked_sub(1).filter(|_| found.len() < MOST) else { return false };
        let facts = self.program.facts(file);
        match facts.form(form) {
            Form::None => true,
            Form::Cast(inner, _) => self.objects_of(file, inner, frames, found, depth),
            Form::Alt(AltKind::Ternary, list) => {
                let [_, then, otherwise] = *facts.list(list) else { return false };
                self.objects_of(file, then, frames, found, depth)
                    && self.objects_of(file, otherwise, frames, found, depth)
            }
            Form::Var(var) => {
                let row = facts.var(var);
                if let VarKind::Param(index) = row.kind {
                    self.above::<Memo>().java_asked.asked_way.set(true);
                    let entered = frames.iter().rposition(|&(_, body)| body == BodyRef { file, body: row.body });
                    let Some(at) = entered else { return false };
                    let (site, body) = frames[at];
                    let Some(passed) = self.passed(site, body, index) else { return false };
                    return self.objects_of(site.file, passed, &frames[..at], found, depth);
                }
                if facts.body(row.body).kind == BodyKind::Class {
                    return self.objects_in_field(VarRef { file, var }, found, depth);
                }
                let mut given = facts.assigns_of(var).filter(|row| row.value.is_some()).peekable();
                given.peek().is_some() && given.all(|row| self.objects_of(file, row.value, frames, found, depth))
            }
            Form::Result(call) => {
                let site = SiteRef { file, site: call };
                match facts.site(call).kind {
                    SiteKind::New => {
                        found.push(Made { site, frames: frames.to_vec() });
                        true
                    }
                    SiteKind::Call => self.objects_returned(site, frames, found, depth),
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// The objects that a field may hold, where whoever makes its own object does not say.
    fn objects_in_field(&self, var: VarRef, found: &mut Vec<Made>, depth: u32) -> bool {
        let given = self.given_to(var);
        (1..MOST).contains(&given.len())
            && given.iter().all(|&(_, value)| self.objects_of(var.file, value, &[], found, depth))
    }

    /// The objects that the one method which a call means gives.
    fn objects_returned(
        &self,
        site: SiteRef,
        frames: &[(SiteRef, BodyRef)],
        found: &mut Vec<Made>,
        depth: u32,
    ) -> bool {
        let Some(method) = self.only_method(site) else { return false };
        let facts = self.program.facts(method.file);
        let returns = |exit: &Exit| {
            exit.kind == ExitKind::Return && exit.value.is_some() && facts.body_of(exit.at) == method.body
        };
        let mut exits = facts.exits.iter().filter(returns).peekable();
        let mut inside = frames.to_vec();
        inside.push((site, method));
        exits.peek().is_some()
            && exits.all(|exit| match (field_of(facts, exit.value), self.receiver_form(site)) {
                (Some(field), Some(receiver)) => {
                    let mut holders = Vec::new();
                    self.objects_of(site.file, receiver, frames, &mut holders, depth)
                        && !holders.is_empty()
                        && holders.iter().all(|made| self.objects_kept(made, method, field, found, depth))
                }
                (Some(_), None) => false,
                (None, _) => self.objects_of(method.file, exit.value, &inside, found, depth),
            })
    }

    /// The only method with code that a call may mean.
    fn only_method(&self, site: SiteRef) -> Option<BodyRef> {
        let targets = self.targets(site, EnvId::NONE);
        let mut bodies: Vec<BodyRef> = Vec::new();
        for target in &targets.list {
            match *target {
                Target::Body { body, edge: Edge::Call, .. } => bodies.push(body),
                Target::Overrides { class, name } => bodies.extend(self.overrides(class, name).iter().copied()),
                _ => return None,
            }
        }
        bodies.retain(|&body| !self.is_stub(body) && !self.program.is_test(body.file));
        bodies.sort_unstable();
        bodies.dedup();
        match bodies[..] {
            [only] if !targets.unknown => Some(only),
            _ => None,
        }
    }

    /// The objects that a field of a made object holds: its constructor alone sets it, for all that can be seen.
    fn objects_kept(&self, holder: &Made, getter: BodyRef, field: Sym, found: &mut Vec<Made>, depth: u32) -> bool {
        let Some(class) = self.class_around(getter.file, getter.body) else { return false };
        let facts = self.program.facts(class.file);
        let is_it = |row: &Assign| {
            row.kind != AssignKind::Definition
                && row.target.is_some()
                && row.value.is_some()
                && field_of(facts, row.target) == Some(field)
                && self.class_around(class.file, facts.body_of(row.at)) == Some(class)
        };
        let is_constructor = |body| names::is_constructor(facts.language, facts.text(facts.body(body).name));
        let set: Vec<_> = facts.assigns.iter().filter(is_it).collect();
        if set.is_empty() || !set.iter().all(|row| is_constructor(facts.body_of(row.at))) {
            return false;
        }
        let mut frames = holder.frames.clone();
        let mut site = holder.site;
        for _ in 0..4 {
            let Some(constructor) = self.only_method(site) else { return false };
            frames.push((site, constructor));
            let mut here = set
                .iter()
                .filter(|row| constructor.file == class.file && facts.body_of(row.at) == constructor.body)
                .peekable();
            if here.peek().is_some() {
                return here.all(|row| self.objects_of(class.file, row.value, &frames, found, depth));
            }
            // `this(files, null)`, `super(files)`
            let own = self.program.facts(constructor.file);
            let next = own.sites.iter().position(|row| {
                own.body_of(row.at) == constructor.body
                    && names::is_constructor(own.language, own.text(row.name))
                    && row.kind == SiteKind::Call
            });
            let Some(next) = next else { return false };
            site = SiteRef { file: constructor.file, site: blocklint_facts::SiteId(next as u32) };
        }
        false
    }
}
