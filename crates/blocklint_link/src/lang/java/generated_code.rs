//! Java: members that code generators add: getters and builders of Lombok, stubs of gRPC, RxJava bindings of Vert.x. No
//! source file has them, but their names follow fixed rules.

use blocklint_core::Language;
use blocklint_facts::{Form, SiteKind};

use crate::classes::hierarchy::Ancestor;
use crate::linker::{Linker, Typed};
use crate::program::ids::{ClassRef, FileId, Name, SiteRef};
use crate::values::value::{ArgsId, EnvId, Val, Why};

/// The package of Lombok's annotations, for which members are generated.
const LOMBOK: &str = "lombok";

/// The ending of the class that gRPC generates around the stubs of a service: `GreeterGrpc` of `Greeter`.
const STUBS_SUFFIX: &str = "Grpc";

/// The package of the base classes of gRPC stubs.
pub(crate) const PACKAGE_OF_STUBS: &str = "io.grpc.stub";

/// True if an import refers to a class of gRPC stubs, or to a member of one: `GreeterGrpc.GreeterBlockingStub`.
pub(crate) fn is_stub_import(import: &str) -> bool {
    import.split('.').any(|part| part.strip_suffix(STUBS_SUFFIX).is_some_and(|service| !service.is_empty()))
}

/// Returns the library's base class of a class that gRPC generates, by its name: `AbstractBlockingStub` for
/// `GreeterGrpc.GreeterBlockingStub`.
pub(crate) fn generated_base(path: &str) -> Option<&'static str> {
    let (outer, name) = path.rsplit_once('.')?;
    let service = outer.rsplit('.').next()?.strip_suffix(STUBS_SUFFIX).filter(|service| !service.is_empty())?;
    match name.strip_prefix(service)? {
        "BlockingStub" => Some("io.grpc.stub.AbstractBlockingStub"),
        "FutureStub" => Some("io.grpc.stub.AbstractFutureStub"),
        "Stub" => Some("io.grpc.stub.AbstractAsyncStub"),
        "ImplBase" => Some("io.grpc.BindableService"),
        _ => None,
    }
}

/// Returns the path of the stub class that a generated method returns: `GreeterGrpc.newBlockingStub(channel)`.
pub(crate) fn generated_stub(path: &str) -> Option<String> {
    let (outer, name) = path.rsplit_once('.')?;
    let service = outer.rsplit('.').next()?.strip_suffix(STUBS_SUFFIX).filter(|service| !service.is_empty())?;
    let kind = name.strip_prefix("new").filter(|kind| matches!(*kind, "BlockingStub" | "FutureStub" | "Stub"))?;
    Some(format!("{outer}.{service}{kind}"))
}

/// The type that Vert.x's RxJava bindings return in place of a future.
pub(crate) const RXJAVA_SINGLE: &str = "io.reactivex.rxjava3.core.Single";

/// Returns the path of the method that an RxJava binding calls: `send` for `rxSend`.
pub(crate) fn rxjava_delegate(path: &str) -> Option<String> {
    let (owner, name) = path.rsplit_once('.')?;
    let mut letters = name.strip_prefix("rx")?.chars();
    let initial = letters.next().filter(|initial| initial.is_uppercase())?;
    Some(initial.to_lowercase().chain(letters).fold(format!("{owner}."), |mut text, letter| {
        text.push(letter);
        text
    }))
}

/// Returns the result of a call of a generated getter, or of `build` on a generated builder.
pub(crate) fn generated_result(linker: &Linker<'_>, site: SiteRef, env: EnvId) -> Option<Typed> {
    let facts = linker.program.facts(site.file);
    let site_facts = linker.program.site(site);
    let Form::Attr(base, _) = facts.form(site_facts.callee) else { return None };
    let text = facts.text(site_facts.name);
    if text == "build" {
        return builder_result(linker, site, MOST_BUILDER_CALLS);
    }
    if !linker.program.args_of(site).is_empty() {
        return None;
    }
    let field = field_of_getter(text)?;
    let name = linker.program.name(&field)?;
    let receiver = linker.eval(linker.scope_of(site, env), base);
    linker.values.members(receiver.value).into_iter().find_map(|val| match val {
        Val::Instance { class, .. } => generated_getter_value(linker, class, name, val),
        _ => None,
    })
}

/// Returns the field that a getter of this name reads.
fn field_of_getter(method: &str) -> Option<String> {
    let property = match method.strip_prefix("get").or_else(|| method.strip_prefix("is")) {
        Some(rest) if rest.starts_with(char::is_uppercase) => rest,
        // A fluent getter has the name of its field.
        _ => return Some(method.to_owned()),
    };
    let mut letters = property.chars();
    let initial = letters.next()?;
    Some(initial.to_lowercase().chain(letters).collect())
}

/// Returns the value of a field that a generated getter reads, if a class with Lombok's annotations declares the field.
fn generated_getter_value(linker: &Linker<'_>, class: ClassRef, name: Name, receiver: Val) -> Option<Typed> {
    let declares = linker.mro(class).iter().any(|ancestor| match *ancestor {
        Ancestor::Class(owner) => has_lombok(linker, owner.file) && linker.own_member(owner, name).is_some(),
        _ => false,
    });
    if !declares {
        return None;
    }
    let field = linker.attr(receiver, name);
    let is_method = |val: &Val| matches!(val, Val::Fn { .. });
    let is_value = !linker.values.is_unknown(field.value) && !linker.values.members(field.value).iter().any(is_method);
    is_value.then_some(field)
}

/// The number of calls of one builder chain that are followed.
const MOST_BUILDER_CALLS: u32 = 24;

/// Returns the result of a generated builder: `C.builder().a(…).build()`.
fn builder_result(linker: &Linker<'_>, site: SiteRef, depth: u32) -> Option<Typed> {
    let depth = depth.checked_sub(1)?;
    let facts = linker.program.facts(site.file);
    let Form::Attr(base, _) = facts.form(linker.program.site(site).callee) else { return None };
    let Form::Result(inner) = facts.form(base) else { return None };
    let inner = site.file.site_ref(inner);
    let site_facts = linker.program.site(inner);
    if site_facts.kind != SiteKind::Call {
        return None;
    }
    let Form::Attr(owner, _) = facts.form(site_facts.callee) else { return None };
    if !matches!(facts.text(site_facts.name), "builder" | "toBuilder") {
        return builder_result(linker, inner, depth);
    }
    let owner = linker.eval(linker.scope_of(inner, EnvId::NONE), owner);
    linker.values.members(owner.value).into_iter().find_map(|val| match val {
        Val::Class(class) | Val::Instance { class, .. } if has_lombok(linker, class.file) => {
            Some(linker.known(Val::Instance { class, exact: true, args: ArgsId::NONE }))
        }
        _ => None,
    })
}

/// True if a file imports annotations of Lombok, or uses one by its qualified name: `@lombok.Data`.
fn has_lombok(linker: &Linker<'_>, file: FileId) -> bool {
    let facts = linker.program.facts(file);
    facts.imports.iter().any(|import| facts.text(import.module).starts_with(LOMBOK))
        || linker.program.name(LOMBOK).is_some_and(|name| linker.program.local(file, name).is_some())
}

impl Linker<'_> {
    /// Returns the result of a method's RxJava binding, if the method returns a future.
    pub(crate) fn rxjava_result(&self, val: Val) -> Typed {
        match val {
            Val::Library { ty, args, .. } if self.library.role(ty) == Some(blocklint_models::Role::Future) => {
                let ty = self.library.path(Language::Java, RXJAVA_SINGLE);
                self.known(Val::Library { ty, args, made: None })
            }
            _ => self.unknown(Why::Result),
        }
    }
}
