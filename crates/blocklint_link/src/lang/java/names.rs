//! Java: name lookup: packages, imports, nested classes, names without a qualifier, callees.

use blocklint_core::Language;
use blocklint_facts::{BodyId, ClassId, Form, Import, ImportKind, SiteFlags, Sym};

use crate::classes::hierarchy::Ancestor;
use crate::lang;
use crate::linker::{Linker, Typed};
use crate::program::ids::{BodyRef, ClassRef, FileId, Name, PathId, SiteRef};
use crate::values::expr::Scope;
use crate::values::value::{ArgsId, EnvId, Val, Why};

pub use crate::lang::java::words::*;

/// Returns the package of a file.
pub(crate) fn package_of_file<'p>(linker: &Linker<'p>, file: FileId) -> &'p str {
    let facts = linker.program.facts(file);
    facts
        .imports
        .iter()
        .find(|import| import.kind == ImportKind::Package)
        .map_or("", |import| facts.text(import.module))
}

/// Returns the value of a name that the file does not bind: a member of an enclosing class, a class of the package or
/// of a star import, a class of `java.lang`, or the first segment of a qualified name.
pub(crate) fn free_name(linker: &Linker<'_>, scope: Scope, sym: Sym) -> Typed {
    let facts = linker.program.facts(scope.file);
    let text = facts.text(sym);
    let Some(name) = linker.program.global(scope.file, sym) else { return linker.unknown(Why::Unbound) };
    let body = facts.regions.get(scope.at.region.index()).map_or(BodyId(0), |region| region.body);
    if text == "super" {
        let Some(class) = linker.class_around(scope.file.body_ref(body)) else { return linker.unknown(Why::Unbound) };
        let receiver = linker.values.bound(Val::Instance { class, exact: true, args: ArgsId::NONE });
        return linker.known(Val::Super { class, receiver });
    }
    if let Some(member) = member_around(linker, scope.file, body, name) {
        return member;
    }
    linker.query_value(&linker.tables.java.names, (scope.file, sym), || name_of_file(linker, scope.file, sym, name))
}

/// Returns the value of a name that no enclosing class binds.
fn name_of_file(linker: &Linker<'_>, file: FileId, sym: Sym, name: Name) -> Typed {
    let facts = linker.program.facts(file);
    let text = facts.text(sym);
    // The front end does not bind the name of a call to a static import, because a method of an enclosing class hides
    // the import.
    if let Some(row) = facts.imports.iter().find(|row| row.kind == ImportKind::Static && row.name == sym) {
        return import(linker, file, &row);
    }
    if let Some(class) = class_in_package(linker, file, package_of_file(linker, file), name) {
        return linker.known(Val::Class(class));
    }
    for import in facts.imports.iter().filter(|import| import.kind == ImportKind::Star) {
        let package = facts.text(import.module);
        if let Some(class) = class_in_package(linker, file, package, name) {
            return linker.known(Val::Class(class));
        }
        let path = linker.library.path(Language::Java, &format!("{package}.{text}"));
        if linker.library.is_described(path) {
            return linker.known(Val::External(path));
        }
    }
    for import in facts.imports.iter().filter(|import| import.kind == ImportKind::Static && import.name.is_none()) {
        let owner_path = facts.text(import.module);
        if let Some(class) = class_named(linker, file, owner_path) {
            let member = linker.attr(Val::Class(class), name);
            if !linker.values.is_unknown(member.value) {
                return member;
            }
            continue;
        }
        let owner = linker.library.path(Language::Java, owner_path);
        let member = linker.library.member(owner, text);
        if linker.library.is_described(member) {
            return linker.known(Val::External(member));
        }
    }
    let lang = linker.library.path(Language::Java, &format!("java.lang.{text}"));
    if LANG_CLASSES.contains(&text) || linker.library.is_described(lang) {
        return linker.known(Val::External(lang));
    }
    if text.starts_with(char::is_lowercase) {
        // A method of `Object`, which every class inherits: `wait()`.
        let inherited = linker.library.path(Language::Java, &format!("java.lang.Object.{text}"));
        if linker.library.is_described(inherited) {
            return linker.known(Val::External(inherited));
        }
        return linker.known(Val::External(linker.library.path(Language::Java, text)));
    }
    linker.unknown(Why::Unbound)
}

/// Returns a field or method of the classes that enclose a body, innermost first.
fn member_around(linker: &Linker<'_>, file: FileId, body: BodyId, name: Name) -> Option<Typed> {
    let facts = linker.program.facts(file);
    let mut enclosing = body;
    // Most names here are types, which no class has as a member.
    let is_member_name = linker.is_java_member(name) || linker.is_assigned_anywhere(name);
    // A row for all members of a class (`Stub.*`) must not match the first segment of a package: `io` of
    // `io.grpc.stub.ClientCalls.call()`.
    let is_package =
        !is_member_name && linker.library.is_described(linker.library.path(Language::Java, linker.program.text(name)));
    if is_package {
        return None;
    }
    while let Some(id) = enclosing.get() {
        let body_facts = facts.body(id);
        let class = body_facts
            .class
            .get()
            .or_else(|| facts.classes.iter().position(|class| class.body == id).map(|index| ClassId(index as u32)));
        if let Some(class) = class {
            let class = file.class_ref(class);
            let may_have = is_member_name || linker.mro(class).iter().any(|base| matches!(base, Ancestor::Library(..)));
            if may_have {
                let typed = linker.attr(Val::Instance { class, exact: false, args: ArgsId::NONE }, name);
                if !linker.values.is_unknown(typed.value) && !is_type_for_method(linker, name, typed) {
                    return Some(typed);
                }
            }
        }
        enclosing = body_facts.parent;
    }
    None
}

/// True if a row for all members of a class matched the name of a type: `new IllegalStateException()`.
fn is_type_for_method(linker: &Linker<'_>, name: Name, typed: Typed) -> bool {
    linker.program.text(name).starts_with(char::is_uppercase)
        && linker.values.members(typed.value).iter().all(|val| match *val {
            Val::Method { path, .. } => !linker.library.is_type(path),
            _ => false,
        })
}

impl Linker<'_> {
    /// True if a class of the project has a member of this name.
    fn is_java_member(&self, name: Name) -> bool {
        let is_member = self.tables.java.member_names.get_or_init(|| {
            let mut is_member = vec![false; self.program.names_len()];
            for (slot, source) in self.program.files.iter().enumerate() {
                let (file, facts) = (FileId(slot as u32), &source.facts);
                if facts.language != Language::Java {
                    continue;
                }
                for class in &facts.classes {
                    for var in facts.vars_of(class.body) {
                        if let Some(name) = self.program.global(file, facts.var(var).name) {
                            is_member[name.0 as usize] = true;
                        }
                    }
                }
            }
            is_member
        });
        is_member.get(name.0 as usize).copied().unwrap_or(true)
    }
}

/// Returns the top-level class of this name in a package of the project. Programs of one project may have classes of
/// the same qualified name; the class in the nearest folder is the result.
fn class_in_package(linker: &Linker<'_>, from: FileId, wanted: &str, name: Name) -> Option<ClassRef> {
    let classes = linker.hierarchy.top_classes(name).iter().copied();
    let mut found: Vec<ClassRef> = classes.filter(|class| package_of_file(linker, class.file) == wanted).collect();
    if found.len() > 1 {
        let path = |file: FileId| linker.program.files[file.index()].relative.as_str();
        let shared = |class: &ClassRef| {
            let pairs = path(from).split('/').zip(path(class.file).split('/'));
            pairs.take_while(|(own, other)| own == other).count()
        };
        // The sort is stable: of equally near classes the first one wins.
        found.sort_by_key(|class| std::cmp::Reverse(shared(class)));
    }
    found.first().copied()
}

/// Returns the value that an import binds: a class of the project, else a library's path.
pub(crate) fn import(linker: &Linker<'_>, file: FileId, row: &Import) -> Typed {
    let facts = linker.program.facts(file);
    let path = facts.text(row.module);
    let class = class_named(linker, file, path);
    if row.kind == ImportKind::Static
        && let Some(sym) = row.name.get()
    {
        let Some(name) = linker.program.global(file, sym) else { return linker.unknown(Why::Unbound) };
        return match class {
            Some(class) => linker.attr(Val::Class(class), name),
            None => {
                let owner = linker.library.path(Language::Java, path);
                linker.known(Val::External(linker.library.member(owner, facts.text(sym))))
            }
        };
    }
    match class {
        Some(class) => linker.known(Val::Class(class)),
        None => linker.known(Val::External(linker.library.path(Language::Java, path))),
    }
}

/// Returns the class of the project with this qualified name, also a nested class.
pub(crate) fn class_named(linker: &Linker<'_>, from: FileId, path: &str) -> Option<ClassRef> {
    let (outer, last) = path.rsplit_once('.').unwrap_or(("", path));
    let name = linker.program.name(last)?;
    if let Some(class) = class_in_package(linker, from, outer, name) {
        return Some(class);
    }
    if outer.is_empty() {
        return None;
    }
    let enclosing = class_named(linker, from, outer)?;
    match linker.values.members(linker.attr(Val::Class(enclosing), name).value)[..] {
        [Val::Class(class)] => Some(class),
        _ => None,
    }
}

/// Returns the class of the project that code refers to by its qualified name: `com.acme.Orders.load()` in a file that
/// imports another class `Orders`.
pub(crate) fn class_by_qualified_name(
    linker: &Linker<'_>,
    from: FileId,
    package: PathId,
    name: Name,
) -> Option<ClassRef> {
    let is_class = linker.program.language(from) == Language::Java
        && linker.program.text(name).starts_with(char::is_uppercase)
        && !linker.hierarchy.top_classes(name).is_empty();
    if !is_class {
        return None;
    }
    class_in_package(linker, from, &linker.library.text(package), name)
}

/// Returns the callable of a method reference: `T::m`, `object::m`, `T::new`.
pub(crate) fn method_reference(linker: &Linker<'_>, member: Val, name: Name) -> Typed {
    match member {
        Val::Class(_) | Val::External(_) if linker.program.text(name) == "new" => linker.known(member),
        // `work::run` is the callable `work` itself.
        Val::Fn { .. } | Val::Partial { .. }
            if lang::words_of(Language::Java).is_functional_method(linker.program.text(name)) =>
        {
            linker.known(member)
        }
        Val::Unknown(why) => linker.unknown(why),
        _ => linker.attr(member, name),
    }
}

/// Returns the callee of a call, with overloads of another arity left out.
pub(crate) fn callee(linker: &Linker<'_>, scope: Scope, site: SiteRef) -> Typed {
    let facts = linker.program.facts(site.file);
    let site_facts = linker.program.site(site);
    if facts.text(site_facts.name) == "<init>" {
        return explicit_constructor(linker, site);
    }
    // The callee is a method, not a field of the same name.
    let typed = match facts.form(site_facts.callee) {
        Form::Attr(base, sym) => {
            let base = linker.without_none(linker.eval(scope, base));
            match linker.program.global(site.file, sym) {
                Some(name) => {
                    let is_object = |member: Val| !matches!(member, Val::Fn { .. } | Val::Partial { .. });
                    let members = linker.values.members(base.value);
                    // Some possible receivers are callables: their call is a call of the callable itself.
                    let is_inherited_method = INTERFACE_OWN_METHODS.contains(&facts.text(site_facts.name));
                    if members.len() > 1 && !is_inherited_method && members.iter().any(|&member| !is_object(member)) {
                        linker.map(base, |member| {
                            if is_object(member) { linker.attr(member, name) } else { linker.known(member) }
                        })
                    } else {
                        linker.map(base, |member| linker.attr_or_class(site.file, member, name))
                    }
                }
                None => linker.unknown(Why::Attribute),
            }
        }
        _ => linker.eval(scope, site_facts.callee),
    };
    let typed = match (linker.values.is_unknown(typed.value), site_facts.flags.has(SiteFlags::BARE)) {
        (true, true) => {
            let body = facts.body_of(site_facts.at);
            match linker.program.global(site.file, site_facts.name) {
                Some(name) => member_around(linker, site.file, body, name).unwrap_or(typed),
                None => typed,
            }
        }
        _ => typed,
    };
    let typed = inherited_overload(linker, site, typed).unwrap_or(typed);
    let members = linker.values.members(typed.value);
    if members.len() < 2 {
        return callable_receiver_or(linker, typed, scope, site);
    }
    // A field and the methods of its name share a variable, but only methods can be called.
    let bodies: Vec<BodyRef> = members
        .iter()
        .filter_map(|val| match *val {
            Val::Fn { body, .. } => Some(body),
            _ => None,
        })
        .collect();
    if bodies.is_empty() {
        return typed;
    }
    // A method that is called through a functional interface has another name than the call, and no overloads.
    let is_of_name = |body: BodyRef| {
        let body_facts = linker.program.facts(body.file);
        body_facts.text(linker.program.body(body).name) == facts.text(site_facts.name)
    };
    let (named, others): (Vec<BodyRef>, Vec<BodyRef>) = bodies.into_iter().partition(|&body| is_of_name(body));
    let mut fitting = if named.is_empty() { Vec::new() } else { linker.fitting_overloads(named, site) };
    fitting.extend(others);
    let fitting_values: Vec<Val> =
        members.iter().copied().filter(|val| matches!(*val, Val::Fn { body, .. } if fitting.contains(&body))).collect();
    Typed { value: linker.values.union(&fitting_values), ..typed }
}

/// Returns the inherited overloads of a method, if those of the class itself take another number of arguments:
/// `channel.send(message)` of a class that only has `send(message, sent)` itself.
fn inherited_overload(linker: &Linker<'_>, site: SiteRef, typed: Typed) -> Option<Typed> {
    let count = linker.program.args_of(site).len();
    let members = linker.values.members(typed.value);
    let found_class = members.iter().find_map(|val| match *val {
        Val::Fn { body, receiver, .. } => Some((body, receiver)),
        _ => None,
    })?;
    let takes_arguments = |val: &Val| matches!(*val, Val::Fn { body, .. } if linker.takes_argument_count(body, count));
    if members.iter().any(|val| !matches!(val, Val::Fn { .. })) || members.iter().any(takes_arguments) {
        return None;
    }
    let (body, receiver) = found_class;
    let own = linker.program.body(body);
    let name = linker.program.global(body.file, own.name)?;
    let class = body.file.class_ref(own.class.get()?);
    for ancestor in linker.mro(class).iter().skip(1) {
        let Ancestor::Class(owner) = *ancestor else { return None };
        let Some((owner, var)) = linker.own_member(owner, name) else { continue };
        let overloads: Vec<Val> = linker
            .functions_of(owner, var)
            .into_iter()
            .filter(|&body| linker.takes_argument_count(body, count))
            .map(|body| Val::Fn { body, receiver, env: EnvId::NONE })
            .collect();
        if !overloads.is_empty() {
            return Some(Typed { value: linker.values.union(&overloads), ..typed });
        }
    }
    None
}

/// Returns the callee of `this(…)` and `super(…)`: a constructor of the enclosing class, or of its base class.
fn explicit_constructor(linker: &Linker<'_>, site: SiteRef) -> Typed {
    let facts = linker.program.facts(site.file);
    let site_facts = linker.program.site(site);
    let Some(class) = linker.class_around(linker.program.body_of(site.file, site_facts.at)) else {
        return linker.unknown(Why::Unbound);
    };
    let Some(init) = linker.program.name("<init>") else { return linker.unknown(Why::Unbound) };
    let skipped = usize::from(facts.form(site_facts.callee) != Form::This);
    let order = linker.mro(class);
    for ancestor in order.iter().skip(skipped) {
        let Ancestor::Class(owner) = *ancestor else { continue };
        let Some((owner, var)) = linker.own_member(owner, init) else { continue };
        let bodies = linker.fitting_overloads(linker.functions_of(owner, var), site);
        let receiver = linker.values.bound(Val::Instance { class, exact: true, args: ArgsId::NONE });
        let members: Vec<Val> = bodies.into_iter().map(|body| Val::Fn { body, receiver, env: EnvId::NONE }).collect();
        return Typed { value: linker.values.union(&members), inferred_steps: 0 };
    }
    linker.unknown(Why::Unbound)
}

/// Methods of functional interfaces that compose two callables.
pub(crate) const COMPOSERS: &[&str] = &["andThen", "compose"];

/// Methods with a body that functional interfaces of `java.util` and all objects have, besides the abstract method that
/// a lambda implements.
const INTERFACE_OWN_METHODS: &[&str] = &[
    "andThen",
    "compose",
    "negate",
    "and",
    "or",
    "reversed",
    "thenComparing",
    "equals",
    "hashCode",
    "toString",
    "getClass",
];

/// Returns the receiver as the callee if the receiver is a callable and the callee is unknown: `work.run()` is a call
/// of the lambda in `work`. Else returns `typed`.
fn callable_receiver_or(linker: &Linker<'_>, typed: Typed, scope: Scope, site: SiteRef) -> Typed {
    let facts = linker.program.facts(site.file);
    let site_facts = linker.program.site(site);
    let Form::Attr(base, _) = facts.form(site_facts.callee) else { return typed };
    let receiver = linker.eval(scope, base);
    let callable =
        linker.values.members(receiver.value).iter().any(|val| matches!(val, Val::Fn { .. } | Val::Partial { .. }));
    if callable
        && !INTERFACE_OWN_METHODS.contains(&facts.text(site_facts.name))
        && linker.values.is_unknown(typed.value)
    {
        receiver
    } else {
        typed
    }
}
