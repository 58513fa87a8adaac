//! The check of the paths of a Java model against the classes of its library.

use blocklint_models::{
    Argument, CallRow, Entry, File, HandoverRow, LanguageModels, Path, Role, Selector, TypeExpr, TypeRow, Via,
    segment_matches,
};

use super::class_file::Method;
use super::classes::{Classes, OBJECT};
use crate::report::GlobExpansions;
use crate::rows::{RowView, arguments_of};

/// The checker of the rows of one model against the classes of one version of its library.
#[derive(Debug)]
pub(crate) struct Checker<'a> {
    classes: &'a Classes,
    /// The built-in models, for the roles of types such as futures.
    known: &'a LanguageModels,
    model: &'a File,
}

/// The methods or constructors that the path of a row refers to.
struct Target {
    /// The class of the methods, or of the constructors.
    owner: String,
    /// The name of the methods; `None` for constructors.
    member: Option<String>,
    /// All overloads, or those with the parameter list of the path.
    overloads: Vec<Method>,
}

impl<'a> Checker<'a> {
    /// Returns a checker for the rows of a model.
    pub(crate) fn new(classes: &'a Classes, known: &'a LanguageModels, model: &'a File) -> Self {
        Checker { classes, known, model }
    }

    /// Returns the mistakes of a path of a row, and adds the names that a glob covers to `expansions`.
    pub(crate) fn check_path(&self, row: RowView<'_>, path: &Path, expansions: &mut GlobExpansions) -> Vec<String> {
        if path.rank.is_glob() {
            return self.check_glob(row, path, expansions);
        }
        if let RowView::Type(row) = row {
            return self.check_type(row, path.body());
        }
        if via(row) == Some(Via::Decorator) {
            return match self.classes.get(path.body()) {
                None => vec![self.missing_message(path.body())],
                Some(class) if class.is_annotation() => Vec::new(),
                Some(_) => vec!["is no annotation".to_owned()],
            };
        }
        let target = match self.resolve(path) {
            Ok(target) => target,
            Err(message) => return vec![message],
        };
        if via(row) == Some(Via::Override) {
            let fixed = target.overloads.iter().all(Method::is_fixed);
            return if fixed { vec!["cannot be overridden".to_owned()] } else { Vec::new() };
        }
        let mut messages = check_arguments(row, &target.overloads);
        match row {
            RowView::Call(call) => {
                messages.extend(self.check_async(call, &target));
                messages.extend(self.check_returns(call, &target));
                messages.extend(self.check_twins(call, path.body()));
                messages.extend(self.check_overload_ambiguity(call, path));
            }
            RowView::Handover(row) if messages.is_empty() => {
                messages.extend(self.check_callable(row, &target.overloads))
            }
            RowView::Handover(_) | RowView::Type(_) => {}
        }
        messages
    }

    /// Returns the methods or constructors of a path, or the mistake if there are none.
    fn resolve(&self, path: &Path) -> Result<Target, String> {
        let name = path.body();
        let (owner, member, mut overloads) = if let Some(class) = self.classes.get(name) {
            let constructors = self.classes.constructors(&class);
            if constructors.is_empty() {
                return Err("has no constructor that others can call".to_owned());
            }
            (name, None, constructors)
        } else {
            let Some((owner, member)) = name.rsplit_once('.') else { return Err(self.missing_message(name)) };
            if self.classes.get(owner).is_none() {
                return Err(self.missing_message(name));
            }
            let methods = self.classes.methods(owner, member);
            if methods.is_empty() {
                let order = self.classes.order(owner);
                let hint = |base: &String| format!("; its base `{base}` is not at hand, give its package with --with");
                let hint = order.missing.first().map_or(String::new(), hint);
                return Err(format!("`{owner}` has no `{member}`{hint}"));
            }
            (owner, Some(member.to_owned()), methods)
        };
        if let Some(expected_parameters) = parameters(path) {
            let mut lists: Vec<String> =
                overloads.iter().map(|method| format!("({})", method.parameters.join(","))).collect();
            overloads.retain(|method| has_parameters(&method.parameters, &expected_parameters));
            if overloads.is_empty() {
                lists.sort();
                lists.dedup();
                return Err(format!("no overload has these parameters; there are {}", lists.join(" ")));
            }
        }
        Ok(Target { owner: owner.to_owned(), member, overloads })
    }

    /// Returns the message about a path that does not exist, with its longest existing prefix.
    fn missing_message(&self, name: &str) -> String {
        let mut prefix = name;
        while let Some((head, last)) = prefix.rsplit_once('.') {
            if self.classes.get(head).is_some() {
                return format!("`{head}` has no `{last}`");
            }
            if self.classes.has_package(head) {
                return format!("package `{head}` has no `{last}`");
            }
            prefix = head;
        }
        format!("no package `{prefix}`")
    }

    fn check_glob(&self, row: RowView<'_>, path: &Path, expansions: &mut GlobExpansions) -> Vec<String> {
        let body = path.body();
        if path.rank.is_deep() {
            let head = body.split("**").next().unwrap_or_default().trim_end_matches('.');
            let exists = self.classes.has_package(head) || self.classes.get(head).is_some();
            return if exists { Vec::new() } else { vec![self.missing_message(&format!("{head}.*"))] };
        }
        let (owner, member) = body.rsplit_once('.').unwrap_or(("", body));
        let owners = if owner.contains(['*', '[']) {
            self.classes.own_classes(|name| matches_glob(owner, name))
        } else if self.classes.get(owner).is_some() {
            vec![owner.to_owned()]
        } else {
            return vec![self.missing_message(body)];
        };
        let mut covered: Vec<(String, Vec<Method>)> = Vec::new();
        for owner in &owners {
            let members = self.classes.members(owner).into_iter().filter(|(name, _)| segment_matches(member, name));
            covered.extend(members.map(|(name, methods)| (format!("{owner}.{name}"), methods)));
        }
        covered.sort_by(|a, b| a.0.cmp(&b.0));
        expansions.0.push((path.text.clone(), covered.iter().map(|(name, _)| name.clone()).collect()));
        if covered.is_empty() {
            return vec!["matches nothing".to_owned()];
        }
        let RowView::Call(call) = row else { return Vec::new() };
        if call.held_effect().is_none() || call.is_async == Some(true) {
            return Vec::new();
        }
        let is_async = |(name, methods): &&(String, Vec<Method>)| {
            self.all_awaitable(methods) && !self.is_narrowed(name, path) && call.is_async != Some(true)
        };
        covered
            .iter()
            .filter(is_async)
            .map(|(name, _)| format!("covers `{name}`, which gives work to wait for"))
            .collect()
    }

    /// True if a row with a more specific path states the effect of a call of this name.
    fn is_narrowed(&self, name: &str, path: &Path) -> bool {
        let states_effect = |entry: &&Entry<CallRow>| entry.row.has_effect_group() || entry.row.is_async.is_some();
        let mut others = self.model.calls.iter().filter(states_effect).flat_map(|entry| &entry.paths);
        others.any(|other| other.rank < path.rank && matches_glob(other.body(), name))
    }

    fn all_awaitable(&self, methods: &[Method]) -> bool {
        !methods.is_empty() && methods.iter().all(|method| self.is_awaitable(&method.returns))
    }

    /// True if a type or one of its supertypes is a future or a publisher.
    fn is_awaitable(&self, ty: &str) -> bool {
        let is_awaitable_role = |role: Option<Role>| matches!(role, Some(Role::Future | Role::Publisher));
        let own_role = |name: &str| {
            let entry = self.model.types.iter().find(|entry| entry.paths.iter().any(|path| path.text == name));
            entry.and_then(|entry| entry.row.role)
        };
        self.classes.order(ty).names().any(|name| {
            is_awaitable_role(own_role(name)) || is_awaitable_role(self.known.ty(name).and_then(|rows| rows.role()))
        })
    }

    /// Checks `async`: a call returns a future or publisher if and only if its row states `async = true`.
    fn check_async(&self, row: &CallRow, target: &Target) -> Vec<String> {
        let single = |message: String| vec![message];
        let Some(first) = target.overloads.first() else { return Vec::new() };
        if row.is_async == Some(true) {
            if target.member.is_none() {
                return single("a constructor gives nothing to wait for".to_owned());
            }
            let any = target.overloads.iter().any(|method| self.is_awaitable(&method.returns));
            return if any {
                Vec::new()
            } else {
                single(format!("gives `{}`, which is nothing to wait for", first.returns))
            };
        }
        if target.member.is_none() || row.held_effect().is_none() || row.lazy {
            return Vec::new();
        }
        // A method like `future.sync()` waits, and then returns its receiver.
        let returns_receiver = |method: &&Method| self.classes.derives(&target.owner, &method.returns);
        let rest: Vec<Method> = target.overloads.iter().filter(|method| !returns_receiver(method)).cloned().collect();
        if self.all_awaitable(&rest) {
            return single(format!("gives `{}`, work to wait for: say `async = true`", rest[0].returns));
        }
        Vec::new()
    }

    /// Checks `returns`: the type must be a subtype or a supertype of the result type in the descriptor.
    fn check_returns(&self, row: &CallRow, target: &Target) -> Vec<String> {
        let expected_class = match &row.returns {
            Some(TypeExpr::SelfType(_)) => target.owner.as_str(),
            Some(TypeExpr::Path { path, .. }) if !path.contains('<') && path.contains('.') => path,
            _ => return Vec::new(),
        };
        let Some(first) = target.overloads.first().filter(|_| target.member.is_some()) else { return Vec::new() };
        if self.classes.get(expected_class).is_none() {
            let package = expected_class.rsplit_once('.').map_or("", |(package, _)| package);
            let is_own = self.classes.is_own_package(package) || self.classes.get(package).is_some();
            return if is_own { vec![format!("`{expected_class}` in `returns` does not exist")] } else { Vec::new() };
        }
        let agrees = |method: &Method| {
            let declared = method.returns.as_str();
            declared == OBJECT
                || self.classes.derives(expected_class, declared)
                || self.classes.derives(declared, expected_class)
                || self.classes.get(declared).is_none() && declared.contains('.')
        };
        if target.overloads.iter().any(agrees) {
            return Vec::new();
        }
        vec![format!("gives `{}`, not `{expected_class}`", first.returns)]
    }

    fn check_type(&self, row: &TypeRow, path: &str) -> Vec<String> {
        if self.classes.get(path).is_none() {
            return vec![self.missing_message(path)];
        }
        let order = self.classes.order(path);
        let mut messages = Vec::new();
        for base in row.bases.iter().filter_map(TypeExpr::path).filter(|base| !base.contains('<')) {
            if !order.contains(base) {
                let more = order.missing.first().map_or(String::new(), |name| format!(" (`{name}` is not at hand)"));
                messages.push(format!("does not derive from `{base}`{more}"));
            }
        }
        for (name, _) in &row.fields {
            if !order.known.iter().any(|class| class.fields.contains(name)) {
                messages.push(format!("has no field `{name}`"));
            }
        }
        if let Some(method) = &row.functional {
            let overloads = self.classes.methods(path, method);
            if overloads.is_empty() {
                messages.push(format!("has no method `{method}`"));
            } else if !overloads.iter().any(Method::is_abstract) {
                messages.push(format!("its method `{method}` is not abstract"));
            }
        }
        messages
    }

    /// Returns the mistake of a row with a parameter list that the analysis would also use for another overload. If the
    /// type of an argument is unknown, the analysis uses such a row unless another row has a different list of the same
    /// length.
    fn check_overload_ambiguity(&self, row: &CallRow, path: &Path) -> Option<String> {
        let row_parameters = parameters(path).filter(|_| row.held_effect().is_some())?;
        let is_same_method = |other_path: &&Path| other_path.body() == path.body() && parameters(other_path).is_some();
        let states_effect = |entry: &&Entry<CallRow>| entry.row.has_effect_group() || entry.row.is_async.is_some();
        let others: Vec<&Path> = self
            .model
            .calls
            .iter()
            .filter(states_effect)
            .flat_map(|entry| &entry.paths)
            .filter(is_same_method)
            .collect();
        let is_other_overload = |other_path: &&&Path| {
            parameters(other_path).is_some_and(|list| list.len() == row_parameters.len() && list != row_parameters)
        };
        // A row for all overloads with the same effect makes the confusion harmless.
        let has_same_effect = |entry: &Entry<CallRow>| {
            entry.row.effect == row.effect
                && !entry.row.is_conditional()
                && entry.paths.iter().any(|other_path| other_path.text == path.body())
        };
        if self.model.calls.iter().any(has_same_effect) || row.is_conditional() {
            return None;
        }
        if row_parameters.iter().all(|part| *part == "_")
            || others.iter().any(|other_path| is_other_overload(&other_path))
        {
            return None;
        }
        let name = path.body();
        let overloads = match self.classes.get(name) {
            Some(class) => self.classes.constructors(&class),
            None => name.rsplit_once('.').map_or(Vec::new(), |(owner, member)| self.classes.methods(owner, member)),
        };
        let other_path = overloads.iter().find(|method| {
            method.parameters.len() == row_parameters.len() && !has_parameters(&method.parameters, &row_parameters)
        })?;
        Some(format!("is taken for ({}), of which no row speaks", other_path.parameters.join(",")))
    }

    /// Checks that the type of a callback can be implemented by users: an interface, or a class that is not final.
    fn check_callable(&self, row: &HandoverRow, overloads: &[Method]) -> Vec<String> {
        let Selector::Argument(Argument::Position(position)) = &row.selector else { return Vec::new() };
        let types: Vec<&str> = overloads.iter().filter_map(|method| parameter_type(method, *position)).collect();
        let can_be_implemented = |ty: &&str| {
            let ty = ty.trim_end_matches("[]");
            match self.classes.get(ty) {
                Some(class) => class.is_interface() || !class.is_final(),
                None => ty.contains('.'),
            }
        };
        if types.is_empty() || types.iter().any(can_be_implemented) {
            return Vec::new();
        }
        vec![format!("argument {position} is `{}`, which no class implements", types[0])]
    }

    fn check_twins(&self, row: &CallRow, path: &str) -> Vec<String> {
        let name = path.rsplit('.').next().unwrap_or(path);
        let mut messages = Vec::new();
        for twin in row.instead.iter().flat_map(|instead| instead.all()) {
            let target = twin.split('(').next().unwrap_or(twin).replace('*', name);
            let (owner, member) = target.rsplit_once('.').unwrap_or(("", &target));
            if self.classes.get(&target).is_some() {
                continue;
            }
            let methods = self.classes.methods(owner, member);
            let is_own = self.classes.get(owner).is_some() || self.classes.is_own_package(owner);
            if methods.is_empty() && is_own {
                messages.push(format!("twin `{target}` does not exist"));
            }
        }
        messages
    }

    /// Returns the mistake of an alias: neither side exists. One side may be missing, because a renamed package is in
    /// another artifact or in an older version.
    pub(crate) fn check_alias(&self, left: &str, right: &str) -> Option<String> {
        let exists = |path: &str| {
            let path = path.split('<').next().unwrap_or(path).trim_end_matches('.');
            let member =
                path.rsplit_once('.').is_some_and(|(owner, name)| !self.classes.methods(owner, name).is_empty());
            self.classes.has_package(path) || self.classes.get(path).is_some() || member
        };
        (!exists(left) && !exists(right)).then(|| format!("neither it nor `{right}` exists"))
    }
}

/// Returns the parameter list of a path, if it has one.
fn parameters(path: &Path) -> Option<Vec<&str>> {
    let list = path.text.strip_prefix(path.body()).filter(|_| path.rank.has_parameters())?;
    let list = list.trim_start_matches('(').trim_end_matches(')');
    Some(list.split(',').map(str::trim).filter(|part| !part.is_empty()).collect())
}

fn via(row: RowView<'_>) -> Option<Via> {
    match row {
        RowView::Call(row) => row.via,
        RowView::Handover(row) => match row.selector {
            Selector::Via(via) => Some(via),
            Selector::Argument(_) => None,
        },
        RowView::Type(_) => None,
    }
}

/// Returns the type of the parameter for the argument at a position, which is negative from the end. All further
/// arguments of a variadic method belong to its last parameter.
fn parameter_type(method: &Method, position: i32) -> Option<&str> {
    let count = method.parameters.len();
    let index = match usize::try_from(position) {
        Ok(index) if method.is_variadic() => index.min(count.checked_sub(1)?),
        Ok(index) => index,
        Err(_) => count.checked_sub(position.unsigned_abs() as usize)?,
    };
    method.parameters.get(index).map(String::as_str)
}

/// Returns the mistakes of the arguments that a row refers to.
fn check_arguments(row: RowView<'_>, overloads: &[Method]) -> Vec<String> {
    let mistake = |argument: &Argument| match argument {
        Argument::Position(position) => {
            let any = overloads.iter().any(|method| parameter_type(method, *position).is_some());
            (!any).then(|| format!("has no argument {position}"))
        }
        // Java has no keyword arguments.
        Argument::Keyword(name) | Argument::Either(name, _) => Some(format!("`{name}`: arguments have no names here")),
        Argument::AllPositional | Argument::Receiver => None,
    };
    arguments_of(row).iter().filter_map(mistake).collect()
}

/// True if the parameters of a method are those that a row lists. The row has the qualified or simple name of each
/// type, or `_` for any type.
fn has_parameters(parameters: &[String], expected: &[&str]) -> bool {
    let is_same = |(parameter, expected): (&String, &&str)| {
        let expected = expected.replace("...", "[]");
        let is_simple_name = parameter.strip_suffix(&expected).is_some_and(|head| head.ends_with('.'));
        expected == "_" || *parameter == expected || is_simple_name
    };
    parameters.len() == expected.len() && parameters.iter().zip(expected).all(is_same)
}

/// True if the body of a path, with or without globs, matches a dotted name segment by segment.
fn matches_glob(pattern: &str, name: &str) -> bool {
    let mut names = name.split('.');
    pattern.split('.').all(|part| names.next().is_some_and(|name| segment_matches(part, name)))
        && names.next().is_none()
}
