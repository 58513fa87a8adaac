//! Members that generators write: getters and builders of Lombok, stubs of gRPC. They stand in no source, but their
//! names follow fixed rules.

use blocklint_core::Language;
use blocklint_facts::{Form, SiteKind};

use crate::classes::hierarchy::Ancestor;
use crate::linker::{Linker, Typed};
use crate::program::ids::{ClassRef, FileId, Name, SiteRef};
use crate::values::value::{ArgsId, EnvId, Val, Why};

/// The package of annotations for which members are written.
const PACKAGE: &str = "lombok";

/// The ending of the class that gRPC generates around the stubs of a service: `GreeterGrpc` of `Greeter`.
const STUBS: &str = "Grpc";

/// The package of the bases of stubs.
pub(crate) const PACKAGE_OF_STUBS: &str = "io.grpc.stub";

/// True if an import names such a class, or a member of one.
pub(crate) fn names_stubs(import: &str) -> bool {
    import.split('.').any(|part| part.strip_suffix(STUBS).is_some_and(|service| !service.is_empty()))
}

/// Returns the library's type from which a class derives that gRPC's generator wrote, by its name:
/// `GreeterGrpc.GreeterBlockingStub`.
pub(crate) fn generated_base(path: &str) -> Option<&'static str> {
    let (outer, name) = path.rsplit_once('.')?;
    let service = outer.rsplit('.').next()?.strip_suffix(STUBS).filter(|service| !service.is_empty())?;
    match name.strip_prefix(service)? {
        "BlockingStub" => Some("io.grpc.stub.AbstractBlockingStub"),
        "FutureStub" => Some("io.grpc.stub.AbstractFutureStub"),
        "Stub" => Some("io.grpc.stub.AbstractAsyncStub"),
        "ImplBase" => Some("io.grpc.BindableService"),
        _ => None,
    }
}

/// Returns the stub that a method of such a class makes: `GreeterGrpc.newBlockingStub(channel)`.
pub(crate) fn generated_stub(path: &str) -> Option<String> {
    let (outer, name) = path.rsplit_once('.')?;
    let service = outer.rsplit('.').next()?.strip_suffix(STUBS).filter(|service| !service.is_empty())?;
    let kind = name.strip_prefix("new").filter(|kind| matches!(*kind, "BlockingStub" | "FutureStub" | "Stub"))?;
    Some(format!("{outer}.{service}{kind}"))
}

/// The type that the bindings of Vert.x for RxJava return in the place of a future.
pub(crate) const OF_BINDING: &str = "io.reactivex.rxjava3.core.Single";

/// Returns the method that one of these bindings stands for: `rxSend` for `send`.
pub(crate) fn behind_binding(path: &str) -> Option<String> {
    let (owner, name) = path.rsplit_once('.')?;
    let mut rest = name.strip_prefix("rx")?.chars();
    let first = rest.next().filter(|first| first.is_uppercase())?;
    Some(first.to_lowercase().chain(rest).fold(format!("{owner}."), |mut text, letter| {
        text.push(letter);
        text
    }))
}

/// Returns the result of a call of a generated method.
pub(crate) fn generated(linker: &Linker<'_>, site: SiteRef, env: EnvId) -> Option<Typed> {
    let facts = linker.program.facts(site.file);
    let row = linker.program.site(site);
    let Form::Attr(base, _) = facts.form(row.callee) else { return None };
    let text = facts.text(row.name);
    if text == "build" {
        return built(linker, site, 24);
    }
    if !linker.program.args_of(site).is_empty() {
        return None;
    }
    let field = getter(text)?;
    let name = linker.program.name(&field)?;
    let receiver = linker.eval(linker.scope_of(site, env), base);
    linker.values.members(receiver.value).into_iter().find_map(|val| match val {
        Val::Instance { class, .. } => field_of(linker, class, name, val),
        _ => None,
    })
}

/// Returns the field that a getter of this name reads.
fn getter(method: &str) -> Option<String> {
    let rest = match method.strip_prefix("get").or_else(|| method.strip_prefix("is")) {
        Some(rest) if rest.starts_with(char::is_uppercase) => rest,
        // Fluent ones are named like the field.
        _ => return Some(method.to_owned()),
    };
    let mut letters = rest.chars();
    let first = letters.next()?;
    Some(first.to_lowercase().chain(letters).collect())
}

fn field_of(linker: &Linker<'_>, class: ClassRef, name: Name, receiver: Val) -> Option<Typed> {
    let declares = linker.mro(class).iter().any(|ancestor| match *ancestor {
        Ancestor::Class(owner) => writes_members(linker, owner.file) && linker.own_member(owner, name).is_some(),
        _ => false,
    });
    if !declares {
        return None;
    }
    let field = linker.attr(receiver, name);
    let is_method = |val: &Val| matches!(val, Val::Fn { .. });
    let known = !linker.values.is_unknown(field.value) && !linker.values.members(field.value).iter().any(is_method);
    known.then_some(field)
}

/// Returns the result of a generated builder: `C.builder().a(…).build()`
fn built(linker: &Linker<'_>, site: SiteRef, depth: u32) -> Option<Typed> {
    let depth = depth.checked_sub(1)?;
    let facts = linker.program.facts(site.file);
    let Form::Attr(base, _) = facts.form(linker.program.site(site).callee) else { return None };
    let Form::Result(inner) = facts.form(base) else { return None };
    let inner = site.file.site_ref(inner);
    let row = linker.program.site(inner);
    if row.kind != SiteKind::Call {
        return None;
    }
    let Form::Attr(owner, _) = facts.form(row.callee) else { return None };
    if !matches!(facts.text(row.name), "builder" | "toBuilder") {
        return built(linker, inner, depth);
    }
    let owner = linker.eval(linker.scope_of(inner, EnvId::NONE), owner);
    linker.values.members(owner.value).into_iter().find_map(|val| match val {
        Val::Class(class) | Val::Instance { class, .. } if writes_members(linker, class.file) => {
            Some(linker.known(Val::Instance { class, exact: true, args: ArgsId::NONE }))
        }
        _ => None,
    })
}

/// True if a file imports annotations for which members are generated, or writes one with its package: `@lombok.Data`.
fn writes_members(linker: &Linker<'_>, file: FileId) -> bool {
    let facts = linker.program.facts(file);
    facts.imports.iter().any(|import| facts.text(import.module).starts_with(PACKAGE))
        || linker.program.name(PACKAGE).is_some_and(|name| linker.program.local(file, name).is_some())
}

impl Linker<'_> {
    /// Returns the result of a method's RxJava binding where the method itself returns a future.
    pub(crate) fn binding_result(&self, val: Val) -> Typed {
        match val {
            Val::Library { ty, args, .. } if self.library.role(ty) == Some(blocklint_models::Role::Future) => {
                let ty = self.library.path(Language::Java, OF_BINDING);
                self.known(Val::Library { ty, args, made: None })
            }
            _ => self.unknown(Why::Result),
        }
    }
}
