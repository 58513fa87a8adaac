//! The check of a row of a Java model against the library.

use blocklint_models::{
    Argument, CallRow, Entry, File, HandoverRow, LanguageModels, Path, Role, Selector, TypeExpr, TypeRow, Via,
    segment_matches,
};

use super::class_file::Method;
use super::classes::{Classes, OBJECT};
use crate::report::Found;
use crate::rows::{RowView, arguments_of};

/// Checks the rows of one file against one set of classes.
#[derive(Debug)]
pub(crate) struct Checker<'a> {
    classes: &'a Classes,
    /// Properties of types, such as which types stand for work under way.
    known: &'a LanguageModels,
    model: &'a File,
}

/// The library's names that the path of a row leads to.
struct Named {
    /// The class of the methods, or of the constructors.
    owner: String,
    /// The method's name, if it is one.
    member: Option<String>,
    /// Every overload, or those that the path's parameter list fits.
    found: Vec<Method>,
}

impl<'a> Checker<'a> {
    /// For the rows of one file.
    pub(crate) fn new(classes: &'a Classes, known: &'a LanguageModels, model: &'a File) -> Self {
        Checker { classes, known, model }
    }

    /// Returns the mistakes of one path of a row, and adds the names that a glob covers to `found`.
    pub(crate) fn path(&self, row: RowView<'_>, path: &Path, found: &mut Found) -> Vec<String> {
        if path.rank.is_glob() {
            return self.glob(row, path, found);
        }
        if let RowView::Type(row) = row {
            return self.ty(row, path.body());
        }
        if via(row) == Some(Via::Decorator) {
            return match self.classes.get(path.body()) {
                None => vec![self.missing(path.body())],
                Some(class) if class.is_annotation() => Vec::new(),
                Some(_) => vec!["is no annotation".to_owned()],
            };
        }
        let named = match self.named(path) {
            Ok(named) => named,
            Err(message) => return vec![message],
        };
        if via(row) == Some(Via::Override) {
            let fixed = named.found.iter().all(Method::is_fixed);
            return if fixed { vec!["cannot be overridden".to_owned()] } else { Vec::new() };
        }
        let mut messages = arguments(row, &named.found);
        match row {
            RowView::Call(call) => {
                messages.extend(self.kind(call, &named));
                messages.extend(self.returns(call, &named));
                messages.extend(self.twins(call, path.body()));
                messages.extend(self.mistaken(call, path));
            }
            RowView::Handover(row) if messages.is_empty() => messages.extend(self.callable(row, &named.found)),
            RowView::Handover(_) | RowView::Type(_) => {}
        }
        messages
    }

    /// Returns the methods or constructors that a path means.
    fn named(&self, path: &Path) -> Result<Named, String> {
        let name = path.body();
        let (owner, member, mut found) = if let Some(class) = self.classes.get(name) {
            let found = self.classes.constructors(&class);
            if found.is_empty() {
                return Err("has no constructor that others can call".to_owned());
            }
            (name, None, found)
        } else {
            let Some((owner, member)) = name.rsplit_once('.') else { return Err(self.missing(name)) };
            if self.classes.get(owner).is_none() {
                return Err(self.missing(name));
            }
            let found = self.classes.methods(owner, member);
            if found.is_empty() {
                let order = self.classes.order(owner);
                let hint = |base: &String| format!("; its base `{base}` is not at hand, give its package with --with");
                let hint = order.missing.first().map_or(String::new(), hint);
                return Err(format!("`{owner}` has no `{member}`{hint}"));
            }
            (owner, Some(member.to_owned()), found)
        };
        if let Some(wanted) = parameters(path) {
            let mut lists: Vec<String> =
                found.iter().map(|method| format!("({})", method.parameters.join(","))).collect();
            found.retain(|method| fits(&method.parameters, &wanted));
            if found.is_empty() {
                lists.sort();
                lists.dedup();
                return Err(format!("no overload has these parameters; there are {}", lists.join(" ")));
            }
        }
        Ok(Named { owner: owner.to_owned(), member, found })
    }

    fn missing(&self, name: &str) -> String {
        let mut at = name;
        while let Some((head, last)) = at.rsplit_once('.') {
            if self.classes.get(head).is_some() {
                return format!("`{head}` has no `{last}`");
            }
            if self.classes.has_package(head) {
                return format!("package `{head}` has no `{last}`");
            }
            at = head;
        }
        format!("no package `{at}`")
    }

    fn glob(&self, row: RowView<'_>, path: &Path, found: &mut Found) -> Vec<String> {
        let body = path.body();
        if path.rank.is_deep() {
            let head = body.split("**").next().unwrap_or_default().trim_end_matches('.');
            let exists = self.classes.has_package(head) || self.classes.get(head).is_some();
            return if exists { Vec::new() } else { vec![self.missing(&format!("{head}.*"))] };
        }
        let (owner, member) = body.rsplit_once('.').unwrap_or(("", body));
        let owners = if owner.contains(['*', '[']) {
            self.classes.own(|name| matches(owner, name))
        } else if self.classes.get(owner).is_some() {
            vec![owner.to_owned()]
        } else {
            return vec![self.missing(body)];
        };
        let mut covered: Vec<(String, Vec<Method>)> = Vec::new();
        for owner in &owners {
            let members = self.classes.members(owner).into_iter().filter(|(name, _)| segment_matches(member, name));
            covered.extend(members.map(|(name, methods)| (format!("{owner}.{name}"), methods)));
        }
        covered.sort_by(|a, b| a.0.cmp(&b.0));
        found.expansions.push((path.text.clone(), covered.iter().map(|(name, _)| name.clone()).collect()));
        if covered.is_empty() {
            return vec!["matches nothing".to_owned()];
        }
        let RowView::Call(call) = row else { return Vec::new() };
        if call.held().is_none() || call.is_async == Some(true) {
            return Vec::new();
        }
        let waits = |(name, methods): &&(String, Vec<Method>)| {
            self.all_awaitable(methods) && !self.is_narrowed(name, path) && call.is_async != Some(true)
        };
        covered.iter().filter(waits).map(|(name, _)| format!("covers `{name}`, which gives work to wait for")).collect()
    }

    /// True if a more specific path states the effect of a call of this name.
    fn is_narrowed(&self, name: &str, path: &Path) -> bool {
        let speaks = |entry: &&Entry<CallRow>| entry.row.has_effect_group() || entry.row.is_async.is_some();
        let mut others = self.model.calls.iter().filter(speaks).flat_map(|entry| &entry.paths);
        others.any(|other| other.rank < path.rank && matches(other.body(), name))
    }

    fn all_awaitable(&self, found: &[Method]) -> bool {
        !found.is_empty() && found.iter().all(|method| self.is_awaitable(&method.returns))
    }

    /// True if a type, or one it derives from, stands for work under way or to be subscribed to.
    fn is_awaitable(&self, ty: &str) -> bool {
        let waits = |role: Option<Role>| matches!(role, Some(Role::Future | Role::Publisher));
        let own = |name: &str| {
            let entry = self.model.types.iter().find(|entry| entry.paths.iter().any(|path| path.text == name));
            entry.and_then(|entry| entry.row.role)
        };
        self.classes
            .order(ty)
            .names()
            .any(|name| waits(own(name)) || waits(self.known.ty(name).and_then(|rows| rows.role())))
    }

    fn kind(&self, row: &CallRow, named: &Named) -> Vec<String> {
        let one = |message: String| vec![message];
        let Some(first) = named.found.first() else { return Vec::new() };
        if row.is_async == Some(true) {
            if named.member.is_none() {
                return one("a constructor gives nothing to wait for".to_owned());
            }
            let any = named.found.iter().any(|method| self.is_awaitable(&method.returns));
            return if any {
                Vec::new()
            } else {
                one(format!("gives `{}`, which is nothing to wait for", first.returns))
            };
        }
        if named.member.is_none() || row.held().is_none() || row.lazy {
            return Vec::new();
        }
        // `future.sync()` gives the future itself, once it is done.
        let itself = |method: &&Method| self.classes.derives(&named.owner, &method.returns);
        let rest: Vec<Method> = named.found.iter().filter(|method| !itself(method)).cloned().collect();
        if self.all_awaitable(&rest) {
            return one(format!("gives `{}`, work to wait for: say `async = true`", rest[0].returns));
        }
        Vec::new()
    }

    /// Checks the result type of a call: it must be the type of the descriptor, or a subtype that the models know
    /// better.
    fn returns(&self, row: &CallRow, named: &Named) -> Vec<String> {
        let wanted = match &row.returns {
            Some(TypeExpr::SelfType(_)) => named.owner.as_str(),
            Some(TypeExpr::Path { path, .. }) if !path.contains('<') && path.contains('.') => path,
            _ => return Vec::new(),
        };
        let Some(first) = named.found.first().filter(|_| named.member.is_some()) else { return Vec::new() };
        if self.classes.get(wanted).is_none() {
            let package = wanted.rsplit_once('.').map_or("", |(package, _)| package);
            let is_own = self.classes.is_own_package(package) || self.classes.get(package).is_some();
            return if is_own { vec![format!("`{wanted}` in `returns` does not exist")] } else { Vec::new() };
        }
        let agrees = |method: &Method| {
            let given = method.returns.as_str();
            given == OBJECT
                || self.classes.derives(wanted, given)
                || self.classes.derives(given, wanted)
                || self.classes.get(given).is_none() && given.contains('.')
        };
        if named.found.iter().any(agrees) {
            return Vec::new();
        }
        vec![format!("gives `{}`, not `{wanted}`", first.returns)]
    }

    fn ty(&self, row: &TypeRow, path: &str) -> Vec<String> {
        if self.classes.get(path).is_none() {
            return vec![self.missing(path)];
        }
        let order = self.classes.order(path);
        let mut messages = Vec::new();
        for base in row.bases.iter().filter_map(TypeExpr::path).filter(|base| !base.contains('<')) {
            if !order.has(base) {
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
            let found = self.classes.methods(path, method);
            if found.is_empty() {
                messages.push(format!("has no method `{method}`"));
            } else if !found.iter().any(Method::is_abstract) {
                messages.push(format!("its method `{method}` is not abstract"));
            }
        }
        messages
    }

    /// If the type of an argument is unknown, a row that names its type is taken, unless another row names the other
    /// overloads with as many parameters.
    fn mistaken(&self, row: &CallRow, path: &Path) -> Option<String> {
        let wanted = parameters(path).filter(|_| row.held().is_some())?;
        let of_same = |other: &&Path| other.body() == path.body() && parameters(other).is_some();
        let speaks = |entry: &&Entry<CallRow>| entry.row.has_effect_group() || entry.row.is_async.is_some();
        let others: Vec<&Path> =
            self.model.calls.iter().filter(speaks).flat_map(|entry| &entry.paths).filter(of_same).collect();
        let covered =
            |other: &&&Path| parameters(other).is_some_and(|list| list.len() == wanted.len() && list != wanted);
        // A row for all overloads says the same of the others.
        let same = |entry: &Entry<CallRow>| {
            entry.row.effect == row.effect
                && !entry.row.is_conditional()
                && entry.paths.iter().any(|other| other.text == path.body())
        };
        if self.model.calls.iter().any(same) || row.is_conditional() {
            return None;
        }
        if wanted.iter().all(|part| *part == "_") || others.iter().any(|other| covered(&other)) {
            return None;
        }
        let name = path.body();
        let found = match self.classes.get(name) {
            Some(class) => self.classes.constructors(&class),
            None => name.rsplit_once('.').map_or(Vec::new(), |(owner, member)| self.classes.methods(owner, member)),
        };
        let other = found
            .iter()
            .find(|method| method.parameters.len() == wanted.len() && !fits(&method.parameters, &wanted))?;
        Some(format!("is taken for ({}), of which no row speaks", other.parameters.join(",")))
    }

    /// Checks that the callback's type is one that users write: an interface, or a class to derive from.
    fn callable(&self, row: &HandoverRow, found: &[Method]) -> Vec<String> {
        let Selector::Argument(Argument::Position(position)) = &row.selector else { return Vec::new() };
        let types: Vec<&str> = found.iter().filter_map(|method| parameter(method, *position)).collect();
        let can_be = |ty: &&str| {
            let ty = ty.trim_end_matches("[]");
            match self.classes.get(ty) {
                Some(class) => class.is_interface() || !class.is_final(),
                None => ty.contains('.'),
            }
        };
        if types.is_empty() || types.iter().any(can_be) {
            return Vec::new();
        }
        vec![format!("argument {position} is `{}`, which no class implements", types[0])]
    }

    fn twins(&self, row: &CallRow, path: &str) -> Vec<String> {
        let name = path.rsplit('.').next().unwrap_or(path);
        let mut messages = Vec::new();
        for twin in row.instead.iter().flat_map(|instead| instead.all()) {
            let target = twin.split('(').next().unwrap_or(twin).replace('*', name);
            let (owner, member) = target.rsplit_once('.').unwrap_or(("", &target));
            if self.classes.get(&target).is_some() {
                continue;
            }
            let found = self.classes.methods(owner, member);
            let is_own = self.classes.get(owner).is_some() || self.classes.is_own_package(owner);
            if found.is_empty() && is_own {
                messages.push(format!("twin `{target}` does not exist"));
            }
        }
        messages
    }

    /// Returns the mistake of an alias. The other side of a renamed package is in another artifact, or in an older
    /// version.
    pub(crate) fn alias(&self, left: &str, right: &str) -> Option<String> {
        let exists = |path: &str| {
            let path = path.split('<').next().unwrap_or(path).trim_end_matches('.');
            let member =
                path.rsplit_once('.').is_some_and(|(owner, name)| !self.classes.methods(owner, name).is_empty());
            self.classes.has_package(path) || self.classes.get(path).is_some() || member
        };
        (!exists(left) && !exists(right)).then(|| format!("neither it nor `{right}` exists"))
    }
}

/// Returns the parameter list of a path.
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

/// Returns the type of a parameter by its position, negative from the end; of a variadic method any behind the last.
fn parameter(method: &Method, position: i32) -> Option<&str> {
    let count = method.parameters.len();
    let at = match usize::try_from(position) {
        Ok(at) if method.is_variadic() => at.min(count.checked_sub(1)?),
        Ok(at) => at,
        Err(_) => count.checked_sub(position.unsigned_abs() as usize)?,
    };
    method.parameters.get(at).map(String::as_str)
}

fn arguments(row: RowView<'_>, found: &[Method]) -> Vec<String> {
    let lacks = |argument: &Argument| match argument {
        Argument::Position(at) => {
            let any = found.iter().any(|method| parameter(method, *at).is_some());
            (!any).then(|| format!("has no argument {at}"))
        }
        // Java's parameters have no names that a call could say.
        Argument::Keyword(name) | Argument::Either(name, _) => Some(format!("`{name}`: arguments have no names here")),
        Argument::AllPositional | Argument::Receiver => None,
    };
    arguments_of(row).iter().filter_map(lacks).collect()
}

/// True if a parameter list fits that of a row: the row gives the whole name or the last name of each type, or any.
fn fits(have: &[String], wanted: &[&str]) -> bool {
    let same = |(one, other): (&String, &&str)| {
        let other = other.replace("...", "[]");
        let last = one.strip_suffix(&other).is_some_and(|head| head.ends_with('.'));
        other == "_" || *one == other || last
    };
    have.len() == wanted.len() && have.iter().zip(wanted).all(same)
}

/// True if a path's body, with globs or without, matches a dotted name segment by segment.
fn matches(pattern: &str, name: &str) -> bool {
    let mut names = name.split('.');
    pattern.split('.').all(|part| names.next().is_some_and(|name| segment_matches(part, name)))
        && names.next().is_none()
}
