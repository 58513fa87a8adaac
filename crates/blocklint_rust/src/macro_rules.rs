//! The project's own `macro_rules!`: what the arms write is read once, as the body of a function `name!` that every call of the
//! macro runs. A metavariable is a parameter, or a name that nothing is known of; what is repeated is read once.

use std::ops::Range;

use blocklint_facts::{
    AssignKind, BodyId, BodyKind, ClassId, ExitKind, Flow, Form, FormId, Param, ParamKind, RegionKind, Sym, VarKind,
};
use tree_sitter::Node;

use crate::kinds::{K, all, child, fields, kind, named};
use crate::macros::only_expression;
use crate::scope::ScopeKind;
use crate::walker::{Walker, Walking, span};

/// Arms of one macro that are read.
const MOST_ARMS: usize = 24;

impl Walker<'_> {
    /// Returns the name of a macro as an item: with its mark, for a function may bear the same.
    pub(crate) fn macro_item_name(&mut self, node: Node<'_>) -> Option<Sym> {
        let name = self.text(child(node, fields().name)?).into_owned();
        Some(self.facts.intern(&format!("{name}!")))
    }

    /// `macro_rules! name { (…) => { … }; … }`
    pub(crate) fn walk_macro_definition(&mut self, node: Node<'_>) {
        let (Some(name_node), Some(name)) = (child(node, fields().name), self.macro_item_name(node)) else { return };
        let var = self.item_var(name);
        let body = self.add_body(BodyKind::Function, Flow::Sync, name, span(node), span(name_node));
        let callable = self.form(Form::Callable(body));
        let target = self.var_form(var);
        self.bind(target, callable, FormId::NONE, AssignKind::Definition, span(name_node));
        self.facts.body_mut(body).var = var;
        let rules: Vec<Node<'_>> = named(node).filter(|part| kind(*part) == K::MacroRule).take(MOST_ARMS).collect();
        let place = self.enter_body(body, ClassId::NONE);
        self.scopes.open(ScopeKind::Item);
        let params = self.declare_metavariables(body, &rules);
        let group = self.facts.group();
        let mut later = vec![true; params.len()];
        for rule in rules {
            let Some(right) = child(rule, fields().right) else { continue };
            let Some(tree) = self.parse_pieces(&pieces(right), 0) else { continue };
            let root = tree.root_node();
            self.keep_only_deferred(&params, right, root, &mut later);
            let region = self.arm_here(RegionKind::Case, group, FormId::NONE, span(right));
            self.within(region, |walker| {
                walker.macro_depth += 1;
                match only_expression(root) {
                    Some(expression) => {
                        let value = walker.walk_expr(expression);
                        if value.is_some() {
                            walker.add_exit(ExitKind::Return, value, span(expression));
                        }
                    }
                    None => {
                        walker.walk_block(root);
                    }
                }
                walker.macro_depth -= 1;
            });
        }
        self.scopes.close();
        self.leave_body(place);
        if later.contains(&true) {
            self.deferring.insert(name, later);
        }
    }

    /// Takes back of the parameters that run later those that an arm also names outside closures and async blocks.
    fn keep_only_deferred(&mut self, params: &[Sym], right: Node<'_>, root: Node<'_>, later: &mut [bool]) {
        let mut open = vec![right];
        while let Some(node) = open.pop() {
            if kind(node) != K::Metavariable {
                open.extend(named(node));
                continue;
            }
            let text = self.text(node).trim_start_matches('$').to_owned();
            let name = self.facts.intern(&text);
            let Some(at) = params.iter().position(|param| *param == name) else { continue };
            let mut inside = root.descendant_for_byte_range(node.start_byte() + 1, node.end_byte());
            while inside.is_some_and(|around| !matches!(kind(around), K::Closure | K::AsyncBlock)) {
                inside = inside.and_then(|around| around.parent());
            }
            later[at] &= inside.is_some();
        }
    }

    /// Declares the metavariables of all arms: those that the arguments of a call are, by their places, and others. Gives the
    /// names of the former.
    fn declare_metavariables(&mut self, body: BodyId, rules: &[Node<'_>]) -> Vec<Sym> {
        let mut params: Vec<Param> = Vec::new();
        let mut known: Vec<Sym> = Vec::new();
        for rule in rules {
            let Some(left) = child(*rule, fields().left) else { continue };
            for (number, names) in positions(left).into_iter().enumerate() {
                for binding in names.all {
                    let text = self.text(binding).trim_start_matches('$').to_owned();
                    let name = self.facts.intern(&text);
                    if known.contains(&name) {
                        continue;
                    }
                    known.push(name);
                    let var = match params.get(number).map(|param| param.var) {
                        Some(var) if names.is_argument => var,
                        None if names.is_argument && params.len() == number => {
                            let var = self.new_var(name, VarKind::Param(number as u32));
                            let (default, annotation) = (FormId::NONE, FormId::NONE);
                            params.push(Param { name, kind: ParamKind::PositionalOnly, var, default, annotation });
                            var
                        }
                        _ => self.new_var(name, VarKind::Named),
                    };
                    self.scopes.add_local(name, var);
                }
            }
        }
        let list = self.facts.params(&params);
        self.facts.body_mut(body).params = list;
        params.iter().map(|param| param.name).collect()
    }
}

/// The metavariables between two commas of a matcher.
struct Position<'t> {
    all: Vec<Node<'t>>,
    /// One that stands for a whole argument of a call.
    is_argument: bool,
}

/// Returns the metavariables of a matcher by the commas of its outermost level.
fn positions(left: Node<'_>) -> Vec<Position<'_>> {
    let mut found = vec![Position { all: Vec::new(), is_argument: true }];
    let mut parts = 0;
    let count = left.child_count() as usize;
    for (at, part) in all(left).enumerate() {
        if at == 0 || at + 1 == count {
            continue;
        }
        if kind(part) == K::Comma {
            found.push(Position { all: Vec::new(), is_argument: true });
            parts = 0;
            continue;
        }
        parts += 1;
        let Some(last) = found.last_mut() else { continue };
        last.is_argument &= parts == 1 && kind(part) == K::TokenBindingPattern;
        let mut open = vec![part];
        while let Some(next) = open.pop() {
            if kind(next) == K::Metavariable {
                last.all.push(next);
            }
            open.extend(named(next));
        }
    }
    found
}

/// Returns the code that an arm writes, without the signs of metavariables and repetitions.
fn pieces(right: Node<'_>) -> Vec<Range<usize>> {
    let (start, end) = (right.start_byte() + 1, right.end_byte().saturating_sub(1));
    let mut left_out: Vec<Range<usize>> = Vec::new();
    let mut open = vec![right];
    while let Some(node) = open.pop() {
        for part in all(node) {
            match kind(part) {
                K::Metavariable => left_out.push(part.start_byte()..part.start_byte() + 1),
                K::TokenRepetition => {
                    let first = all(part).find(|sign| sign.kind() == "(");
                    let last = all(part).filter(|sign| sign.kind() == ")").last();
                    if let (Some(first), Some(last)) = (first, last) {
                        left_out.push(part.start_byte()..first.end_byte());
                        left_out.push(last.start_byte()..part.end_byte());
                    }
                    open.push(part);
                }
                K::TokenTree => open.push(part),
                _ => {}
            }
        }
    }
    left_out.sort_by_key(|range| range.start);
    let mut found = Vec::new();
    let mut at = start;
    for range in left_out {
        if range.start > at {
            found.push(at..range.start);
        }
        at = at.max(range.end);
    }
    if end > at {
        found.push(at..end);
    }
    found
}
