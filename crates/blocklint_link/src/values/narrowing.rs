//! Which assignments reach a place, and what tests around it leave of a value.

use crate::lang;
use crate::syntax::regions;
use blocklint_facts::{Form, FormId, RegionId, RegionKind, VarId};

use crate::linker::{Linker, Typed};
use crate::program::ids::{ClassRef, FileId};
use crate::values::expr::Scope;
use crate::values::value::Val;

impl Linker<'_> {
    /// Returns how an assignment in region `from` reaches a later use in region `to` of the same body.
    pub(crate) fn reaches(&self, file: FileId, from: RegionId, to: RegionId) -> AssignReach {
        let facts = self.program.facts(file);
        // Most assignments stand in their body's own region, or in that of the use.
        if from == to || facts.region(from).kind == RegionKind::Body {
            return AssignReach::Always;
        }
        let mut around: smallvec::SmallVec<[RegionId; 16]> = smallvec::smallvec![to];
        let mut at = to;
        while let Some(parent) = facts.region(at).parent.get() {
            around.push(parent);
            at = parent;
        }
        // The regions of the assignment that the use does not share.
        let mut at = from;
        let mut reach = AssignReach::Always;
        loop {
            if let Some(depth) = around.iter().position(|&region| region == at) {
                // The use's own child of the shared region must not exclude the assignment's.
                if reach != AssignReach::Always && depth > 0 {
                    let own = facts.region(around[depth - 1]);
                    let mut child = from;
                    while facts.region(child).parent != at {
                        child = facts.region(child).parent;
                    }
                    let other = facts.region(child);
                    // A handler or `finally` may run after any part of what it guards.
                    let guards = match own.kind {
                        RegionKind::Handler => other.kind == RegionKind::Try,
                        RegionKind::Finally => true,
                        _ => false,
                    };
                    let excludes = own.group == other.group && around[depth - 1] != child && !guards;
                    if excludes && !self.share_loop(file, from, to) {
                        return AssignReach::No;
                    }
                }
                return reach;
            }
            if !matches!(
                facts.region(at).kind,
                RegionKind::With | RegionKind::Block | RegionKind::Finally | RegionKind::Try
            ) {
                reach = AssignReach::Maybe;
            } else if facts.region(at).kind == RegionKind::Try && reach == AssignReach::Always {
                // Behind a `try` its assignments hold unless a handler went another way.
                reach = AssignReach::Maybe;
            }
            match facts.region(at).parent.get() {
                Some(parent) => at = parent,
                None => return AssignReach::No,
            }
        }
    }

    /// True if a loop of the body lies around both regions.
    pub(crate) fn share_loop(&self, file: FileId, a: RegionId, b: RegionId) -> bool {
        let facts = self.program.facts(file);
        let mut at = a;
        while let Some(id) = at.get() {
            let region = facts.region(id);
            if region.kind == RegionKind::Loop {
                let mut other = b;
                while let Some(inner) = other.get() {
                    if inner == id {
                        return true;
                    }
                    other = facts.region(inner).parent;
                }
            }
            at = region.parent;
        }
        false
    }

    /// Returns a value known better because of a test around the use.
    pub(crate) fn narrowed(&self, scope: Scope, var: VarId, typed: Typed) -> Typed {
        let facts = self.program.facts(scope.file);
        let mut at = scope.at.region;
        let mut typed = typed;
        while let Some(id) = at.get() {
            let region = facts.region(id);
            let holds = regions::outcome(&region);
            match holds.and_then(|holds| lang::instance_test(facts, region.test, holds, var)) {
                Some((class, true)) => {
                    let tested = self.instances_of(scope, class);
                    if !self.values.is_unknown(tested.value) {
                        typed = tested;
                        break;
                    }
                }
                Some((class, false)) => typed = self.without_instances(scope, typed, class),
                None => {}
            }
            at = region.parent;
        }
        typed
    }

    /// Returns the members of a union that are no instances of the class or classes that a form names.
    pub(crate) fn without_instances(&self, scope: Scope, typed: Typed, class: FormId) -> Typed {
        let members = self.values.members(typed.value);
        if members.len() < 2 {
            return typed;
        }
        let excluded = self.instances_of(scope, class);
        let excluded: Vec<ClassRef> = self
            .values
            .members(excluded.value)
            .iter()
            .filter_map(|val| match *val {
                Val::Instance { class, .. } => Some(class),
                _ => None,
            })
            .collect();
        let is_excluded = |val: &Val| match *val {
            Val::Instance { class, .. } => excluded.iter().any(|&base| self.is_subclass(class, base)),
            _ => false,
        };
        let left: Vec<Val> = members.iter().copied().filter(|val| !is_excluded(val)).collect();
        if left.is_empty() { typed } else { Typed { value: self.values.union(&left), ..typed } }
    }

    /// Returns instances of the class or classes that a form names.
    pub(crate) fn instances_of(&self, scope: Scope, form: FormId) -> Typed {
        if let Form::Display(_, list) = self.program.facts(scope.file).form(form) {
            let parts: Vec<Typed> =
                self.program.facts(scope.file).list(list).iter().map(|&part| self.annotation(scope, part)).collect();
            return self.join(&parts);
        }
        self.annotation(scope, form)
    }
}

/// How an assignment reaches a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AssignReach {
    /// It does not.
    No,
    /// On some ways.
    Maybe,
    /// On every way, so that earlier ones do not.
    Always,
}
