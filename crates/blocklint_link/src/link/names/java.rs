//! Java: packages, imports, nested classes, bare names, overloads.

use blocklint_core::Language;
use blocklint_facts::{BodyId, ClassId, FileFacts, Form, Import, ImportKind, List, SiteFlags, Sym};

use crate::idioms::is_functional_method;
use crate::link::eval::Scope;
use crate::link::hierarchy::Ancestor;
use crate::link::value::{ArgsId, EnvId, Val, Why};
use crate::link::{Link, Typed};
use crate::program::ids::{BodyRef, ClassRef, FileId, Name, PathId, SiteRef};

/// The type of arrays; of what is the type argument.
pub(crate) const ARRAY: &str = "java.lang.Object[]";

/// The classes of `java.lang` that hold nothing but themselves: what is declared so is known well enough, and nobody needs
/// to ask what callers pass.
const VALUES: &[&str] = &[
    "Boolean",
    "Byte",
    "CharSequence",
    "Character",
    "Class",
    "Double",
    "Enum",
    "Exception",
    "Float",
    "Integer",
    "Long",
    "Number",
    "RuntimeException",
    "Short",
    "String",
    "StringBuffer",
    "StringBuilder",
    "Throwable",
    "Void",
];

/// Methods of futures that tell whether they are done, or do what they are for.
pub(crate) const DONE_TESTS: &[&str] =
    &["isDone", "isSuccess", "isCompletedExceptionally", "isCompletedNormally", "isCompleted", "run"];

/// Reads an atomic reference or flag.
pub const ATOMIC_READ: &str = "get";

/// Methods that set an atomic reference or flag.
pub const ATOMIC_WRITES: &[&str] = &["set", "lazySet", "setRelease", "setPlain", "compareAndSet", "getAndSet"];

/// Sets an atomic reference if it holds what the first argument is.
pub const CLAIM: &str = "compareAndSet";

/// The last names of annotations.
pub fn mark_names(facts: &FileFacts, marks: List) -> impl Iterator<Item = &str> {
    facts.list(marks).iter().filter_map(|&mark| match facts.form(mark) {
        Form::Result(site) => Some(facts.text(facts.site(site).name)),
        Form::Var(var) => Some(facts.text(facts.var(var).name)),
        Form::Name(name) => Some(facts.text(name)),
        _ => None,
    })
}

/// The operator that every future has which calls back.
pub const CONTINUES: &str = "map";

/// Whether a type of this name is what a handler is given when a call is done: a value or a failure.
pub fn is_result_of_future(name: &str) -> bool {
    name == "AsyncResult"
}

/// Whether a type of this name gives one value at most: what it is given runs once each time it is run.
pub fn emits_once(name: &str) -> bool {
    name == "Mono"
        || name == "Uni"
        || name == "Single"
        || name == "Maybe"
        || name == "Completable"
        || name.ends_with("Future")
}

/// Whether a method of this name makes what its caller asks for.
pub fn makes_on_demand(name: &str) -> bool {
    begins(name, &["build", "create", "open", "connect", "of", "new"])
}

/// Whether a method of this name is, by custom, run once in the life of what it belongs to, and makes its parts.
pub fn runs_once(name: &str) -> bool {
    matches!(name, "<init>" | "<clinit>" | "main")
        || begins(name, &["start", "init", "initialize", "setup", "setUp", "configure", "bootstrap", "launch"])
        || ends(name)
}

/// Whether a method of this name ends what it belongs to.
pub fn ends(name: &str) -> bool {
    begins(name, &["close", "stop", "shutdown", "destroy", "dispose"]) || name.contains("Shutdown")
}

/// Whether an annotation of this name says that there is one object of a class, whoever's scope it is.
pub fn is_of_one_object(name: &str) -> bool {
    name.ends_with("Singleton") || name == "ApplicationScoped"
}

/// Whether a name is one of these verbs, or begins with one.
fn begins(name: &str, verbs: &[&str]) -> bool {
    verbs
        .iter()
        .any(|verb| name.strip_prefix(verb).is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_uppercase)))
}

/// Whether an annotation of this name says that a container calls a constructor.
pub fn is_injection(name: &str) -> bool {
    matches!(name, "Inject" | "Autowired")
}

/// Whether what has this name belongs to servlets.
pub(crate) fn is_of_servlets(path: &str) -> bool {
    path.split('.').any(|part| part == "servlet")
}

/// Whether what has this name belongs to a server that is made for publishers.
pub(crate) fn is_of_reactive_server(path: &str) -> bool {
    let mut parts = path.split('.');
    let found = parts.find(|part| matches!(*part, "reactive" | "netty" | "ServerWebExchange"));
    let mut rest = parts;
    match (found, rest.next()) {
        // What both sides of HTTP share says nothing.
        (Some("reactive"), Some("function")) => rest.any(|part| part == "server"),
        (Some(_), Some("client")) => false,
        (Some(_), _) => !rest.any(|part| part == "client"),
        (None, _) => false,
    }
}

/// Whether what has this name belongs to a framework that answers on event loops what its methods give later.
pub(crate) fn is_of_framework_on_loops(path: &str) -> bool {
    ["io.quarkus.", "io.smallrye."].iter().any(|package| path.starts_with(package))
}

/// Whether methods that carry this annotation are answered on threads of their own by most of those who serve them.
pub(crate) fn is_of_many_servers(path: &str) -> bool {
    path.starts_with("jakarta.ws.rs.")
}

/// Whether a program that is built with a library of this name answers requests by servlets.
pub(crate) fn is_artifact_of_servlets(name: &str) -> bool {
    matches!(name, "spring-boot-starter-web" | "spring-boot-starter-tomcat" | "spring-boot-starter-jetty")
        || name.contains("webmvc")
        || name.ends_with("servlet-api")
}

/// Whether a library of this name is a server that is made for publishers.
pub(crate) fn is_artifact_of_reactive_server(name: &str) -> bool {
    // Spring Boot answers by servlets where it finds both of its own servers.
    ["starter-gateway", "gateway-server", "vertx-web", "quarkus", "micronaut-http-server", "armeria"]
        .iter()
        .any(|part| name.contains(part))
}

/// Whether a method of this name only reads.
pub fn is_getter(name: &str) -> bool {
    ["get", "is"].iter().any(|verb| name.strip_prefix(verb).is_some_and(|rest| rest.starts_with(char::is_uppercase)))
}

/// Whether a method of this name runs while a program starts.
pub fn starts_up(name: &str) -> bool {
    matches!(name, "doStart" | "startUp" | "initialize" | "bootstrap")
}

/// Whether a getter of this name asks if something is wanted.
pub fn asks_if_wanted(name: &str) -> bool {
    name.ends_with("Enabled")
        || name == "enabled"
        || ["is", "getUse", "use", "getEnable", "enable", "should"]
            .iter()
            .any(|verb| name.strip_prefix(verb).is_some_and(|rest| rest.starts_with(char::is_uppercase)))
}

/// Whether a variable, field or getter of this name holds settings.
pub fn holds_settings(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["conf", "config", "configuration", "settings", "options", "properties", "props"]
        .iter()
        .any(|what| name.ends_with(what))
}

/// Whether an annotation of this name says that a method is visible for tests alone.
pub fn is_for_tests(name: &str) -> bool {
    name == "VisibleForTesting"
}

/// Whether a class of this name is deployed as a whole, with the thread that its timers and handlers run on.
pub(crate) fn is_deployed(name: &str) -> bool {
    name.ends_with("Verticle")
}

/// Whether an annotation of this name may have a method run by its container elsewhere.
pub(crate) fn is_run_by_proxy(name: &str) -> bool {
    name.starts_with("Async")
}

/// Whether a method of this name reads the field of that one.
pub fn is_getter_of(getter: &str, field: &str) -> bool {
    let Some(rest) = getter.strip_prefix("get").or_else(|| getter.strip_prefix("is")) else { return false };
    let (mut of, mut own) = (rest.chars(), field.chars());
    match (of.next(), own.next()) {
        (Some(a), Some(b)) => a.is_uppercase() && a.to_lowercase().eq(b.to_lowercase()) && of.as_str() == own.as_str(),
        _ => false,
    }
}

/// Deploys an object as a whole.
pub(crate) const DEPLOY: &str = "deployVerticle";

/// What follows a type in a class literal.
pub(crate) const CLASS: &str = "class";

/// Whether a call of this name gives the name of the class it stands on.
pub(crate) fn gives_name_of_class(name: &str) -> bool {
    matches!(name, "getName" | "getCanonicalName")
}

/// Whether a call of this name gives what there is and ends, not what comes from now on.
pub fn looks_something_up(name: &str) -> bool {
    ["find", "get", "load", "list", "fetch", "read", "query", "select"]
        .iter()
        .any(|verb| name.strip_prefix(verb).is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_uppercase)))
}

/// Tests that ask whether their argument is `null` or empty.
pub const ASKS_FOR_NOTHING: &[&str] = &["isNullOrEmpty", "isEmpty", "isBlank", "isNull", "isNullOrBlank"];

/// Whether a class of this name holds a program's settings.
pub fn is_settings(name: &str) -> bool {
    ["Properties", "Config", "Configuration", "Settings"].iter().any(|end| name.ends_with(end))
}

/// Whether going through what a call of this name gives is over after a few: the roots of a machine's file systems.
pub(crate) fn gives_few(name: &str) -> bool {
    name == "listRoots"
}

/// Reads a map by its key.
pub const MAP_READ: &str = "get";

/// Fill a map.
pub const MAP_WRITES: &[&str] = &["put", "putIfAbsent"];

/// Fills a map by what a callable makes of the key that is not there.
pub const MAP_FILLED_BY: &str = "computeIfAbsent";

/// Takes a lock: the block, and a lock's own method.
pub const ENTER_LOCK: &[&str] = &["synchronized", "lock"];

/// Whether a type of the language's own library is an interface that a lambda implements.
pub(crate) fn is_functional_interface(path: &str) -> bool {
    path.starts_with("java.util.function.")
        || matches!(path, "java.lang.Runnable" | "java.util.concurrent.Callable" | "java.util.Comparator")
}

/// The one method of a functional interface of `java.*`.
pub(crate) fn functional_method_of(path: &str) -> Option<&'static str> {
    match path {
        "java.lang.Runnable" => return Some("run"),
        "java.util.concurrent.Callable" => return Some("call"),
        "java.util.Comparator" => return Some("compare"),
        _ => {}
    }
    let name = path.strip_prefix("java.util.function.")?;
    let of_result = |plain, int, long, double| match name {
        _ if name.starts_with("ToInt") || name.starts_with("Int") && name.ends_with("Operator") => int,
        _ if name.starts_with("ToLong") || name.starts_with("Long") && name.ends_with("Operator") => long,
        _ if name.starts_with("ToDouble") || name.starts_with("Double") && name.ends_with("Operator") => double,
        _ if name.ends_with("ToIntFunction") => int,
        _ if name.ends_with("ToLongFunction") => long,
        _ if name.ends_with("ToDoubleFunction") => double,
        _ => plain,
    };
    Some(match name {
        "Supplier" => "get",
        "BooleanSupplier" => "getAsBoolean",
        "IntSupplier" => "getAsInt",
        "LongSupplier" => "getAsLong",
        "DoubleSupplier" => "getAsDouble",
        _ if name.ends_with("Consumer") => "accept",
        _ if name.ends_with("Predicate") => "test",
        _ if name.ends_with("Function") || name.ends_with("Operator") => {
            of_result("apply", "applyAsInt", "applyAsLong", "applyAsDouble")
        }
        _ => return None,
    })
}

/// Which type argument of a functional interface of `java.*` its method's n-th parameter is.
pub(crate) fn functional_argument(interface: &str, index: usize) -> Option<usize> {
    let name = interface.strip_prefix("java.util.function.")?;
    match name {
        "UnaryOperator" | "BinaryOperator" => Some(0),
        "Supplier" => None,
        _ if name.starts_with("Bi") || name.starts_with("ToIntBi") || name.starts_with("ToLongBi") => Some(index),
        _ => (index == 0).then_some(0),
    }
}

/// Which type argument of a functional interface of `java.*` its method gives back.
pub(crate) fn functional_return(interface: &str) -> Option<usize> {
    match interface {
        "java.util.concurrent.Callable" => Some(0),
        _ => match interface.strip_prefix("java.util.function.")? {
            "Supplier" | "UnaryOperator" | "BinaryOperator" | "IntFunction" | "LongFunction" | "DoubleFunction" => {
                Some(0)
            }
            "Function" => Some(1),
            "BiFunction" => Some(2),
            _ => None,
        },
    }
}

/// Whether packages with this root are there in every program.
pub(crate) fn is_of_runtime(root: &str) -> bool {
    root.starts_with("java.")
}

/// The package a file is in.
pub(crate) fn package<'p>(link: &Link<'p>, file: FileId) -> &'p str {
    let facts = link.program.facts(file);
    facts
        .imports
        .iter()
        .find(|import| import.kind == ImportKind::Package)
        .map_or("", |import| facts.text(import.module))
}

/// A name that the file does not bind: a member of the classes around, a class of the package or of a star import,
/// a class of `java.lang`, or the first segment of a qualified name.
pub(crate) fn free_name(link: &Link<'_>, scope: Scope, sym: Sym) -> Typed {
    let facts = link.program.facts(scope.file);
    let text = facts.text(sym);
    let Some(name) = link.program.global(scope.file, sym) else { return link.unknown(Why::Unbound) };
    let body = facts.regions.get(scope.at.region.index()).map_or(BodyId(0), |region| region.body);
    if text == "super" {
        let Some(class) = link.class_around(scope.file, body) else { return link.unknown(Why::Unbound) };
        let receiver = link.values.bound(Val::Instance { class, exact: true, args: ArgsId::NONE });
        return link.known(Val::Super { class, receiver });
    }
    if let Some(member) = member_around(link, scope.file, body, name) {
        return member;
    }
    if let Some(&known) = link.java_names.borrow().get(&(scope.file, sym)) {
        return known;
    }
    let named = name_of_file(link, scope.file, sym, name);
    link.java_names.borrow_mut().insert((scope.file, sym), named);
    named
}

/// What a name that no class around binds means in a file.
fn name_of_file(link: &Link<'_>, file: FileId, sym: Sym, name: Name) -> Typed {
    let facts = link.program.facts(file);
    let text = facts.text(sym);
    // A called name is left open by the front end, for a method around would hide the import.
    if let Some(row) = facts.imports.iter().find(|row| row.kind == ImportKind::Static && row.name == sym) {
        return import(link, file, &row);
    }
    if let Some(class) = class_in_package(link, file, package(link, file), name) {
        return link.known(Val::Class(class));
    }
    for import in facts.imports.iter().filter(|import| import.kind == ImportKind::Star) {
        let of = facts.text(import.module);
        if let Some(class) = class_in_package(link, file, of, name) {
            return link.known(Val::Class(class));
        }
        let path = link.library.path(Language::Java, &format!("{of}.{text}"));
        if link.library.speaks(path) {
            return link.known(Val::External(path));
        }
    }
    for import in facts.imports.iter().filter(|import| import.kind == ImportKind::Static && import.name.is_none()) {
        let of = facts.text(import.module);
        if let Some(class) = class_named(link, file, of) {
            let member = link.attr(Val::Class(class), name);
            if !link.values.is_unknown(member.value) {
                return member;
            }
            continue;
        }
        let owner = link.library.path(Language::Java, of);
        let member = link.library.member(owner, text);
        if link.library.speaks(member) {
            return link.known(Val::External(member));
        }
    }
    let lang = link.library.path(Language::Java, &format!("java.lang.{text}"));
    if VALUES.contains(&text) || link.library.speaks(lang) {
        return link.known(Val::External(lang));
    }
    if text.starts_with(char::is_lowercase) {
        // Every class has it: `wait()`.
        let inherited = link.library.path(Language::Java, &format!("java.lang.Object.{text}"));
        if link.library.speaks(inherited) {
            return link.known(Val::External(inherited));
        }
        return link.known(Val::External(link.library.path(Language::Java, text)));
    }
    link.unknown(Why::Unbound)
}

/// A field or method of the classes around a body, innermost first.
fn member_around(link: &Link<'_>, file: FileId, body: BodyId, name: Name) -> Option<Typed> {
    let facts = link.program.facts(file);
    let mut at = body;
    // Most are the names of types, which no class has as a member.
    let is_members = link.is_java_member(name) || link.is_assigned_anywhere(name);
    // A row for all members of a class (`Stub.*`) does not mean the first name of a package: `io.grpc.stub.ClientCalls.call()`.
    let is_package = !is_members && link.library.speaks(link.library.path(Language::Java, link.program.text(name)));
    if is_package {
        return None;
    }
    while let Some(id) = at.get() {
        let row = facts.body(id);
        let class = row
            .class
            .get()
            .or_else(|| facts.classes.iter().position(|class| class.body == id).map(|at| ClassId(at as u32)));
        if let Some(class) = class {
            let class = ClassRef { file, class };
            let may_have = is_members || link.mro(class).iter().any(|of| matches!(of, Ancestor::Library(..)));
            if may_have {
                let typed = link.attr(Val::Instance { class, exact: false, args: ArgsId::NONE }, name);
                if !link.values.is_unknown(typed.value) && !is_type_for_method(link, name, typed) {
                    return Some(typed);
                }
            }
        }
        at = row.parent;
    }
    None
}

/// Whether the name of a type was taken for a method, by a row for all members of a class: `new IllegalStateException()`.
fn is_type_for_method(link: &Link<'_>, name: Name, typed: Typed) -> bool {
    link.program.text(name).starts_with(char::is_uppercase)
        && link.values.members(typed.value).iter().all(|val| match *val {
            Val::Method { path, .. } => !link.library.is_type(path),
            _ => false,
        })
}

impl Link<'_> {
    /// Whether a class of the project has a member of this name.
    fn is_java_member(&self, name: Name) -> bool {
        let known = self.java_members.get_or_init(|| {
            let mut known = vec![false; self.program.names_len()];
            for (slot, source) in self.program.files.iter().enumerate() {
                let (file, facts) = (FileId(slot as u32), &source.facts);
                if facts.language != Language::Java {
                    continue;
                }
                for class in &facts.classes {
                    for var in facts.vars_of(class.body) {
                        if let Some(name) = self.program.global(file, facts.var(var).name) {
                            known[name.0 as usize] = true;
                        }
                    }
                }
            }
            known
        });
        known.get(name.0 as usize).copied().unwrap_or(true)
    }
}

/// The top-level class of this name in a package of the project. Programs of one repository may have classes of the same
/// name: the one whose folder is nearest is meant.
fn class_in_package(link: &Link<'_>, from: FileId, wanted: &str, name: Name) -> Option<ClassRef> {
    let all = link.hierarchy.top_classes(name).iter().copied();
    let mut found: Vec<ClassRef> = all.filter(|class| package(link, class.file) == wanted).collect();
    if found.len() > 1 {
        let path = |file: FileId| link.program.files[file.index()].relative.as_str();
        let shared = |class: &ClassRef| {
            let pairs = path(from).split('/').zip(path(class.file).split('/'));
            pairs.take_while(|(own, other)| own == other).count()
        };
        // Of equally near ones the first counts.
        found.sort_by_key(|class| std::cmp::Reverse(shared(class)));
    }
    found.first().copied()
}

/// What an import binds: a class of the project, else a library's name.
pub(crate) fn import(link: &Link<'_>, file: FileId, row: &Import) -> Typed {
    let facts = link.program.facts(file);
    let path = facts.text(row.module);
    let class = class_named(link, file, path);
    if row.kind == ImportKind::Static
        && let Some(sym) = row.name.get()
    {
        let Some(name) = link.program.global(file, sym) else { return link.unknown(Why::Unbound) };
        return match class {
            Some(class) => link.attr(Val::Class(class), name),
            None => {
                let owner = link.library.path(Language::Java, path);
                link.known(Val::External(link.library.member(owner, facts.text(sym))))
            }
        };
    }
    match class {
        Some(class) => link.known(Val::Class(class)),
        None => link.known(Val::External(link.library.path(Language::Java, path))),
    }
}

/// The class of the project with this qualified name, nested ones too.
pub(crate) fn class_named(link: &Link<'_>, from: FileId, path: &str) -> Option<ClassRef> {
    let (outer, last) = path.rsplit_once('.').unwrap_or(("", path));
    let name = link.program.name(last)?;
    if let Some(class) = class_in_package(link, from, outer, name) {
        return Some(class);
    }
    if outer.is_empty() {
        return None;
    }
    let around = class_named(link, from, outer)?;
    match link.values.members(link.attr(Val::Class(around), name).value)[..] {
        [Val::Class(class)] => Some(class),
        _ => None,
    }
}

/// The class of the project behind a package that code spells out: `com.acme.Orders.load()`, where a class of the same name is
/// imported or around.
pub(crate) fn class_spelled_out(link: &Link<'_>, from: FileId, package: PathId, name: Name) -> Option<ClassRef> {
    let is_class = link.program.language(from) == Language::Java
        && link.program.text(name).starts_with(char::is_uppercase)
        && !link.hierarchy.top_classes(name).is_empty();
    if !is_class {
        return None;
    }
    class_in_package(link, from, &link.library.text(package), name)
}

/// `T::m`, `object::m`, `T::new`.
pub(crate) fn method_reference(link: &Link<'_>, member: Val, name: Name) -> Typed {
    match member {
        Val::Class(_) | Val::External(_) if link.program.text(name) == "new" => link.known(member),
        // `work::run` is what `work` is.
        Val::Fn { .. } | Val::Partial { .. } if is_functional_method(Language::Java, link.program.text(name)) => {
            link.known(member)
        }
        Val::Unknown(why) => link.unknown(why),
        _ => link.attr(member, name),
    }
}

/// The callee of a call, with overloads of another arity left out.
pub(crate) fn callee(link: &Link<'_>, scope: Scope, site: SiteRef) -> Typed {
    let facts = link.program.facts(site.file);
    let row = facts.site(site.site);
    if facts.text(row.name) == "<init>" {
        return explicit_constructor(link, site);
    }
    // A method, not the field that may have its name.
    let typed = match facts.form(row.callee) {
        Form::Attr(base, sym) => {
            let base = link.without_none(link.eval(scope, base));
            match link.program.global(site.file, sym) {
                Some(name) => {
                    let own = |member: Val| !matches!(member, Val::Fn { .. } | Val::Partial { .. });
                    let members = link.values.members(base.value);
                    // Of several, some of them callables: each by itself.
                    let is_given = GIVEN_BY_INTERFACE.contains(&facts.text(row.name));
                    if members.len() > 1 && !is_given && members.iter().any(|&member| !own(member)) {
                        link.map(base, |member| if own(member) { link.attr(member, name) } else { link.known(member) })
                    } else {
                        link.map(base, |member| link.attr_or_class(site.file, member, name))
                    }
                }
                None => link.unknown(Why::Attribute),
            }
        }
        _ => link.eval(scope, row.callee),
    };
    let typed = match (link.values.is_unknown(typed.value), row.flags.has(SiteFlags::BARE)) {
        (true, true) => {
            let body = facts.body_of(row.at);
            match link.program.global(site.file, row.name) {
                Some(name) => member_around(link, site.file, body, name).unwrap_or(typed),
                None => typed,
            }
        }
        _ => typed,
    };
    let typed = inherited_overload(link, site, typed).unwrap_or(typed);
    let members = link.values.members(typed.value);
    if members.len() < 2 {
        return functional(link, typed, scope, site);
    }
    // A field and the methods of its name share a variable; what is called is a method.
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
    // What is called through an interface has a name of its own, and no overloads.
    let is_of_name = |body: BodyRef| {
        let of = link.program.facts(body.file);
        of.text(of.body(body.body).name) == facts.text(row.name)
    };
    let (named, others): (Vec<BodyRef>, Vec<BodyRef>) = bodies.into_iter().partition(|&body| is_of_name(body));
    let mut fitting = if named.is_empty() { Vec::new() } else { link.fitting(named, site) };
    fitting.extend(others);
    let kept: Vec<Val> =
        members.iter().copied().filter(|val| matches!(*val, Val::Fn { body, .. } if fitting.contains(&body))).collect();
    Typed { value: link.values.union(&kept), ..typed }
}

/// The methods of a name that a class inherits, where its own ones take another number of arguments: `channel.send(message)` of a
/// class that only has `send(message, sent)` itself.
fn inherited_overload(link: &Link<'_>, site: SiteRef, typed: Typed) -> Option<Typed> {
    let facts = link.program.facts(site.file);
    let count = facts.args_of(site.site).len();
    let members = link.values.members(typed.value);
    let first = members.iter().find_map(|val| match *val {
        Val::Fn { body, receiver, .. } => Some((body, receiver)),
        _ => None,
    })?;
    let takes = |val: &Val| matches!(*val, Val::Fn { body, .. } if link.takes_so_many(body, count));
    if members.iter().any(|val| !matches!(val, Val::Fn { .. })) || members.iter().any(takes) {
        return None;
    }
    let (body, receiver) = first;
    let own = link.program.facts(body.file).body(body.body);
    let name = link.program.global(body.file, own.name)?;
    let class = ClassRef { file: body.file, class: own.class.get()? };
    for ancestor in link.mro(class).iter().skip(1) {
        let Ancestor::Class(owner) = *ancestor else { return None };
        let Some((owner, var)) = link.own_member(owner, name) else { continue };
        let found: Vec<Val> = link
            .functions_of(owner, var)
            .into_iter()
            .filter(|&body| link.takes_so_many(body, count))
            .map(|body| Val::Fn { body, receiver, env: EnvId::NONE })
            .collect();
        if !found.is_empty() {
            return Some(Typed { value: link.values.union(&found), ..typed });
        }
    }
    None
}

/// `this(…)` and `super(…)`: a constructor of the class around, or of the class it extends.
fn explicit_constructor(link: &Link<'_>, site: SiteRef) -> Typed {
    let facts = link.program.facts(site.file);
    let row = facts.site(site.site);
    let Some(class) = link.class_around(site.file, facts.body_of(row.at)) else { return link.unknown(Why::Unbound) };
    let Some(init) = link.program.name("<init>") else { return link.unknown(Why::Unbound) };
    let skipped = usize::from(facts.form(row.callee) != Form::This);
    let order = link.mro(class);
    for ancestor in order.iter().skip(skipped) {
        let Ancestor::Class(owner) = *ancestor else { continue };
        let Some((owner, var)) = link.own_member(owner, init) else { continue };
        let bodies = link.fitting(link.functions_of(owner, var), site);
        let receiver = link.values.bound(Val::Instance { class, exact: true, args: ArgsId::NONE });
        let members: Vec<Val> = bodies.into_iter().map(|body| Val::Fn { body, receiver, env: EnvId::NONE }).collect();
        return Typed { value: link.values.union(&members), steps: 0 };
    }
    link.unknown(Why::Unbound)
}

/// Of these, those that make one callable of two.
pub(crate) const PUTS_TOGETHER: &[&str] = &["andThen", "compose"];

/// Methods that functional interfaces of the language's own library, and all objects, have besides the one that a lambda is.
const GIVEN_BY_INTERFACE: &[&str] = &[
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

/// `work.run()` on a value that is a callable: the call of a functional interface's one method is a call of it.
fn functional(link: &Link<'_>, typed: Typed, scope: Scope, site: SiteRef) -> Typed {
    let facts = link.program.facts(site.file);
    let row = facts.site(site.site);
    let Form::Attr(base, _) = facts.form(row.callee) else { return typed };
    let receiver = link.eval(scope, base);
    let callable =
        link.values.members(receiver.value).iter().any(|val| matches!(val, Val::Fn { .. } | Val::Partial { .. }));
    if callable && !GIVEN_BY_INTERFACE.contains(&facts.text(row.name)) && link.values.is_unknown(typed.value) {
        receiver
    } else {
        typed
    }
}

/// Seconds of a constant of the language's units of time, by its path.
pub(crate) fn time_unit(path: &str) -> Option<f64> {
    Some(match path.strip_prefix("java.util.concurrent.TimeUnit.")? {
        "NANOSECONDS" => 1e-9,
        "MICROSECONDS" => 1e-6,
        "MILLISECONDS" => 1e-3,
        "SECONDS" => 1.0,
        "MINUTES" => 60.0,
        "HOURS" => 3600.0,
        "DAYS" => 86400.0,
        _ => return None,
    })
}

/// Whether a type is that of the language's units of time.
pub(crate) fn is_time_unit(path: &str) -> bool {
    path == "java.util.concurrent.TimeUnit"
}
