//! Name resolution: scopes, `global`, `nonlocal`, free variables.
//!
//! A name can be bound after its first use, so each scope has one *slot* for a name. The form of the slot begins as
//! `Form::Name` and becomes `Form::Var` when a statement of the scope binds the name. A slot that its scope never binds
//! moves to the enclosing scope. No scope is scanned in advance, and a lookup is one array access.

use blocklint_facts::{BodyFlags, BodyId, BodyKind, FactsBuilder, Form, FormId, Sym, VarId, VarKind};

/// The kind of a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScopeKind {
    /// The module.
    Module,
    /// A class body: its names are visible to its own statements only, and only after the binding.
    Class,
    /// A function or lambda.
    Function,
    /// A generator expression: a body of its own, but `:=` in it binds in the enclosing scope.
    Generator,
    /// A list, set or dict comprehension: a scope of its own, in the enclosing body.
    Comprehension,
    /// The type parameters of a definition: a scope of its own, in the enclosing body.
    TypeParams,
}

#[derive(Debug)]
struct Scope {
    kind: ScopeKind,
    body: BodyId,
    /// Depth of the enclosing scope, in which free names are looked up.
    outer: u32,
    /// The head of the linked list of its slots.
    first: u32,
}

#[derive(Debug)]
struct Slot {
    sym: Sym,
    depth: u32,
    form: FormId,
    var: VarId,
    /// True if a statement before has bound the name.
    bound: bool,
    /// The slot in an outer scope that this one refers to: by `global`, by `nonlocal`, or as a free name.
    target: u32,
    /// The slot of the same name in the next scope outwards that has one.
    shadows: u32,
    /// The next slot of the same scope.
    next: u32,
}

const NIL: u32 = u32::MAX;

/// The open scopes of one file.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    stack: Vec<Scope>,
    slots: Vec<Slot>,
    /// The innermost slot of each symbol.
    heads: Vec<u32>,
    /// Free names of function bodies.
    free: Vec<(BodyId, u32)>,
}

impl Scopes {
    /// Opens a scope.
    pub(crate) fn open(&mut self, kind: ScopeKind, body: BodyId) {
        let outer = (0..self.stack.len()).rev().find(|&depth| self.stack[depth].kind != ScopeKind::Class).unwrap_or(0);
        self.stack.push(Scope { kind, body, outer: outer as u32, first: NIL });
    }

    fn innermost_depth(&self) -> u32 {
        self.stack.len() as u32 - 1
    }

    /// Returns the slot of a name at this depth, or the two slots between which a new one is linked.
    fn find_slot(&self, depth: u32, sym: Sym) -> Result<u32, (u32, u32)> {
        let mut before = NIL;
        let mut slot = self.heads.get(sym.index()).copied().unwrap_or(NIL);
        while slot != NIL && self.slots[slot as usize].depth > depth {
            before = slot;
            slot = self.slots[slot as usize].shadows;
        }
        if slot != NIL && self.slots[slot as usize].depth == depth { Ok(slot) } else { Err((before, slot)) }
    }

    fn link_slot(&mut self, slot: u32, depth: u32, (before, after): (u32, u32)) {
        let sym = self.slots[slot as usize].sym;
        if before == NIL {
            if self.heads.len() <= sym.index() {
                self.heads.resize(sym.index() + 1, NIL);
            }
            self.heads[sym.index()] = slot;
        } else {
            self.slots[before as usize].shadows = slot;
        }
        let scope = &mut self.stack[depth as usize];
        let row = &mut self.slots[slot as usize];
        row.depth = depth;
        row.shadows = after;
        row.next = scope.first;
        scope.first = slot;
    }

    fn find_or_add_slot(&mut self, depth: u32, sym: Sym, facts: &mut FactsBuilder) -> u32 {
        match self.find_slot(depth, sym) {
            Ok(slot) => slot,
            Err(place) => {
                let form = facts.form(Form::Name(sym));
                let slot = self.slots.len() as u32;
                self.slots.push(Slot {
                    sym,
                    depth,
                    form,
                    var: VarId::NONE,
                    bound: false,
                    target: NIL,
                    shadows: NIL,
                    next: NIL,
                });
                self.link_slot(slot, depth, place);
                slot
            }
        }
    }

    /// Returns the form of a name that is read.
    pub(crate) fn load_name(&mut self, sym: Sym, facts: &mut FactsBuilder) -> FormId {
        let mut depth = self.innermost_depth();
        if self.stack[depth as usize].kind == ScopeKind::Class {
            match self.find_slot(depth, sym) {
                Ok(slot) if self.slots[slot as usize].bound => return self.slots[slot as usize].form,
                _ => depth = self.stack[depth as usize].outer,
            }
        }
        let slot = self.find_or_add_slot(depth, sym, facts);
        self.slots[slot as usize].form
    }

    /// Binds a name in the innermost scope. Returns its form, and its variable if it is one of this scope or the
    /// module.
    pub(crate) fn bind_name(&mut self, sym: Sym, kind: VarKind, facts: &mut FactsBuilder) -> (FormId, VarId) {
        self.bind_name_at(self.innermost_depth(), sym, kind, true, facts)
    }

    /// As [`Self::bind_name`], for `name: T` without a value: later statements of a class do not see the name.
    pub(crate) fn declare_name(&mut self, sym: Sym, facts: &mut FactsBuilder) -> (FormId, VarId) {
        self.bind_name_at(self.innermost_depth(), sym, VarKind::Named, false, facts)
    }

    /// As [`Self::bind_name`], for `:=`, which binds in the scope around comprehensions and generator expressions.
    pub(crate) fn bind_walrus(&mut self, sym: Sym, facts: &mut FactsBuilder) -> (FormId, VarId) {
        let is_transparent = |kind| matches!(kind, ScopeKind::Comprehension | ScopeKind::Generator);
        let depth = (0..=self.innermost_depth())
            .rev()
            .find(|&depth| !is_transparent(self.stack[depth as usize].kind))
            .unwrap_or(0);
        self.bind_name_at(depth, sym, VarKind::Named, true, facts)
    }

    fn bind_name_at(
        &mut self,
        depth: u32,
        sym: Sym,
        kind: VarKind,
        is_bound: bool,
        facts: &mut FactsBuilder,
    ) -> (FormId, VarId) {
        let slot = self.find_or_add_slot(depth, sym, facts);
        let form = self.slots[slot as usize].form;
        let target = self.slots[slot as usize].target;
        // `nonlocal` binds a name of an outer scope, which is known only when that scope is closed.
        let owner = match target {
            NIL => slot,
            target if self.slots[target as usize].depth == 0 => target,
            _ => return (form, VarId::NONE),
        };
        let body = self.stack[self.slots[owner as usize].depth as usize].body;
        let row = &mut self.slots[owner as usize];
        row.bound |= is_bound;
        if row.var.is_none() {
            row.var = facts.var(sym, body, kind);
            facts.set_form(row.form, Form::Var(row.var));
        }
        (form, row.var)
    }

    /// `global name`: links the name to the module's.
    pub(crate) fn declare_global(&mut self, sym: Sym, facts: &mut FactsBuilder) {
        self.link_to_scope(0, sym, facts);
    }

    /// `nonlocal name`: links the name to the one of the enclosing function.
    pub(crate) fn declare_nonlocal(&mut self, sym: Sym, facts: &mut FactsBuilder) {
        let outer = self.stack[self.innermost_depth() as usize].outer;
        self.link_to_scope(outer, sym, facts);
    }

    fn link_to_scope(&mut self, depth: u32, sym: Sym, facts: &mut FactsBuilder) {
        let here = self.innermost_depth();
        if depth >= here {
            return;
        }
        let target = self.find_or_add_slot(depth, sym, facts);
        let slot = self.find_or_add_slot(here, sym, facts);
        let row = &mut self.slots[slot as usize];
        if row.var.is_none() {
            row.target = target;
            row.bound = true;
        }
    }

    /// Closes the innermost scope and moves the slots of its unbound names outward.
    pub(crate) fn close(&mut self) {
        let Some(scope) = self.stack.pop() else { return };
        let mut slot = scope.first;
        while slot != NIL {
            let row = &self.slots[slot as usize];
            let (sym, next, is_unbound) = (row.sym, row.next, row.var.is_none());
            let is_linked = row.target != NIL;
            // All inner scopes are closed, so this slot is the head of its name.
            self.heads[sym.index()] = row.shadows;
            if is_unbound && !self.stack.is_empty() {
                if matches!(scope.kind, ScopeKind::Function | ScopeKind::Generator) {
                    self.free.push((scope.body, slot));
                }
                if !is_linked {
                    match self.find_slot(scope.outer, sym) {
                        Ok(outer) => self.slots[slot as usize].target = outer,
                        Err(place) => self.link_slot(slot, scope.outer, place),
                    }
                }
            }
            slot = next;
        }
    }

    /// Turns the form of each free name into that of its variable, after all scopes are closed.
    pub(crate) fn settle_names(self, facts: &mut FactsBuilder) {
        let owner = |mut slot: u32| {
            while self.slots[slot as usize].target != NIL {
                slot = self.slots[slot as usize].target;
            }
            &self.slots[slot as usize]
        };
        for (index, slot) in self.slots.iter().enumerate() {
            if slot.target != NIL {
                let var = owner(index as u32).var;
                if var.is_some() {
                    facts.set_form(slot.form, Form::Var(var));
                }
            }
        }
        for &(body, slot) in &self.free {
            let Some(var) = owner(slot).var.get() else { continue };
            let holder = facts.facts().var(var).body;
            if !matches!(facts.facts().body(holder).kind, BodyKind::Module | BodyKind::Class) {
                let row = facts.body_mut(body);
                row.flags = row.flags.with(BodyFlags::CAPTURES);
            }
        }
    }
}
