//! State that a function changes and that other code sees too: collections of its object, counters, attributes of its
//! arguments. On the loop no other task ran between two such changes; in a thread, all tasks of the loop do.
//!
//! One attribute that gets a new value is no such state, because a reader sees the old value or the new one.

use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprCall, ModModule, Stmt, StmtFunctionDef};
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::{FxHashMap, FxHashSet};

use super::callee::last_name;
use super::surroundings::is_lock;

/// Why a call of such a function stays where it is.
pub(super) const SHARED: &str =
    "it changes state that other tasks could see half changed: protect it with a lock, or split the two steps";

/// Methods that change a collection.
const CHANGING: &[&str] = &[
    "add",
    "append",
    "appendleft",
    "clear",
    "discard",
    "extend",
    "insert",
    "pop",
    "popitem",
    "popleft",
    "remove",
    "setdefault",
    "update",
];

/// The callables that make a collection.
const COLLECTIONS: &[&str] = &["dict", "list", "set", "defaultdict", "deque", "OrderedDict", "Counter"];

/// The names of attributes that hold collections, as a file says.
#[derive(Debug, Default)]
pub(super) struct Collections<'a>(FxHashSet<&'a str>);

impl<'a> Collections<'a> {
    pub(super) fn of(module: &'a ModModule) -> Self {
        let mut found = Collections::default();
        found.visit_body(&module.body);
        found
    }
}

impl<'a> SourceOrderVisitor<'a> for Collections<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        let (target, value) = match statement {
            Stmt::Assign(assign) => (assign.targets.first(), Some(&*assign.value)),
            Stmt::AnnAssign(assign) => (Some(&*assign.target), assign.value.as_deref()),
            _ => (None, None),
        };
        if let (Some(Expr::Attribute(attribute)), Some(value)) = (target, value)
            && is_collection(value)
        {
            self.0.insert(attribute.attr.as_str());
        }
        walk_stmt(self, statement);
    }
}

fn is_collection(value: &Expr) -> bool {
    match value {
        Expr::List(_) | Expr::Dict(_) | Expr::Set(_) | Expr::ListComp(_) | Expr::DictComp(_) | Expr::SetComp(_) => true,
        Expr::Call(call) => last_name(&call.func).is_some_and(|name| COLLECTIONS.contains(&name)),
        _ => false,
    }
}

/// How many calls deep helpers of the same file are looked at.
const DEPTH: u32 = 2;

/// Returns the place where a function changes state that other code sees, outside of locks: itself, or by a helper of
/// the same file that gets the state as an argument.
pub(super) fn changed<'e>(
    function: &'e StmtFunctionDef,
    collections: &Collections<'_>,
    helpers: &Helpers<'e>,
) -> Option<TextRange> {
    let given: Vec<&str> = function.parameters.iter().map(|parameter| parameter.name().as_str()).collect();
    changed_by(function, given, collections, helpers, DEPTH)
}

/// Returns the place of such a change, where other code sees only the values of these parameters.
fn changed_by<'e>(
    function: &'e StmtFunctionDef,
    given: Vec<&'e str>,
    collections: &Collections<'_>,
    helpers: &Helpers<'e>,
    depth: u32,
) -> Option<TextRange> {
    if matches!(function.name.as_str(), "__init__" | "__new__" | "__post_init__") {
        return None;
    }
    let mut seen = Seen { given, collections, found: None, calls: Vec::new() };
    seen.visit_body(&function.body);
    let Some(deeper) = depth.checked_sub(1) else { return seen.found };
    let Seen { found, given, calls, .. } = seen;
    found.or_else(|| {
        calls.into_iter().find_map(|call| {
            let (helper, handed_on) = helpers.called(function, call, &given)?;
            changed_by(helper, handed_on, collections, helpers, deeper)
        })
    })
}

/// The functions of a file that its other functions call as helpers.
#[derive(Debug, Default)]
pub(super) struct Helpers<'a> {
    free: FxHashMap<&'a str, &'a StmtFunctionDef>,
    /// By where the class stands that holds them.
    methods: FxHashMap<&'a str, Vec<(TextRange, &'a StmtFunctionDef)>>,
}

impl<'a> Helpers<'a> {
    pub(super) fn of(module: &'a ModModule) -> Self {
        let mut helpers = Helpers::default();
        for statement in &module.body {
            match statement {
                Stmt::FunctionDef(function) => {
                    helpers.free.insert(function.name.as_str(), function);
                }
                Stmt::ClassDef(class) => {
                    for function in class.body.iter().filter_map(Stmt::as_function_def_stmt) {
                        let named = helpers.methods.entry(function.name.as_str()).or_default();
                        named.push((class.range(), function));
                    }
                }
                _ => {}
            }
        }
        helpers
    }

    /// Returns the helper that a call in a function runs, and the parameters of the helper that get values which the
    /// function was given itself.
    fn called(
        &self,
        from: &StmtFunctionDef,
        call: &ExprCall,
        given: &[&str],
    ) -> Option<(&'a StmtFunctionDef, Vec<&'a str>)> {
        let (helper, receiver) = match &*call.func {
            Expr::Name(name) => (*self.free.get(name.id.as_str())?, None),
            Expr::Attribute(of) => {
                let receiver = of.value.as_name_expr()?.id.as_str();
                let of_class = self.methods.get(of.attr.as_str()).filter(|_| matches!(receiver, "self" | "cls"))?;
                (of_class.iter().find(|(class, _)| class.contains_range(from.range()))?.1, Some(receiver))
            }
            _ => return None,
        };
        if helper.is_async {
            return None;
        }
        let is_given = |value: &Expr| begins_with(value).is_some_and(|name| given.contains(&name));
        let mut names = helper.parameters.iter_non_variadic_params().map(|parameter| parameter.name().as_str());
        let mut handed_on = Vec::new();
        if let Some(receiver) = receiver {
            let own = names.next();
            handed_on.extend(own.filter(|_| given.contains(&receiver)));
        }
        for argument in &*call.arguments.args {
            if argument.is_starred_expr() {
                break;
            }
            let name = names.next();
            handed_on.extend(name.filter(|_| is_given(argument)));
        }
        let by_name = call.arguments.keywords.iter().filter(|keyword| is_given(&keyword.value));
        let by_name = by_name.filter_map(|keyword| keyword.arg.as_ref());
        for wanted in by_name {
            let mut all = helper.parameters.iter_non_variadic_params().map(|parameter| parameter.name().as_str());
            handed_on.extend(all.find(|name| *name == wanted.as_str()));
        }
        (!handed_on.is_empty()).then_some((helper, handed_on))
    }
}

/// `a` of `a` and of `a.b.c`.
fn begins_with(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(of) => begins_with(&of.value),
        _ => None,
    }
}

struct Seen<'e, 'c> {
    /// The parameters that stand for what others see.
    given: Vec<&'e str>,
    collections: &'c Collections<'c>,
    found: Option<TextRange>,
    /// The calls outside of locks.
    calls: Vec<&'e ExprCall>,
}

impl Seen<'_, '_> {
    /// Returns the attribute of a parameter that an expression names, if any: `rows` of `self.rows`, `table.rows`.
    fn kept<'e>(&self, expression: &'e Expr) -> Option<&'e str> {
        let Expr::Attribute(attribute) = expression else { return None };
        let mut at = &*attribute.value;
        while let Expr::Attribute(of) = at {
            at = &of.value;
        }
        let name = at.as_name_expr()?;
        self.given.contains(&name.id.as_str()).then_some(attribute.attr.as_str())
    }

    /// True if a target is part of what others see.
    fn is_shared(&self, target: &Expr) -> bool {
        match target {
            Expr::Subscript(of) => self.kept(&of.value).is_some(),
            Expr::Attribute(of) => {
                let owner = of.value.as_name_expr().map(|name| name.id.as_str());
                owner.is_some_and(|name| !matches!(name, "self" | "cls") && self.given.contains(&name))
            }
            Expr::Tuple(of) => of.elts.iter().any(|each| self.is_shared(each)),
            _ => false,
        }
    }

    fn changes(&self, call: &ExprCall) -> bool {
        match &*call.func {
            Expr::Attribute(method) => {
                CHANGING.contains(&method.attr.as_str())
                    && self.kept(&method.value).is_some_and(|name| self.collections.0.contains(name))
            }
            Expr::Name(name) if name.id == "setattr" => {
                let of = call.arguments.args.first().and_then(Expr::as_name_expr).map(|of| of.id.as_str());
                of.is_some_and(|of| of != "self" && self.given.contains(&of))
            }
            _ => false,
        }
    }
}

impl<'e> SourceOrderVisitor<'e> for Seen<'e, '_> {
    fn visit_stmt(&mut self, statement: &'e Stmt) {
        let is_shared = match statement {
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => return,
            Stmt::With(with) if with.items.iter().any(|item| is_lock(&item.context_expr)) => return,
            Stmt::Assign(assign) => assign.targets.iter().any(|target| self.is_shared(target)),
            Stmt::AugAssign(assign) => self.is_shared(&assign.target) || self.kept(&assign.target).is_some(),
            Stmt::Delete(delete) => delete.targets.iter().any(|target| self.is_shared(target)),
            _ => false,
        };
        if is_shared {
            self.found.get_or_insert(statement.range());
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'e Expr) {
        if let Expr::Call(call) = expression {
            self.calls.push(call);
            if self.changes(call) {
                self.found.get_or_insert(call.range());
            }
        }
        walk_expr(self, expression);
    }
}
