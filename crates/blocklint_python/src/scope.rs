//! Which variable a name means, by Python's rules.
//!
//! A name may be bound after it is used, so a scope gives each name one form (a *slot*) that starts as `Form::Name` and
//! becomes `Form::Var` when the scope turns out to bind it. A slot that its scope never binds moves to the scope around
//! it. Nothing is scanned beforehand and a lookup is one array access.

use blocklint_facts::{BodyFlags, BodyId, BodyKind, FactsBuilder, Form, FormId, Sym, VarId, VarKind};

/// The kind of a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScopeKind {
    /// The file.
    Module,
    /// A class body: seen by its own statements only, and there only after the binding.
    Class,
    /// A function or lambda.
    Function,
    /// A generator expression: a body, but `:=` binds around it.
    Generator,
    /// A comprehension, which shares the body around it.
    Comprehension,
    /// The type parameters of a definition, likewise.
    TypeParams,
}

#[derive(Debug)]
struct Scope {
    kind: ScopeKind,
    body: BodyId,
    /// Depth of the scope in which its free names are looked up.
    outer: u32,
    /// Its slots, linked.
    first: u32,
}

#[derive(Debug)]
struct Slot {
    sym: Sym,
    depth: u32,
    form: FormId,
    var: VarId,
    /// A statement that binds it came before.
    bound: bool,
    /// The slot it stands for: of `global` and `nonlocal`, or of a free name.
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
    /// For each symbol its slot in the innermost scope that has one.
    heads: Vec<u32>,
    /// Free names of function bodies.
    free: Vec<(BodyId, u32)>,
}

impl Scopes {
    /// Opens a scope.
    pub(crate) fn open(&mut self, kind: ScopeKind, body: BodyId) {
        let outer = (0..self.stack.len()).rev().find(|&at| self.stack[at].kind != ScopeKind::Class).unwrap_or(0);
        self.stack.push(Scope { kind, body, outer: outer as u32, first: NIL });
    }

    fn top(&self) -> u32 {
        self.stack.len() as u32 - 1
    }

    /// Where the name's slot at this depth is, or the slots it would stand between.
    fn find(&self, depth: u32, sym: Sym) -> Result<u32, (u32, u32)> {
        let mut before = NIL;
        let mut at = self.heads.get(sym.index()).copied().unwrap_or(NIL);
        while at != NIL && self.slots[at as usize].depth > depth {
            before = at;
            at = self.slots[at as usize].shadows;
        }
        if at != NIL && self.slots[at as usize].depth == depth { Ok(at) } else { Err((before, at)) }
    }

    fn link(&mut self, slot: u32, depth: u32, (before, after): (u32, u32)) {
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

    fn slot(&mut self, depth: u32, sym: Sym, facts: &mut FactsBuilder) -> u32 {
        match self.find(depth, sym) {
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
                self.link(slot, depth, place);
                slot
            }
        }
    }

    /// Returns the form of a name that is read.
    pub(crate) fn load(&mut self, sym: Sym, facts: &mut FactsBuilder) -> FormId {
        let mut depth = self.top();
        if self.stack[depth as usize].kind == ScopeKind::Class {
            match self.find(depth, sym) {
                Ok(slot) if self.slots[slot as usize].bound => return self.slots[slot as usize].form,
                _ => depth = self.stack[depth as usize].outer,
            }
        }
        let slot = self.slot(depth, sym, facts);
        self.slots[slot as usize].form
    }

    /// Binds a name in the innermost scope and gives its form and, if this scope holds it, its variable.
    pub(crate) fn bind(&mut self, sym: Sym, kind: VarKind, facts: &mut FactsBuilder) -> (FormId, VarId) {
        self.bind_at(self.top(), sym, kind, true, facts)
    }

    /// As [`Self::bind`], for a declaration without value: a class does not see it.
    pub(crate) fn declare(&mut self, sym: Sym, facts: &mut FactsBuilder) -> (FormId, VarId) {
        self.bind_at(self.top(), sym, VarKind::Named, false, facts)
    }

    /// As [`Self::bind`], for `:=`, which binds in the scope around comprehensions.
    pub(crate) fn bind_walrus(&mut self, sym: Sym, facts: &mut FactsBuilder) -> (FormId, VarId) {
        let passes = |kind| matches!(kind, ScopeKind::Comprehension | ScopeKind::Generator);
        let depth = (0..=self.top()).rev().find(|&at| !passes(self.stack[at as usize].kind)).unwrap_or(0);
        self.bind_at(depth, sym, VarKind::Named, true, facts)
    }

    fn bind_at(
        &mut self,
        depth: u32,
        sym: Sym,
        kind: VarKind,
        bound: bool,
        facts: &mut FactsBuilder,
    ) -> (FormId, VarId) {
        let slot = self.slot(depth, sym, facts);
        let form = self.slots[slot as usize].form;
        let target = self.slots[slot as usize].target;
        // `nonlocal` binds what another scope holds; which one is known only when that scope ends.
        let owner = match target {
            NIL => slot,
            target if self.slots[target as usize].depth == 0 => target,
            _ => return (form, VarId::NONE),
        };
        let body = self.stack[self.slots[owner as usize].depth as usize].body;
        let row = &mut self.slots[owner as usize];
        row.bound |= bound;
        if row.var.is_none() {
            row.var = facts.var(sym, body, kind);
            facts.set_form(row.form, Form::Var(row.var));
        }
        (form, row.var)
    }

    /// `global name`: the name means the module's.
    pub(crate) fn global(&mut self, sym: Sym, facts: &mut FactsBuilder) {
        self.refer(0, sym, facts);
    }

    /// `nonlocal name`: the name means that of the function around.
    pub(crate) fn nonlocal(&mut self, sym: Sym, facts: &mut FactsBuilder) {
        let outer = self.stack[self.top() as usize].outer;
        self.refer(outer, sym, facts);
    }

    fn refer(&mut self, depth: u32, sym: Sym, facts: &mut FactsBuilder) {
        let here = self.top();
        if depth >= here {
            return;
        }
        let target = self.slot(depth, sym, facts);
        let slot = self.slot(here, sym, facts);
        let row = &mut self.slots[slot as usize];
        if row.var.is_none() {
            row.target = target;
            row.bound = true;
        }
    }

    /// Closes the innermost scope; names it used and did not bind are looked up further out.
    pub(crate) fn close(&mut self) {
        let Some(scope) = self.stack.pop() else { return };
        let mut at = scope.first;
        while at != NIL {
            let row = &self.slots[at as usize];
            let (sym, next, unbound) = (row.sym, row.next, row.var.is_none());
            let referred = row.target != NIL;
            // All scopes further in are closed, so this slot is the first of its name.
            self.heads[sym.index()] = row.shadows;
            if unbound && !self.stack.is_empty() {
                if matches!(scope.kind, ScopeKind::Function | ScopeKind::Generator) {
                    self.free.push((scope.body, at));
                }
                if !referred {
                    match self.find(scope.outer, sym) {
                        Ok(outer) => self.slots[at as usize].target = outer,
                        Err(place) => self.link(at, scope.outer, place),
                    }
                }
            }
            at = next;
        }
    }

    /// Settles every name; all scopes are closed.
    pub(crate) fn settle(self, facts: &mut FactsBuilder) {
        let owner = |mut at: u32| {
            while self.slots[at as usize].target != NIL {
                at = self.slots[at as usize].target;
            }
            &self.slots[at as usize]
        };
        for (at, slot) in self.slots.iter().enumerate() {
            if slot.target != NIL {
                let var = owner(at as u32).var;
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
