//! Operators that pass the whole chain to a callable and continue with its result: `transform`, `as`, `compose`. The
//! callable may contain the operator that moves the chain to another thread.

use blocklint_models::{Selector, TypeExpr};

use crate::calls::targets::Target;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, SiteRef};
use crate::reactive::{ItemThreads, Position};

impl Linker<'_> {
    /// Returns the bodies to which an operator passes its chain; empty if not all of them are known.
    pub(crate) fn chain_transformers(&self, site: SiteRef) -> Vec<BodyRef> {
        let mut bodies = Vec::new();
        for target in &self.targets(site, crate::values::value::EnvId::NONE).list {
            let Target::Row { path, .. } = *target else { return Vec::new() };
            let handovers = self.handovers_for_call(path, site);
            let callable = handovers.iter().find_map(|handover| match &handover.row.selector {
                Selector::Argument(argument) if matches!(handover.row.gives.first(), Some(TypeExpr::SelfType(_))) => {
                    self.argument(site, argument)
                }
                _ => None,
            });
            let Some(form) = callable else { return Vec::new() };
            bodies.extend(self.callables_in_argument(site, form));
        }
        bodies
    }

    /// Returns the position of the chain before a transforming operator, by the uses of the chain in its callables.
    pub(crate) fn downstream_of_transform(&self, site: SiteRef, bodies: &[BodyRef]) -> Position {
        let mut position = Position::default();
        for &body in bodies {
            let Some(param) = self.program.params_of(body).first() else { continue };
            let mut downstream = (*self.downstream_of_var(body.file.var_ref(param.var))).clone();
            // The callable drives the chain in its parameter, so this call drives the chain.
            if !downstream.drivers.is_empty() {
                downstream.drivers = vec![site];
            }
            if let Some(index) = downstream.open.iter().position(|&open| open == body) {
                downstream.open.swap_remove(index);
                downstream.merge(&self.downstream_of_site(site));
            }
            position.merge(&downstream);
        }
        position
    }

    /// Returns the threads of the items after a transforming operator: those of the publishers that its callables
    /// return.
    pub(crate) fn item_threads_after_transform(&self, bodies: &[BodyRef]) -> ItemThreads {
        bodies.iter().fold(ItemThreads::NONE, |all, &body| all.with(self.item_threads_of_result(body)))
    }
}
