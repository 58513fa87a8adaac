//! Classes, `type` statements, decorators and type parameters; functions are in `functions.rs`.

use blocklint_facts::{
    Arg, AssignKind, BodyId, BodyKind, Class, ClassId, ClassKind, Form, FormId, List, SiteFlags, SiteKind, Sym, VarId,
    VarKind,
};
use ruff_python_ast::{Decorator, Expr, StmtClassDef, StmtTypeAlias, TypeParam, TypeParams};
use ruff_text_size::{Ranged, TextRange};
use smallvec::SmallVec;

use crate::annotations::last_name;
use crate::scope::ScopeKind;
use crate::walk::{Walker, span};

impl Walker<'_> {
    pub(crate) fn walk_class(&mut self, node: &StmtClassDef) {
        let decorators = self.walk_decorators(&node.decorator_list);
        let outer_body = self.body;
        let type_params = match node.type_params.as_deref() {
            Some(params) => self.open_type_params(params),
            None => List::EMPTY,
        };
        let items = self.items.len();
        let args = self.args.len();
        if let Some(arguments) = node.arguments.as_deref() {
            for base in &arguments.args {
                let form = match base {
                    // `Base[T]` is a type; other expressions are values.
                    Expr::Name(_) | Expr::Attribute(_) | Expr::Subscript(_) => self.walk_annotation(base),
                    _ => self.walk_expr(base),
                };
                self.items.push(form);
            }
            for keyword in &arguments.keywords {
                let mut value = self.walk_expr(&keyword.value);
                let name = match &keyword.arg {
                    Some(name) => self.facts.intern(&name.id),
                    None => {
                        value = self.facts.form(Form::StarStar(value));
                        Sym::NONE
                    }
                };
                self.args.push(Arg { name, value, span: span(keyword.value.range()) });
            }
        }
        let bases = self.finish_list(items);
        let keywords = self.facts.args(&self.args[args..]);
        self.args.truncate(args);
        let decorator_list = self.facts.list(&decorators);
        let name = self.facts.intern(&node.name.id);
        let id = self.facts.class(Class {
            kind: ClassKind::Class,
            name,
            body: BodyId::NONE,
            parent: outer_body,
            bases,
            keywords,
            decorators: decorator_list,
            type_params,
            subject: FormId::NONE,
            span: span(node.range),
            name_span: span(node.name.range),
            var: VarId::NONE,
        });
        let outer = self.enter_body(BodyKind::Class, name, span(node.range), span(node.name.range));
        self.facts.class_mut(id).body = self.body;
        self.class = id;
        let body = self.body;
        self.walk_suite(&node.body);
        self.leave_body(outer);
        if node.type_params.is_some() {
            self.scopes.close();
        }
        let bound = self.bind_name(&node.name.id, VarKind::Named);
        let var = bound.map_or(VarId::NONE, |(_, var)| var);
        self.facts.class_mut(id).var = var;
        self.facts.body_mut(body).var = var;
        let class = self.facts.form(Form::Class(id));
        let value = self.apply_decorators(&node.decorator_list, &decorators, class, node.name.range);
        if let Some((target, _)) = bound {
            self.add_assignment(AssignKind::Definition, target, value, FormId::NONE, node.name.range);
        }
    }

    /// Walks `type X[T] = …`, which is a class of kind `Alias` without a body.
    pub(crate) fn walk_type_alias(&mut self, node: &StmtTypeAlias) {
        let type_params = match node.type_params.as_deref() {
            Some(params) => self.open_type_params(params),
            None => List::EMPTY,
        };
        let subject = self.walk_annotation(&node.value);
        if node.type_params.is_some() {
            self.scopes.close();
        }
        let Expr::Name(target) = &*node.name else { return };
        let Some((form, var)) = self.bind_name(&target.id, VarKind::Named) else { return };
        let name = self.facts.intern(&target.id);
        let id: ClassId = self.facts.class(Class {
            kind: ClassKind::Alias,
            name,
            body: BodyId::NONE,
            parent: self.body,
            bases: List::EMPTY,
            keywords: List::EMPTY,
            decorators: List::EMPTY,
            type_params,
            subject,
            span: span(node.range),
            name_span: span(target.range),
            var,
        });
        let value = self.facts.form(Form::Class(id));
        self.add_assignment(AssignKind::Definition, form, value, FormId::NONE, target.range);
    }

    /// Returns the forms of the decorators, the outermost first.
    pub(crate) fn walk_decorators(&mut self, decorators: &[Decorator]) -> SmallVec<[FormId; 4]> {
        decorators.iter().map(|decorator| self.walk_callee(&decorator.expression)).collect()
    }

    /// Adds the calls of decorators, the innermost first. Returns the form that the name is bound to.
    pub(crate) fn apply_decorators(
        &mut self,
        nodes: &[Decorator],
        decorators: &[FormId],
        definition: FormId,
        definition_range: TextRange,
    ) -> FormId {
        let mut value = definition;
        for (node, &decorator) in nodes.iter().zip(decorators).rev() {
            let name = self.facts.intern(last_name(&node.expression));
            let args = self.args.len();
            self.args.push(Arg { name: Sym::NONE, value, span: span(definition_range) });
            let range = node.expression.range();
            let site = self.add_site(SiteKind::Decorate, SiteFlags::default(), decorator, name, range, range, args);
            value = self.facts.form(Form::Result(site));
        }
        value
    }

    /// Opens the scope of type parameters, which the caller closes. The value of each is its upper bound, if it has
    /// one.
    pub(crate) fn open_type_params(&mut self, params: &TypeParams) -> List {
        self.scopes.open(ScopeKind::TypeParams, self.body);
        let items = self.items.len();
        for param in params.iter() {
            let (name, bound) = match param {
                TypeParam::TypeVar(node) => (&node.name, node.bound.as_deref()),
                TypeParam::TypeVarTuple(node) => (&node.name, None),
                TypeParam::ParamSpec(node) => (&node.name, None),
            };
            let Some((target, _)) = self.bind_name(&name.id, VarKind::Inner) else { continue };
            let sym = self.facts.intern(&name.id);
            let mut row = self.facts.form(Form::Str(sym));
            let mut value = Form::Other;
            if let Some(bound) = bound {
                let bound = self.walk_annotation(bound);
                row = self.facts.form(Form::Cast(row, bound));
                value = Form::Bound(bound);
            }
            let value = self.facts.form(value);
            self.add_assignment(AssignKind::Plain, target, value, FormId::NONE, name.range);
            self.items.push(row);
        }
        self.finish_list(items)
    }
}
