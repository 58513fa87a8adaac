//! Functions, lambdas and their parameters.

use blocklint_facts::{
    AssignKind, BodyFlags, BodyId, BodyKind, ExitKind, Flow, Form, FormId, Param, ParamKind, Sym, VarId, VarKind,
};
use ruff_python_ast::{Expr, ExprLambda, Parameter, Parameters, Stmt, StmtFunctionDef};
use ruff_text_size::Ranged;
use smallvec::SmallVec;

use crate::annotations::last_name;
use crate::walk::{Walker, span};

/// A parameter's kind, its node and its default.
type Row<'a> = (ParamKind, &'a Parameter, Option<&'a Expr>);

impl Walker<'_> {
    pub(crate) fn walk_function(&mut self, node: &StmtFunctionDef) {
        let decorators = self.walk_decorators(&node.decorator_list);
        let type_params = node.type_params.as_deref();
        if let Some(params) = type_params {
            self.open_type_params(params);
        }
        let mut params = self.walk_params(&node.parameters, true);
        let returns = node.returns.as_deref().map_or(FormId::NONE, |returns| self.walk_annotation(returns));
        let name = self.facts.intern(&node.name.id);
        let outer = self.enter_body(BodyKind::Function, name, span(node.range), span(node.name.range));
        let id = self.body;
        self.bind_params(id, &mut params);
        self.walk_suite(&node.body);
        let flow = match (node.is_async, self.yields) {
            (false, false) => Flow::Sync,
            (false, true) => Flow::Generator,
            (true, false) => Flow::Coroutine,
            (true, true) => Flow::AsyncGenerator,
        };
        let body = self.facts.body_mut(id);
        body.flow = flow;
        body.returns = returns;
        if is_stub(&node.body) {
            body.flags = body.flags.with(BodyFlags::STUB);
        }
        self.leave_body(outer);
        if type_params.is_some() {
            self.scopes.close();
        }
        let list = self.facts.list(&decorators);
        let bound = self.bind_name(&node.name.id, VarKind::Named);
        let body = self.facts.body_mut(id);
        body.decorators = list;
        body.var = bound.map_or(VarId::NONE, |(_, var)| var);
        let callable = self.facts.form(Form::Callable(id));
        let value = self.apply_decorators(&node.decorator_list, &decorators, callable, node.name.range);
        if let Some((target, _)) = bound {
            self.add_assignment(AssignKind::Definition, target, value, FormId::NONE, node.name.range);
        }
    }

    pub(crate) fn walk_lambda(&mut self, node: &ExprLambda) -> FormId {
        let mut params = match node.parameters.as_deref() {
            Some(parameters) => self.walk_params(parameters, false),
            None => SmallVec::new(),
        };
        let name = self.facts.intern("<lambda>");
        let outer = self.enter_body(BodyKind::Lambda, name, span(node.range), span(node.range));
        let id = self.body;
        self.bind_params(id, &mut params);
        let value = self.walk_expr(&node.body);
        self.add_exit(ExitKind::Return, value, node.body.range());
        if self.yields {
            self.facts.body_mut(id).flow = Flow::Generator;
        }
        self.leave_body(outer);
        self.facts.form(Form::Callable(id))
    }

    /// Walks defaults and annotations, which are evaluated in the scope around the body.
    fn walk_params(&mut self, parameters: &Parameters, has_annotations: bool) -> SmallVec<[Param; 8]> {
        let mut params = SmallVec::new();
        let mut push = |walker: &mut Self, (kind, parameter, default): Row<'_>| {
            let default = default.map_or(FormId::NONE, |default| walker.walk_expr(default));
            let annotation = match parameter.annotation.as_deref() {
                Some(annotation) if has_annotations => walker.walk_annotation(annotation),
                _ => FormId::NONE,
            };
            let name = walker.facts.intern(&parameter.name.id);
            params.push(Param { name, kind, var: VarId::NONE, default, annotation });
        };
        for (kind, list) in
            [(ParamKind::PositionalOnly, &parameters.posonlyargs), (ParamKind::Normal, &parameters.args)]
        {
            for row in list {
                push(self, (kind, &row.parameter, row.default.as_deref()));
            }
        }
        if let Some(parameter) = parameters.vararg.as_deref() {
            push(self, (ParamKind::VarArgs, parameter, None));
        }
        for row in &parameters.kwonlyargs {
            push(self, (ParamKind::KeywordOnly, &row.parameter, row.default.as_deref()));
        }
        if let Some(parameter) = parameters.kwarg.as_deref() {
            push(self, (ParamKind::KwArgs, parameter, None));
        }
        params
    }

    fn bind_params(&mut self, body: BodyId, params: &mut [Param]) {
        for (index, param) in params.iter_mut().enumerate() {
            if param.name != Sym::NONE && !self.facts.facts().text(param.name).is_empty() {
                (_, param.var) = self.scopes.bind_name(param.name, VarKind::Param(index as u32), &mut self.facts);
            }
        }
        let list = self.facts.params(params);
        self.facts.body_mut(body).params = list;
    }
}

/// True if subclasses are to implement a function: its body is only a docstring, `...`, or `raise NotImplementedError`.
/// A body of `pass` does nothing on purpose.
fn is_stub(suite: &[Stmt]) -> bool {
    suite.iter().all(|statement| match statement {
        Stmt::Expr(node) => matches!(&*node.value, Expr::StringLiteral(_) | Expr::EllipsisLiteral(_)),
        Stmt::Raise(node) => {
            let exception = match node.exc.as_deref() {
                Some(Expr::Call(call)) => &*call.func,
                Some(other) => other,
                None => return false,
            };
            last_name(exception) == "NotImplementedError"
        }
        _ => false,
    })
}
