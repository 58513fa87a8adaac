//! Operators that pass the whole chain to a callable and go on with its result: `transform`, `as`, `compose`. The
//! operator that moves a part of the chain may stand in the callable.

use blocklint_models::{Selector, TypeExpr};

use crate::calls::targets::Target;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, SiteRef};
use crate::reactive::{ItemThreads, Position};

impl Linker<'_> {
    /// Returns the project's bodies to which an operator passes its chain; none if not all of them are known.
    pub(crate) fn applied_to_chain(&self, site: SiteRef) -> Vec<BodyRef> {
        let mut found = Vec::new();
        for target in &self.targets(site, crate::values::value::EnvId::NONE).list {
            let Target::Row { path, .. } = *target else { return Vec::new() };
            let handovers = self.handovers_for_call(path, site);
            let given = handovers.iter().find_map(|of| match &of.row.selector {
                Selector::Argument(argument) if matches!(of.row.gives.first(), Some(TypeExpr::SelfType(_))) => {
                    self.argument(site, argument)
                }
                _ => None,
            });
            let Some(form) = given else { return Vec::new() };
            found.extend(self.callables(site, form));
        }
        found
    }

    /// Returns the position of the chain before such an operator, by the uses of the chain in the operator's callables.
    pub(crate) fn ends_of_applied(&self, site: SiteRef, bodies: &[BodyRef]) -> Position {
        let mut found = Position::default();
        for &body in bodies {
            let Some(param) = self.program.params_of(body).first() else { continue };
            let mut ends = (*self.ends_of_var(body.file.var_ref(param.var))).clone();
            // This call drives the chain that the callable drives.
            if !ends.driven.is_empty() {
                ends.driven = vec![site];
            }
            if let Some(at) = ends.open.iter().position(|&open| open == body) {
                ends.open.swap_remove(at);
                ends.merge(&self.ends_of_site(site));
            }
            found.merge(&ends);
        }
        found
    }

    /// Returns the threads of the items after such an operator: those of the publisher that its callables return.
    pub(crate) fn signals_of_applied(&self, bodies: &[BodyRef]) -> ItemThreads {
        bodies.iter().fold(ItemThreads::NONE, |all, &body| all.with(self.signals_of_result(body)))
    }
}
