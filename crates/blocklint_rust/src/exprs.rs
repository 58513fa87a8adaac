//! Expressions: each operation becomes a call site, each value a form.
//!
//! An expression that diverges has the form `FormId::NONE`: `return`, `break`, `panic!(…)`, a loop without end.

use blocklint_facts::{
    AltKind, AssignKind, BodyFlags, BodyKind, Comparison, DisplayKind, ExitKind, Flow, Form, FormId, RegionKind,
    SiteKind,
};
use tree_sitter::Node;

use crate::blocks::BlockValue;
use crate::kinds::{K, child, fields, has, kind, named};
use crate::scope::ScopeKind;
use crate::walker::{Walker, Walking, span};

impl Walker<'_> {
    /// Walks an expression and returns its form; `Other` if it diverges.
    pub(crate) fn walk_value(&mut self, node: Node<'_>) -> FormId {
        let form = self.walk_expr(node);
        if form.is_none() { self.other() } else { form }
    }

    /// Walks an expression and returns its form; [`FormId::NONE`] if it diverges.
    pub(crate) fn walk_expr(&mut self, node: Node<'_>) -> FormId {
        self.one_level_deeper(node, |walker| walker.walk_chain(node)).unwrap_or_else(|| self.other())
    }

    fn walk_chain(&mut self, node: Node<'_>) -> FormId {
        // Chains of calls, fields, `?` and `.await` are left-associative, in generated code 100,000 links long.
        let mut chain = Vec::new();
        let mut innermost = node;
        while let Some(inner) = inner_expression(innermost) {
            chain.push(innermost);
            innermost = inner;
        }
        let mut form = self.walk_expr_inner(innermost);
        if let Form::Var(var) = self.facts.facts().form(form) {
            self.record_local_use(var, &chain);
        }
        while let Some(link) = chain.pop() {
            if form.is_none() {
                form = self.other();
            }
            form = self.walk_link(link, form);
        }
        form
    }

    /// Walks one link of a chain; `inner` is the form of its inner expression.
    fn walk_link(&mut self, node: Node<'_>, inner: FormId) -> FormId {
        let f = fields();
        match kind(node) {
            K::Call => self.walk_call(node, inner),
            K::Field => {
                let Some(field) = child(node, f.field) else { return self.other() };
                let name = self.name_symbol(field);
                self.form(Form::Attr(inner, name))
            }
            K::Await => {
                // The `await` of a block's value comes after the end of the block.
                let is_block =
                    named(node).next().is_some_and(|operand| matches!(kind(operand), K::Block | K::If | K::Match));
                let awaited_site = match self.facts.facts().form(inner) {
                    Form::Result(site) if !is_block => Some(site),
                    _ => None,
                };
                match awaited_site {
                    Some(site) => self.flag(site, blocklint_facts::SiteFlags::AWAITED),
                    None => {
                        let operand = named(node).next().unwrap_or(node);
                        self.add_implicit_call(SiteKind::Await, "poll", inner, span(operand));
                    }
                }
                self.form(Form::Await(inner))
            }
            K::Try => self.form(Form::Try(inner)),
            K::GenericFunction => match child(node, f.type_arguments) {
                Some(arguments) => self.apply_type_arguments(inner, arguments),
                None => inner,
            },
            K::Index => {
                let index = named(node).nth(1);
                let index = match index {
                    Some(index) => self.walk_value(index),
                    None => self.other(),
                };
                self.form(Form::Subscript(inner, index))
            }
            K::Cast => {
                let ty = self.type_form_in_field(node, f.type_name);
                self.form(Form::Cast(inner, ty))
            }
            K::Unary => match self.operator_sign(node) {
                b'!' => self.form(Form::Not(inner)),
                b'-' => match self.facts.facts().form(inner) {
                    Form::Int(value) => self.form(Form::Int(value.wrapping_neg())),
                    Form::Float(value) => self.form(Form::Float(-value)),
                    _ => self.other(),
                },
                // Member lookup dereferences automatically. The `*` of a call's result is recorded because it shows
                // that the result itself (a guard) is dropped, and only the value behind it is kept.
                _ => {
                    if matches!(self.facts.facts().form(inner), Form::Result(_) | Form::Try(_)) {
                        self.add_implicit_call(SiteKind::Operator, "*", inner, span(node));
                    }
                    inner
                }
            },
            // References, parentheses.
            _ => inner,
        }
    }

    fn operator_sign(&self, node: Node<'_>) -> u8 {
        self.source.get(node.start_byte()).copied().unwrap_or_default()
    }

    fn walk_expr_inner(&mut self, node: Node<'_>) -> FormId {
        let f = fields();
        match kind(node) {
            K::Identifier | K::TypeIdentifier => self.walk_name(node),
            K::SelfWord => {
                let name = self.facts.intern("self");
                self.resolve_value(name)
            }
            K::Crate | K::Super => {
                let name = self.name_symbol(node);
                self.form(Form::Name(name))
            }
            K::ScopedIdentifier => self.path_form(node),
            K::String | K::RawString | K::Char | K::Bool | K::Integer | K::Float | K::NegativeLiteral => {
                self.literal_form(node)
            }
            K::Unit => self.form(Form::None),
            K::MacroInvocation => self.walk_macro_expr(node),
            K::Binary => self.walk_binary(node),
            K::RangeExpr => {
                for part in named(node) {
                    self.walk_value(part);
                }
                self.other()
            }
            K::Assignment => {
                if let (Some(left), Some(right)) = (child(node, f.left), child(node, f.right)) {
                    let value = self.walk_value(right);
                    self.assign_target(left, value);
                }
                self.form(Form::None)
            }
            K::CompoundAssign => {
                if let (Some(left), Some(right)) = (child(node, f.left), child(node, f.right)) {
                    self.walk_value(right);
                    let target = self.walk_value(left);
                    let value = self.other();
                    self.bind(target, value, FormId::NONE, AssignKind::Augmented, span(left));
                }
                self.form(Form::None)
            }
            K::Return => {
                let value = named(node).next();
                let form = match value {
                    Some(value) => self.walk_value(value),
                    None => FormId::NONE,
                };
                self.add_exit(ExitKind::Return, form, span(node));
                FormId::NONE
            }
            K::Yield => {
                let form = match named(node).next() {
                    Some(value) => self.walk_value(value),
                    None => FormId::NONE,
                };
                self.add_exit(ExitKind::Yield, form, span(node));
                self.other()
            }
            K::Break => self.walk_break(node),
            K::Continue => FormId::NONE,
            K::ArrayExpr => {
                let length = child(node, f.length);
                let mut parts = Vec::new();
                for part in named(node).filter(|part| kind(*part) != K::AttributeItem) {
                    let form = self.walk_value(part);
                    if Some(part) != length {
                        parts.push(form);
                    }
                }
                self.display_form(DisplayKind::List, &parts)
            }
            K::TupleExpr => {
                let parts: Vec<FormId> = named(node)
                    .filter(|part| kind(*part) != K::AttributeItem)
                    .map(|part| self.walk_value(part))
                    .collect();
                self.display_form(DisplayKind::Tuple, &parts)
            }
            K::StructExpr => self.walk_struct_expr(node),
            K::Closure => self.walk_closure(node),
            K::AsyncBlock => self.walk_lazy_block(node, BodyKind::AsyncBlock, Flow::Coroutine, "<async block>"),
            K::GenBlock => self.walk_lazy_block(node, BodyKind::GeneratorExpression, Flow::Generator, "<gen block>"),
            K::Block => self.walk_scoped_block(node),
            K::UnsafeBlock | K::ConstBlock | K::TryBlock => {
                let block = named(node).find(|part| kind(*part) == K::Block);
                match block {
                    Some(block) => self.walk_scoped_block(block),
                    None => self.other(),
                }
            }
            K::If => self.walk_if(node, &mut Vec::new()),
            K::Match => self.walk_match(node, &mut Vec::new()),
            K::While | K::Loop | K::For => self.walk_loop(node),
            K::LetCondition | K::LetChain => self.walk_condition(node),
            _ if node.is_error() => {
                for part in named(node) {
                    self.walk_value(part);
                }
                self.other()
            }
            _ => self.other(),
        }
    }

    /// Returns the display of these elements.
    pub(crate) fn display_form(&mut self, kind: DisplayKind, parts: &[FormId]) -> FormId {
        let list = self.facts.list(parts);
        self.form(Form::Display(kind, list))
    }

    /// Returns the form of a name in an expression.
    pub(crate) fn walk_name(&mut self, node: Node<'_>) -> FormId {
        let name = self.name_symbol(node);
        self.resolve_value(name)
    }

    fn resolve_value(&mut self, name: blocklint_facts::Sym) -> FormId {
        match self.scopes.resolve_value(name) {
            Some((var, is_local)) => {
                if is_local {
                    self.capture(var);
                }
                self.var_form(var)
            }
            None if self.facts.facts().text(name) == "None" => self.form(Form::None),
            None => self.form(Form::Name(name)),
        }
    }

    /// Binds the target of an assignment; a tuple is destructured.
    fn assign_target(&mut self, left: Node<'_>, value: FormId) {
        match kind(left) {
            K::TupleExpr | K::ArrayExpr => {
                let parts: Vec<Node<'_>> = named(left).collect();
                for (index, part) in parts.into_iter().enumerate() {
                    let form = self.form(Form::Part(value, index as u32));
                    let _ = self.one_level_deeper(part, |walker| walker.assign_target(part, form));
                }
            }
            _ => {
                let target = self.walk_value(left);
                if !matches!(self.facts.facts().form(target), Form::Other | Form::Result(_)) {
                    self.bind(target, value, FormId::NONE, AssignKind::Plain, span(left));
                }
            }
        }
    }

    /// Walks a chain of left-associative operators; consecutive `&&` (or `||`) are one list.
    fn walk_binary(&mut self, node: Node<'_>) -> FormId {
        let f = fields();
        let mut operands = Vec::new();
        let mut leftmost = node;
        while kind(leftmost) == K::Binary {
            let (Some(left), Some(operator), Some(right)) =
                (child(leftmost, f.left), child(leftmost, f.operator), child(leftmost, f.right))
            else {
                break;
            };
            operands.push((operator, right));
            leftmost = left;
        }
        let mut form = if kind(leftmost) == K::Binary { self.other() } else { self.walk_value(leftmost) };
        while let Some((operator, right)) = operands.pop() {
            let operator_text = operator.kind();
            let short_circuit = match operator_text {
                "&&" => Some((AltKind::And, RegionKind::Then)),
                "||" => Some((AltKind::Or, RegionKind::Else)),
                _ => None,
            };
            let Some((alt_kind, arm)) = short_circuit else {
                let right = self.walk_value(right);
                form = match comparison(operator_text) {
                    Some(comparison) => self.form(Form::Compare(comparison, form, right)),
                    None => self.other(),
                };
                continue;
            };
            let mut parts = vec![form, self.walk_conditional(right, arm, form)];
            while operands.last().is_some_and(|(next, _)| next.kind() == operator_text) {
                let Some((_, right)) = operands.pop() else { break };
                parts.push(self.walk_conditional(right, arm, form));
            }
            let list = self.facts.list(&parts);
            form = self.form(Form::Alt(alt_kind, list));
        }
        form
    }

    /// Walks the right side of `&&` or `||`, which runs only if `test` has the value of the arm.
    fn walk_conditional(&mut self, node: Node<'_>, arm: RegionKind, test: FormId) -> FormId {
        if runs_no_code(node) {
            return self.walk_value(node);
        }
        let region = self.open_region(arm, test, span(node));
        self.in_region(region, |walker| walker.walk_value(node))
    }

    /// Walks a closure, which is a body of its own.
    fn walk_closure(&mut self, node: Node<'_>) -> FormId {
        let f = fields();
        let flow = if has(node, K::Async) { Flow::Coroutine } else { Flow::Sync };
        let name = self.facts.intern("<closure>");
        let first = child(node, f.parameters).unwrap_or(node);
        let body = self.add_body(BodyKind::Lambda, flow, name, span(node), span(first));
        if has(node, K::Move) {
            let row = self.facts.body_mut(body);
            row.flags = row.flags.with(BodyFlags::MOVE);
        }
        let place = self.enter_body(body, blocklint_facts::ClassId::NONE);
        self.scopes.open(ScopeKind::Open);
        if let Some(parameters) = child(node, f.parameters) {
            self.walk_parameters(parameters, body);
        }
        let returns = self.type_form_in_field(node, f.return_type);
        self.facts.body_mut(body).returns = returns;
        match child(node, f.body) {
            Some(block) if kind(block) == K::Block => self.walk_block_as_body(block),
            Some(value) => {
                let form = self.walk_expr(value);
                if form.is_some() {
                    self.add_exit(ExitKind::Return, form, span(value));
                }
            }
            None => {}
        }
        self.scopes.close();
        self.leave_body(place);
        self.form(Form::Callable(body))
    }

    /// Walks the block of a macro such as `stream! { … }`, which is the body of an asynchronous generator.
    pub(crate) fn walk_stream_body(&mut self, block: Node<'_>, name: &str) -> FormId {
        let name = self.facts.intern(name);
        let start = block.start_byte() as u32;
        let word = blocklint_core::Span::new(start, start + 1);
        let body = self.add_body(BodyKind::AsyncBlock, Flow::AsyncGenerator, name, span(block), word);
        let place = self.enter_body(body, blocklint_facts::ClassId::NONE);
        self.walk_block(block);
        self.leave_body(place);
        self.form(Form::Run(body))
    }

    /// Walks an `async` or `gen` block, which is a body of its own.
    fn walk_lazy_block(&mut self, node: Node<'_>, body_kind: BodyKind, flow: Flow, name: &str) -> FormId {
        let name = self.facts.intern(name);
        let start = node.start_byte() as u32;
        let word = blocklint_core::Span::new(start, start + if flow == Flow::Coroutine { 5 } else { 3 });
        let body = self.add_body(body_kind, flow, name, span(node), word);
        if has(node, K::Move) {
            let row = self.facts.body_mut(body);
            row.flags = row.flags.with(BodyFlags::MOVE);
        }
        let place = self.enter_body(body, blocklint_facts::ClassId::NONE);
        if let Some(block) = named(node).find(|part| kind(*part) == K::Block) {
            let value: BlockValue = self.walk_block(block);
            if value.has_tail && value.form.is_some() {
                self.add_exit(ExitKind::Return, value.form, value.span);
            }
        }
        self.leave_body(place);
        self.form(Form::Run(body))
    }
}

/// Returns the inner expression of a link of a chain (`a` of `a.b()`); `None` for other expressions.
fn inner_expression(node: Node<'_>) -> Option<Node<'_>> {
    let f = fields();
    match kind(node) {
        K::Call | K::GenericFunction => child(node, f.function),
        K::Field | K::Reference | K::Cast => child(node, f.value),
        K::Await | K::Try | K::Index | K::Paren | K::Unary => named(node).next(),
        _ => None,
    }
}

/// True if an expression cannot run other code.
fn runs_no_code(node: Node<'_>) -> bool {
    let mut expression = node;
    loop {
        match kind(expression) {
            K::Identifier
            | K::SelfWord
            | K::ScopedIdentifier
            | K::String
            | K::Bool
            | K::Integer
            | K::Float
            | K::Char => return true,
            K::Field | K::Reference | K::Paren | K::Unary | K::Cast => match inner_expression(expression) {
                Some(inner) => expression = inner,
                None => return true,
            },
            K::Binary => match (child(expression, fields().left), child(expression, fields().right)) {
                // Long chains are left-associative, so only one level of the right side is checked.
                (Some(left), Some(right)) if !matches!(kind(right), K::Binary) => {
                    if matches!(kind(right), K::Call | K::MacroInvocation | K::Await | K::Block | K::If | K::Match) {
                        return false;
                    }
                    expression = left;
                }
                _ => return false,
            },
            _ => return false,
        }
    }
}

fn comparison(sign: &str) -> Option<Comparison> {
    Some(match sign {
        "==" => Comparison::Eq,
        "!=" => Comparison::NotEq,
        "<" => Comparison::Less,
        "<=" => Comparison::LessEq,
        ">" => Comparison::Greater,
        ">=" => Comparison::GreaterEq,
        _ => return None,
    })
}
