//! Rust: closures and functions that are stored in a field: by a struct expression, by an assignment, or by a push to
//! the container in the field, through pointers, locks and options.

use blocklint_facts::ClassId;

use crate::linker::{Linker, Typed};
use crate::program::ids::{ClassRef, VarRef};
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val};

/// The number of nested types that are followed: `Arc<Mutex<Vec<Box<dyn Fn()>>>>`.
const DEEPEST: u32 = 5;

/// The number of assignments to one field that are followed.
const MOST_ASSIGNED: usize = 8;

impl Linker<'_> {
    /// Returns a field's declared type with the callables that are stored in the field.
    pub(crate) fn or_stored_callables(&self, field: VarRef, declared: Typed) -> Typed {
        if !self.keeps_callables(declared, DEEPEST) {
            return declared;
        }
        let facts = self.program.facts(field.file);
        let var_facts = self.program.var(field);
        let class = facts.classes.iter().position(|class| class.body == var_facts.body);
        let (Some(class), Some(name)) = (class, self.program.global(field.file, var_facts.name)) else {
            return declared;
        };
        let class = field.file.class_ref(ClassId(class as u32));
        let mut stored = Vec::new();
        for site in self.struct_expressions(class).unwrap_or_default() {
            let sym = self.program.local(site.file, name);
            let args = self.program.args_of(site);
            if let Some(arg) = args.iter().find(|arg| arg.name.is_some() && Some(arg.name) == sym) {
                stored.push(self.eval_stored_callable(self.scope_of(site, EnvId::NONE), arg.value));
            }
        }
        let in_impl_blocks = self.impls(class).into_iter().flat_map(|block| {
            let assigns = self.own_assigns(block, name);
            assigns.into_iter().map(move |assign| (block.file, assign))
        });
        let in_impl_blocks: Vec<_> = in_impl_blocks.take(MOST_ASSIGNED).collect();
        for (file, assign) in self.assigns_to_member(class, name).into_iter().chain(in_impl_blocks).take(MOST_ASSIGNED)
        {
            let assignment = self.program.facts(file).assign(assign);
            if assignment.value.is_some() {
                stored.push(
                    self.eval_stored_callable(Scope { file, at: assignment.at, env: EnvId::NONE }, assignment.value),
                );
            }
        }
        self.with_stored_callables(declared, DEEPEST, class, field, &stored)
    }

    /// True if a type is callable, or holds a callable as its last type argument: a closure trait, a function pointer,
    /// or a type parameter without bounds.
    fn keeps_callables(&self, declared: Typed, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        if self.is_callable_type(declared) {
            return true;
        }
        match self.values.members(declared.value)[..] {
            [param @ Val::Param { .. }] => self.values.is_unknown(self.bound_of(param).value),
            [Val::Library { args, .. }] => self.values.list(args).last().is_some_and(|&value| {
                self.keeps_callables(Typed { value, inferred_steps: declared.inferred_steps }, depth)
            }),
            _ => false,
        }
    }

    /// Returns a type with the callable part in it replaced by the stored callables.
    fn with_stored_callables(
        &self,
        declared: Typed,
        depth: u32,
        class: ClassRef,
        field: VarRef,
        stored: &[Typed],
    ) -> Typed {
        let Some(depth) = depth.checked_sub(1) else { return declared };
        let is_param = matches!(self.values.members(declared.value)[..], [Val::Param { .. }]);
        if is_param || self.is_callable_type(declared) {
            return self.callables_for(declared, stored.to_vec());
        }
        let [Val::Library { ty, args, made }] = self.values.members(declared.value)[..] else { return declared };
        let mut parts = self.values.list(args);
        let Some(last) = parts.last_mut() else { return declared };
        let mut stored = stored.to_vec();
        stored.extend(self.elements_added_to_field(class, ty, field));
        let replaced = self.with_stored_callables(
            Typed { value: *last, inferred_steps: declared.inferred_steps },
            depth,
            class,
            field,
            &stored,
        );
        if replaced.value == *last {
            return declared;
        }
        *last = replaced.value;
        let value = self.values.one(Val::Library { ty, args: self.values.args(&parts), made });
        Typed { value, inferred_steps: replaced.inferred_steps }
    }
}
