//! Reaching assignments, and narrowing of a value by the tests around a use (`isinstance`, `instanceof`).

use crate::lang;
use crate::syntax::regions;
use blocklint_facts::{Form, FormId, RegionId, RegionKind, VarId};

use crate::linker::{Linker, Typed};
use crate::program::ids::{ClassRef, FileId};
use crate::values::expr::Scope;
use crate::values::value::Val;

impl Linker<'_> {
    /// Returns if an assignment in region `from` always, sometimes or never reaches a later use in region `to` of the
    /// same body.
    pub(crate) fn assignment_reach(&self, file: FileId, from: RegionId, to: RegionId) -> AssignReach {
        let facts = self.program.facts(file);
        // Most assignments are in the outermost region of the body, or in the region of the use.
        if from == to || facts.region(from).kind == RegionKind::Body {
            return AssignReach::Always;
        }
        let mut around: smallvec::SmallVec<[RegionId; 16]> = smallvec::smallvec![to];
        let mut region = to;
        while let Some(parent) = facts.region(region).parent.get() {
            around.push(parent);
            region = parent;
        }
        // The regions around the assignment that are not around the use.
        let mut region = from;
        let mut reach = AssignReach::Always;
        loop {
            if let Some(depth) = around.iter().position(|&outer| outer == region) {
                // An assignment in one branch of an `if` does not reach the other branch.
                if reach != AssignReach::Always && depth > 0 {
                    let use_branch = facts.region(around[depth - 1]);
                    let mut child = from;
                    while facts.region(child).parent != region {
                        child = facts.region(child).parent;
                    }
                    let assign_branch = facts.region(child);
                    // A handler or `finally` may run after any part of its `try`.
                    let may_follow_any_part = match use_branch.kind {
                        RegionKind::Handler => assign_branch.kind == RegionKind::Try,
                        RegionKind::Finally => true,
                        _ => false,
                    };
                    let are_exclusive =
                        use_branch.group == assign_branch.group && around[depth - 1] != child && !may_follow_any_part;
                    if are_exclusive && !self.share_loop(file, from, to) {
                        return AssignReach::No;
                    }
                }
                return reach;
            }
            if !matches!(
                facts.region(region).kind,
                RegionKind::With | RegionKind::Block | RegionKind::Finally | RegionKind::Try
            ) {
                reach = AssignReach::Maybe;
            } else if facts.region(region).kind == RegionKind::Try && reach == AssignReach::Always {
                // An exception may skip an assignment in a `try`, so it reaches later code only sometimes.
                reach = AssignReach::Maybe;
            }
            match facts.region(region).parent.get() {
                Some(parent) => region = parent,
                None => return AssignReach::No,
            }
        }
    }

    /// True if a loop of the body is around both regions.
    pub(crate) fn share_loop(&self, file: FileId, a: RegionId, b: RegionId) -> bool {
        let facts = self.program.facts(file);
        let mut outer_a = a;
        while let Some(id) = outer_a.get() {
            let region = facts.region(id);
            if region.kind == RegionKind::Loop {
                let mut outer_b = b;
                while let Some(inner) = outer_b.get() {
                    if inner == id {
                        return true;
                    }
                    outer_b = facts.region(inner).parent;
                }
            }
            outer_a = region.parent;
        }
        false
    }

    /// Returns the value of a variable, narrowed by the tests around the use: `if isinstance(it, Store):`.
    pub(crate) fn narrow_by_tests(&self, scope: Scope, var: VarId, typed: Typed) -> Typed {
        let facts = self.program.facts(scope.file);
        let mut next_region = scope.at.region;
        let mut typed = typed;
        while let Some(id) = next_region.get() {
            let region = facts.region(id);
            let outcome = regions::outcome(&region);
            match outcome.and_then(|outcome| lang::instance_test(facts, region.test, outcome, var)) {
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
            next_region = region.parent;
        }
        typed
    }

    /// Returns a value without the members that are instances of the class or classes in a form.
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
        let remaining: Vec<Val> = members.iter().copied().filter(|val| !is_excluded(val)).collect();
        if remaining.is_empty() { typed } else { Typed { value: self.values.union(&remaining), ..typed } }
    }

    /// Returns instances of the class or classes in a form: `Store`, `(Store, Cache)`.
    pub(crate) fn instances_of(&self, scope: Scope, form: FormId) -> Typed {
        if let Form::Display(_, list) = self.program.facts(scope.file).form(form) {
            let parts: Vec<Typed> =
                self.program.facts(scope.file).list(list).iter().map(|&part| self.annotation(scope, part)).collect();
            return self.join(&parts);
        }
        self.annotation(scope, form)
    }
}

/// The reach of an assignment to a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AssignReach {
    /// The assignment does not reach the use.
    No,
    /// The assignment reaches the use on some paths.
    Maybe,
    /// The assignment reaches the use on every path, so earlier assignments do not.
    Always,
}
