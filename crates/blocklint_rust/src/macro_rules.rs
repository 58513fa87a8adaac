//! `macro_rules!` of the project: a macro is a function `name!`, whose body is the code of all its arms. A metavariable
//! is a parameter if it is a whole argument of a call, else a variable without a value. Repeated code is walked once.

use std::ops::Range;

use blocklint_facts::{
    AssignKind, BodyId, BodyKind, ClassId, ExitKind, Flow, Form, FormId, Param, ParamKind, RegionKind, Sym, VarKind,
};
use tree_sitter::Node;

use crate::kinds::{K, all, child, fields, kind, named};
use crate::macros::single_expression;
use crate::scope::ScopeKind;
use crate::walker::{Walker, Walking, span};

/// Arms of one macro that are walked.
const MOST_ARMS: usize = 24;

impl Walker<'_> {
    /// Returns the name of a macro as an item: `name!`, because a function can have the same name.
    pub(crate) fn macro_item_name(&mut self, node: Node<'_>) -> Option<Sym> {
        let name = self.text(child(node, fields().name)?).into_owned();
        Some(self.facts.intern(&format!("{name}!")))
    }

    /// Walks `macro_rules! name { (…) => { … }; … }`, which is a function `name!`.
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
        let mut is_deferred = vec![true; params.len()];
        for rule in rules {
            let Some(right) = child(rule, fields().right) else { continue };
            let Some(tree) = self.parse_pieces(&arm_code_ranges(right), 0) else { continue };
            let root = tree.root_node();
            self.keep_only_deferred(&params, right, root, &mut is_deferred);
            let region = self.open_arm(RegionKind::Case, group, FormId::NONE, span(right));
            self.in_region(region, |walker| {
                walker.macro_depth += 1;
                match single_expression(root) {
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
        if is_deferred.contains(&true) {
            self.deferred_arguments.insert(name, is_deferred);
        }
    }

    /// Clears `is_deferred` for the parameters that an arm also uses outside of closures and async blocks.
    fn keep_only_deferred(&mut self, params: &[Sym], right: Node<'_>, root: Node<'_>, is_deferred: &mut [bool]) {
        let mut open = vec![right];
        while let Some(node) = open.pop() {
            if kind(node) != K::Metavariable {
                open.extend(named(node));
                continue;
            }
            let text = self.text(node).trim_start_matches('$').to_owned();
            let name = self.facts.intern(&text);
            let Some(index) = params.iter().position(|param| *param == name) else { continue };
            let mut enclosing = root.descendant_for_byte_range(node.start_byte() + 1, node.end_byte());
            while enclosing.is_some_and(|around| !matches!(kind(around), K::Closure | K::AsyncBlock)) {
                enclosing = enclosing.and_then(|around| around.parent());
            }
            is_deferred[index] &= enclosing.is_some();
        }
    }

    /// Declares the metavariables of all arms. Returns the names of those that are parameters: the whole arguments of a
    /// call, by their position.
    fn declare_metavariables(&mut self, body: BodyId, rules: &[Node<'_>]) -> Vec<Sym> {
        let mut params: Vec<Param> = Vec::new();
        let mut declared: Vec<Sym> = Vec::new();
        for rule in rules {
            let Some(left) = child(*rule, fields().left) else { continue };
            for (number, names) in split_matcher(left).into_iter().enumerate() {
                for binding in names.metavariables {
                    let text = self.text(binding).trim_start_matches('$').to_owned();
                    let name = self.facts.intern(&text);
                    if declared.contains(&name) {
                        continue;
                    }
                    declared.push(name);
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
    metavariables: Vec<Node<'t>>,
    /// True if the first of them is a whole argument of a call.
    is_argument: bool,
}

/// Returns the metavariables of a matcher, split at the commas of its outermost level.
fn split_matcher(left: Node<'_>) -> Vec<Position<'_>> {
    let mut positions = vec![Position { metavariables: Vec::new(), is_argument: true }];
    let mut parts = 0;
    let count = left.child_count() as usize;
    for (index, part) in all(left).enumerate() {
        if index == 0 || index + 1 == count {
            continue;
        }
        if kind(part) == K::Comma {
            positions.push(Position { metavariables: Vec::new(), is_argument: true });
            parts = 0;
            continue;
        }
        parts += 1;
        let Some(last) = positions.last_mut() else { continue };
        last.is_argument &= parts == 1 && kind(part) == K::TokenBindingPattern;
        let mut pending = vec![part];
        while let Some(next) = pending.pop() {
            if kind(next) == K::Metavariable {
                last.metavariables.push(next);
            }
            pending.extend(named(next));
        }
    }
    positions
}

/// Returns the ranges of an arm's code, without the `$` of metavariables and the `$(…)*` around repetitions.
fn arm_code_ranges(right: Node<'_>) -> Vec<Range<usize>> {
    let (start, end) = (right.start_byte() + 1, right.end_byte().saturating_sub(1));
    let mut left_out: Vec<Range<usize>> = Vec::new();
    let mut pending = vec![right];
    while let Some(node) = pending.pop() {
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
                    pending.push(part);
                }
                K::TokenTree => pending.push(part),
                _ => {}
            }
        }
    }
    left_out.sort_by_key(|range| range.start);
    let mut ranges = Vec::new();
    let mut offset = start;
    for range in left_out {
        if range.start > offset {
            ranges.push(offset..range.start);
        }
        offset = offset.max(range.end);
    }
    if end > offset {
        ranges.push(offset..end);
    }
    ranges
}
