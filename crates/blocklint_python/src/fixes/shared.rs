//! Shared mutable state: collections in attributes, counters, attributes of arguments. On the event loop no other task
//! runs between two changes of a function; if the function moves to a thread, tasks of the loop do.
//!
//! An assignment to one attribute of `self` is not counted, because a reader sees the old value or the new one.

use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprCall, ModModule, Stmt, StmtFunctionDef};
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::{FxHashMap, FxHashSet};

use super::callee::last_name;
use super::surroundings::is_lock;

/// The reason against moving a call of a function that changes shared state.
pub(super) const SHARED: &str =
    "it changes state, and other tasks could see it half changed: protect it with a lock, or split the two steps";

/// Methods that change a collection.
const MUTATING_METHODS: &[&str] = &[
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

/// The types of collections.
const COLLECTION_TYPES: &[&str] = &["dict", "list", "set", "defaultdict", "deque", "OrderedDict", "Counter"];

/// The names of the attributes to which a file assigns a collection.
#[derive(Debug, Default)]
pub(super) struct CollectionAttributes<'a>(FxHashSet<&'a str>);

impl<'a> CollectionAttributes<'a> {
    pub(super) fn collect(module: &'a ModModule) -> Self {
        let mut found = CollectionAttributes::default();
        found.visit_body(&module.body);
        found
    }
}

impl<'a> SourceOrderVisitor<'a> for CollectionAttributes<'a> {
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
        Expr::Call(call) => last_name(&call.func).is_some_and(|name| COLLECTION_TYPES.contains(&name)),
        _ => false,
    }
}

/// Length of the chains of helpers that are followed within a file.
const HELPER_DEPTH: u32 = 2;

/// Returns the range where a function changes shared state outside of locks, itself or by a helper of the same file
/// that gets the state as an argument.
pub(super) fn find_shared_change<'e>(
    function: &'e StmtFunctionDef,
    collections: &CollectionAttributes<'_>,
    helpers: &Helpers<'e>,
) -> Option<TextRange> {
    let parameters: Vec<&str> = function.parameters.iter().map(|parameter| parameter.name().as_str()).collect();
    find_change_of_parameters(function, parameters, collections, helpers, HELPER_DEPTH)
}

/// Returns the range of a change of shared state, if these parameters are the shared state.
fn find_change_of_parameters<'e>(
    function: &'e StmtFunctionDef,
    shared: Vec<&'e str>,
    collections: &CollectionAttributes<'_>,
    helpers: &Helpers<'e>,
    depth: u32,
) -> Option<TextRange> {
    if matches!(function.name.as_str(), "__init__" | "__new__" | "__post_init__") {
        return None;
    }
    let mut mutates = SharedChanges { shared, collections, found: None, calls: Vec::new() };
    mutates.visit_body(&function.body);
    let Some(rest) = depth.checked_sub(1) else { return mutates.found };
    let SharedChanges { found, shared, calls, .. } = mutates;
    found.or_else(|| {
        calls.into_iter().find_map(|call| {
            let (helper, passed) = helpers.find_helper(function, call, &shared)?;
            find_change_of_parameters(helper, passed, collections, helpers, rest)
        })
    })
}

/// The functions and methods of a file, as helpers of its other functions.
#[derive(Debug, Default)]
pub(super) struct Helpers<'a> {
    free: FxHashMap<&'a str, &'a StmtFunctionDef>,
    /// The methods by name, each with the range of its class.
    methods: FxHashMap<&'a str, Vec<(TextRange, &'a StmtFunctionDef)>>,
}

impl<'a> Helpers<'a> {
    pub(super) fn collect(module: &'a ModModule) -> Self {
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

    /// Returns the helper that a call runs, and those of its parameters to which the call passes shared state: a value
    /// that begins with one of the names in `shared`.
    fn find_helper(
        &self,
        caller: &StmtFunctionDef,
        call: &ExprCall,
        shared: &[&str],
    ) -> Option<(&'a StmtFunctionDef, Vec<&'a str>)> {
        let (helper, receiver) = match &*call.func {
            Expr::Name(name) => (*self.free.get(name.id.as_str())?, None),
            Expr::Attribute(attribute) => {
                let receiver = attribute.value.as_name_expr()?.id.as_str();
                let of_class =
                    self.methods.get(attribute.attr.as_str()).filter(|_| matches!(receiver, "self" | "cls"))?;
                (of_class.iter().find(|(class, _)| class.contains_range(caller.range()))?.1, Some(receiver))
            }
            _ => return None,
        };
        if helper.is_async {
            return None;
        }
        let is_shared = |value: &Expr| root_name(value).is_some_and(|name| shared.contains(&name));
        let mut names = helper.parameters.iter_non_variadic_params().map(|parameter| parameter.name().as_str());
        let mut passed = Vec::new();
        if let Some(receiver) = receiver {
            let first_name = names.next();
            passed.extend(first_name.filter(|_| shared.contains(&receiver)));
        }
        for argument in &*call.arguments.args {
            if argument.is_starred_expr() {
                break;
            }
            let name = names.next();
            passed.extend(name.filter(|_| is_shared(argument)));
        }
        let by_name = call.arguments.keywords.iter().filter(|keyword| is_shared(&keyword.value));
        let by_name = by_name.filter_map(|keyword| keyword.arg.as_ref());
        for candidate in by_name {
            let mut names_again =
                helper.parameters.iter_non_variadic_params().map(|parameter| parameter.name().as_str());
            passed.extend(names_again.find(|name| *name == candidate.as_str()));
        }
        (!passed.is_empty()).then_some((helper, passed))
    }
}

/// Returns `a` of `a` and of `a.b.c`.
fn root_name(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(attribute) => root_name(&attribute.value),
        _ => None,
    }
}

/// A visitor that finds the first change of shared state, and the calls to follow.
struct SharedChanges<'e, 'c> {
    /// The parameters whose values are shared state.
    shared: Vec<&'e str>,
    collections: &'c CollectionAttributes<'c>,
    found: Option<TextRange>,
    /// The calls outside of locks.
    calls: Vec<&'e ExprCall>,
}

impl SharedChanges<'_, '_> {
    /// Returns the last attribute of an expression that begins with a shared parameter: `rows` of `self.rows`,
    /// `table.rows`.
    fn attribute_of_parameter<'e>(&self, expression: &'e Expr) -> Option<&'e str> {
        let Expr::Attribute(attribute) = expression else { return None };
        let mut base = &*attribute.value;
        while let Expr::Attribute(inner) = base {
            base = &inner.value;
        }
        let name = base.as_name_expr()?;
        self.shared.contains(&name.id.as_str()).then_some(attribute.attr.as_str())
    }

    /// True if an assignment to a target changes shared state.
    fn is_shared(&self, target: &Expr) -> bool {
        match target {
            Expr::Subscript(subscript) => self.attribute_of_parameter(&subscript.value).is_some(),
            Expr::Attribute(attribute) => {
                let owner = attribute.value.as_name_expr().map(|name| name.id.as_str());
                owner.is_some_and(|name| !matches!(name, "self" | "cls") && self.shared.contains(&name))
            }
            Expr::Tuple(tuple) => tuple.elts.iter().any(|each| self.is_shared(each)),
            _ => false,
        }
    }

    fn mutates(&self, call: &ExprCall) -> bool {
        match &*call.func {
            Expr::Attribute(method) => {
                MUTATING_METHODS.contains(&method.attr.as_str())
                    && self.attribute_of_parameter(&method.value).is_some_and(|name| self.collections.0.contains(name))
            }
            Expr::Name(name) if name.id == "setattr" => {
                let target = call.arguments.args.first().and_then(Expr::as_name_expr).map(|target| target.id.as_str());
                target.is_some_and(|target| target != "self" && self.shared.contains(&target))
            }
            _ => false,
        }
    }
}

impl<'e> SourceOrderVisitor<'e> for SharedChanges<'e, '_> {
    fn visit_stmt(&mut self, statement: &'e Stmt) {
        let is_shared = match statement {
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => return,
            Stmt::With(with) if with.items.iter().any(|item| is_lock(&item.context_expr)) => return,
            Stmt::Assign(assign) => assign.targets.iter().any(|target| self.is_shared(target)),
            Stmt::AugAssign(assign) => {
                self.is_shared(&assign.target) || self.attribute_of_parameter(&assign.target).is_some()
            }
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
            if self.mutates(call) {
                self.found.get_or_insert(call.range());
            }
        }
        walk_expr(self, expression);
    }
}
