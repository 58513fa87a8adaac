//! Expressions: each operation becomes a call site, each value a form.
//!
//! A method reference `a::b` is `Path(a, b)`, and `Foo::new` is `Path(Foo, "new")`.

use blocklint_facts::{
    AltKind, AssignKind, BodyFlags, BodyKind, ClassId, Comparison, DisplayKind, Form, FormId, ParamKind, RegionKind,
};
use tree_sitter::Node;

use crate::NO_NAME;
use crate::kinds::{K, all, child, fields, first, kind, named};
use crate::walker::{Walker, Walking, span};

impl Walker<'_> {
    /// Walks an expression and returns its form.
    pub(crate) fn walk_value(&mut self, node: Node<'_>) -> FormId {
        self.one_level_deeper(node, |walker| walker.walk_chain(node)).unwrap_or_else(|| self.other())
    }

    fn walk_chain(&mut self, node: Node<'_>) -> FormId {
        // Chains of calls and fields are left-associative, in generated code 100,000 links long.
        let mut chain = Vec::new();
        let mut innermost = Link::new(node);
        while let Some(inner) = innermost.inner {
            chain.push(innermost);
            innermost = Link::new(inner);
        }
        let mut form = self.walk_value_inner(&innermost);
        while let Some(link) = chain.pop() {
            form = self.walk_link(&link, form);
        }
        form
    }

    /// Walks one link of a chain; `inner` is the form of its inner expression.
    fn walk_link(&mut self, link: &Link<'_>, inner: FormId) -> FormId {
        let f = fields();
        let node = link.node;
        match link.kind {
            K::Invocation => self.walk_invocation(link, Some(inner)),
            K::FieldAccess => {
                let field = child(node, f.field);
                let inner = self.apply_qualified_super(link, field.unwrap_or(node), inner);
                let Some(field) = field else { return self.other() };
                let name = self.name_symbol(field);
                self.form(Form::Attr(inner, name))
            }
            K::ArrayAccess => {
                let index = match child(node, f.index) {
                    Some(index) => self.walk_value(index),
                    None => self.other(),
                };
                self.form(Form::Subscript(inner, index))
            }
            K::MethodReference => {
                let last = all(node).last();
                let Some(last) = last else { return self.other() };
                let name = self.name_symbol(last);
                self.form(Form::Path(inner, name))
            }
            K::Cast => {
                let mut types = Vec::new();
                let mut cursor = node.walk();
                if let Some(field) = std::num::NonZeroU16::new(f.type_name) {
                    let nodes: Vec<Node<'_>> = node.children_by_field_id(field, &mut cursor).collect();
                    for ty in nodes.into_iter().filter(|ty| ty.is_named()) {
                        types.push(self.type_form(ty));
                    }
                }
                let ty = self.alternatives(AltKind::And, &types);
                self.form(Form::Cast(inner, ty))
            }
            K::Unary => match self.source.get(node.start_byte()) {
                Some(b'!') => self.form(Form::Not(inner)),
                Some(b'-') => match self.facts.facts().form(inner) {
                    Form::Int(value) => self.form(Form::Int(value.wrapping_neg())),
                    Form::Float(value) => self.form(Form::Float(-value)),
                    _ => self.other(),
                },
                Some(b'+') => inner,
                _ => self.other(),
            },
            K::Instanceof => self.walk_instanceof(node, inner),
            // Parentheses.
            _ => inner,
        }
    }

    /// Returns the receiver of a link: `Outer.super` if a `super` is between object and name (`Outer.super.m`), else
    /// `inner`.
    pub(crate) fn apply_qualified_super(&mut self, link: &Link<'_>, name: Node<'_>, inner: FormId) -> FormId {
        let Link { node, inner: Some(object), .. } = *link else { return inner };
        // Mostly there is only a dot. After a syntax error the node of `super` can have no text.
        let between = self.source.get(object.end_byte()..name.start_byte()).unwrap_or_default();
        if !contains_word(between, b"super") && !node.has_error() {
            return inner;
        }
        if all(node).any(|part| kind(part) == K::Super && part != object) {
            let name = self.facts.intern("super");
            return self.form(Form::Attr(inner, name));
        }
        inner
    }

    /// Walks `x instanceof T t`. Returns the test `x is T`, and binds `t` to `x`.
    fn walk_instanceof(&mut self, node: Node<'_>, value: FormId) -> FormId {
        let f = fields();
        if let Some(pattern) = child(node, f.pattern) {
            let ty = named(pattern).next().map(|ty| self.type_form(ty)).unwrap_or_else(|| self.other());
            self.bind_pattern(pattern, value);
            return self.form(Form::Compare(Comparison::Is, value, ty));
        }
        let Some(ty_node) = child(node, f.right) else { return self.other() };
        let ty = self.type_form(ty_node);
        if let Some(name) = child(node, f.name) {
            self.bind_typed_name(ty_node, name, value);
        }
        self.form(Form::Compare(Comparison::Is, value, ty))
    }

    fn walk_value_inner(&mut self, link: &Link<'_>) -> FormId {
        let f = fields();
        let node = link.node;
        match link.kind {
            K::Identifier => self.walk_name(node),
            K::This => {
                self.mark_this_captured();
                self.form(Form::This)
            }
            K::Super => {
                let name = self.facts.intern("super");
                self.form(Form::Name(name))
            }
            K::Invocation => self.walk_invocation(link, None),
            K::Creation => self.walk_creation(node),
            K::Lambda => self.walk_lambda(node),
            K::Binary => self.walk_binary(node),
            K::Ternary => self.walk_ternary(node),
            K::Assignment => self.walk_assignment(node),
            K::Update => {
                let Some(operand) = first(node) else { return self.other() };
                let target = self.walk_value(operand);
                let value = self.other();
                if matches!(self.facts.facts().form(target), Form::Var(_) | Form::Attr(..) | Form::Subscript(..)) {
                    self.bind(target, value, FormId::NONE, AssignKind::Augmented, span(operand));
                }
                value
            }
            K::Switch => self.walk_switch(node),
            K::ArrayCreation => {
                for dimension in named(node).filter(|part| kind(*part) == K::DimensionsExpr) {
                    for size in named(dimension) {
                        self.walk_value(size);
                    }
                }
                match child(node, f.value) {
                    Some(value) => self.walk_initial_value(value),
                    None => {
                        let list = self.facts.list(&[]);
                        self.form(Form::Display(DisplayKind::List, list))
                    }
                }
            }
            K::ArrayInitializer => self.walk_initial_value(node),
            K::ClassLiteral => {
                let ty = match named(node).next() {
                    Some(ty) => self.type_form(ty),
                    None => self.other(),
                };
                let name = self.facts.intern("class");
                self.form(Form::Attr(ty, name))
            }
            // The type of a method reference.
            K::GenericType | K::ArrayType | K::ScopedType | K::TypeIdentifier | K::IntegralType => self.type_form(node),
            K::ScopedIdentifier => self.type_form(node),
            _ if node.is_error() => {
                for part in named(node) {
                    self.walk_value(part);
                }
                self.other()
            }
            _ => self.literal_form(node),
        }
    }

    /// Returns the form of a name in an expression: a local, a field of a class around, a class, or an unknown name.
    pub(crate) fn walk_name(&mut self, node: Node<'_>) -> FormId {
        let name = self.name_symbol(node);
        if let Some((var, is_local)) = self.scopes.resolve_value(name) {
            if is_local {
                self.capture(var);
            }
            return self.var_form(var);
        }
        self.resolve_type_name(name)
    }

    /// Walks a lambda, which is a body of its own.
    fn walk_lambda(&mut self, node: Node<'_>) -> FormId {
        let f = fields();
        let name = self.facts.intern("<lambda>");
        let first = child(node, f.parameters).unwrap_or(node);
        let body = self.add_body(BodyKind::Lambda, name, span(node), span(first), BodyFlags::default());
        let place = self.enter_body(body, ClassId::NONE);
        self.scopes.open();
        match kind(first) {
            K::FormalParameters | K::InferredParameters => {
                self.walk_parameters(first, body);
            }
            _ => {
                let sym = self.binding_symbol(first);
                let param = self.add_param(sym, ParamKind::PositionalOnly, 0, FormId::NONE);
                let list = self.facts.params(&[param]);
                self.facts.body_mut(body).params = list;
            }
        }
        match child(node, f.body) {
            Some(block) if kind(block) == K::Block => {
                self.walk_block(block);
            }
            Some(value) => {
                let form = self.walk_value(value);
                self.add_exit(form, span(value));
            }
            None => {}
        }
        self.scopes.close();
        self.leave_body(place);
        self.form(Form::Callable(body))
    }

    /// Walks a chain of left-associative operators; consecutive `&&` (or `||`) are one list.
    fn walk_binary(&mut self, node: Node<'_>) -> FormId {
        let mut operands_left = Vec::new();
        let mut leftmost = node;
        while kind(leftmost) == K::Binary {
            let Some((left, operator, right)) = operands(leftmost) else { break };
            operands_left.push((kind(operator), right));
            leftmost = left;
        }
        let mut form = if kind(leftmost) == K::Binary { self.other() } else { self.walk_value(leftmost) };
        while let Some((sign, right)) = operands_left.pop() {
            let short_circuit = match sign {
                K::AndSign => Some((AltKind::And, RegionKind::Then)),
                K::OrSign => Some((AltKind::Or, RegionKind::Else)),
                _ => None,
            };
            let Some((alt_kind, arm)) = short_circuit else {
                let right = self.walk_value(right);
                form = match comparison(sign) {
                    Some(comparison) => self.form(Form::Compare(comparison, form, right)),
                    None => self.other(),
                };
                continue;
            };
            let mut parts = vec![form, self.walk_conditional(right, arm, form)];
            while operands_left.last().is_some_and(|(next, _)| *next == sign) {
                let Some((_, right)) = operands_left.pop() else { break };
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

    fn walk_ternary(&mut self, node: Node<'_>) -> FormId {
        let f = fields();
        let (Some(condition), Some(then), Some(otherwise)) =
            (child(node, f.condition), child(node, f.consequence), child(node, f.alternative))
        else {
            return self.other();
        };
        let test = self.walk_value(condition);
        let group = self.facts.group();
        let mut parts = vec![test];
        for (arm, part) in [(RegionKind::Then, then), (RegionKind::Else, otherwise)] {
            parts.push(if runs_no_code(part) {
                self.walk_value(part)
            } else {
                let region = self.open_arm(arm, group, test, span(part));
                self.in_region(region, |walker| walker.walk_value(part))
            });
        }
        let list = self.facts.list(&parts);
        self.form(Form::Alt(AltKind::Ternary, list))
    }

    fn walk_assignment(&mut self, node: Node<'_>) -> FormId {
        let f = fields();
        let (Some(left), Some(right)) = (child(node, f.left), child(node, f.right)) else { return self.other() };
        let is_plain = child(node, f.operator).is_none_or(|operator| kind(operator) == K::EqualsSign);
        let target = self.walk_value(left);
        let value = self.walk_value(right);
        let (value, assign) = if is_plain { (value, AssignKind::Plain) } else { (self.other(), AssignKind::Augmented) };
        self.bind(target, value, FormId::NONE, assign, span(left));
        value
    }

    /// Walks the arguments of a call.
    pub(crate) fn walk_arguments(&mut self, node: Node<'_>) -> Vec<blocklint_facts::Arg> {
        let parts = named(node);
        let mut args = Vec::with_capacity(parts.most_remaining().unwrap_or_default());
        for part in parts {
            args.push(blocklint_facts::Arg { name: NO_NAME, value: self.walk_value(part), span: span(part) });
        }
        args
    }
}

/// An expression that is possibly a link of a chain.
pub(crate) struct Link<'t> {
    pub(crate) node: Node<'t>,
    kind: K,
    /// The inner expression (`a` of `a.b()`); `None` if the expression is no link.
    pub(crate) inner: Option<Node<'t>>,
    /// Of a method call.
    pub(crate) name: Option<Node<'t>>,
    /// Of a method call.
    pub(crate) arguments: Option<Node<'t>>,
}

impl<'t> Link<'t> {
    fn new(node: Node<'t>) -> Self {
        let kind = kind(node);
        if kind == K::Invocation {
            return Self::from_call(node);
        }
        Link { node, kind, inner: inner_expression(node, kind), name: None, arguments: None }
    }

    /// Returns the link of `name(…)` or `object.name(…)`. Calls with further children are read by the grammar's fields.
    fn from_call(node: Node<'t>) -> Self {
        let count = node.named_child_count() as u32;
        if matches!(count, 2 | 3) && !node.has_error() {
            let (name, arguments) = (node.named_child(count - 2), node.named_child(count - 1));
            if name.is_some_and(|name| kind(name) == K::Identifier)
                && arguments.is_some_and(|arguments| kind(arguments) == K::Arguments)
            {
                let inner = if count == 3 { node.named_child(0) } else { None };
                return Link { node, kind: K::Invocation, inner, name, arguments };
            }
        }
        let f = fields();
        let (name, arguments) = (child(node, f.name), child(node, f.arguments));
        Link { node, kind: K::Invocation, inner: child(node, f.object), name, arguments }
    }
}

/// Returns the inner expression of a link of a chain; `None` for other expressions. Calls are handled by
/// [`Link::from_call`].
fn inner_expression(node: Node<'_>, kind: K) -> Option<Node<'_>> {
    let f = fields();
    match kind {
        K::FieldAccess => child(node, f.object),
        K::ArrayAccess => child(node, f.array),
        K::Paren | K::MethodReference => first(node),
        K::Cast => child(node, f.value),
        K::Unary => child(node, f.operand),
        K::Instanceof => child(node, f.left),
        _ => None,
    }
}

/// True if an expression can neither run other code nor bind a name.
pub(crate) fn runs_no_code(node: Node<'_>) -> bool {
    let mut expression = node;
    loop {
        let kind = kind(expression);
        expression = match kind {
            K::Invocation
            | K::Creation
            | K::Lambda
            | K::MethodReference
            | K::Switch
            | K::Ternary
            | K::Assignment
            | K::Update
            | K::Instanceof
            | K::ArrayCreation
            | K::ArrayInitializer
            | K::ArrayAccess
            | K::TemplateExpression => return false,
            K::FieldAccess | K::Paren | K::Unary | K::Cast => match inner_expression(expression, kind) {
                Some(inner) => inner,
                None => return true,
            },
            K::Binary => match operands(expression) {
                Some((left, _, right)) if is_leaf(right) => left,
                _ => return false,
            },
            _ => return true,
        };
    }
}

fn is_leaf(node: Node<'_>) -> bool {
    first(node).is_none()
}

/// Returns the left side, the operator and the right side of a binary expression.
fn operands(node: Node<'_>) -> Option<(Node<'_>, Node<'_>, Node<'_>)> {
    // With a comment or a syntax error there are further children.
    if node.child_count() == 3 && !node.has_error() {
        return Some((node.child(0)?, node.child(1)?, node.child(2)?));
    }
    let f = fields();
    Some((child(node, f.left)?, child(node, f.operator)?, child(node, f.right)?))
}

/// True if a text contains a word, also within a longer word.
pub(crate) fn contains_word(text: &[u8], word: &[u8]) -> bool {
    text.len() >= word.len() && text.windows(word.len()).any(|part| part == word)
}

fn comparison(sign: K) -> Option<Comparison> {
    Some(match sign {
        K::Equal => Comparison::Eq,
        K::NotEqual => Comparison::NotEq,
        K::LessSign => Comparison::Less,
        K::LessEqual => Comparison::LessEq,
        K::GreaterSign => Comparison::Greater,
        K::GreaterEqual => Comparison::GreaterEq,
        _ => return None,
    })
}
