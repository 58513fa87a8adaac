//! Python: results of the builtin functions `super()`, `typing.cast`, `getattr` and `type`.

use blocklint_facts::Form;

use crate::lang;
use crate::linker::{Linker, Typed};
use crate::program::ids::SiteRef;
use crate::values::value::{EnvId, Val, Why};

use crate::values::value::ArgsId;

impl Linker<'_> {
    /// Returns the result of a call of `super()`, `typing.cast`, `getattr` or `type`; `None` for other functions.
    pub(crate) fn python_builtin(&self, path: &str, site: SiteRef, env: EnvId) -> Option<Typed> {
        let facts = self.program.facts(site.file);
        let args = self.program.args_of(site);
        let scope = self.scope_of(site, env);
        match path {
            // A decorator that is called as a function: `open_store = contextmanager(open_store)`.
            _ if lang::python::builtins::decorator(path) == Some(lang::python::builtins::Decorator::ContextManager) => {
                let [function] = args[..] else { return None };
                Some(self.eval(scope, function.value))
            }
            "builtins.super" => {
                let body = facts.body_of(scope.at);
                let class = match args[..] {
                    [class, ..] => match self.values.members(self.eval(scope, class.value).value)[..] {
                        [Val::Class(class)] => class,
                        _ => return Some(self.unknown(Why::Result)),
                    },
                    [] => self.class_around(site.file.body_ref(body))?,
                };
                // The receiver is exact: overrides in subclasses are no candidates, because `super()` looks in the
                // bases.
                let receiver = self.values.bound(Val::Instance { class, exact: true, args: ArgsId::NONE });
                Some(self.known(Val::Super { class, receiver }))
            }
            "typing.cast" => {
                let [ty, value] = args[..] else { return None };
                let declared = self.annotation(scope, ty.value);
                Some(if self.values.is_unknown(declared.value) { self.eval(scope, value.value) } else { declared })
            }
            "builtins.getattr" => {
                let [object, name, ref rest @ ..] = args[..] else { return None };
                let Form::Str(sym) = facts.form(name.value) else { return Some(self.unknown(Why::Result)) };
                let object = self.eval(scope, object.value);
                let name = self.program.global(site.file, sym)?;
                let attribute = self.map(object, |val| self.attr(val, name));
                Some(match rest {
                    [default] if !self.values.is_unknown(attribute.value) => {
                        self.join(&[attribute, self.eval(scope, default.value)])
                    }
                    _ => attribute,
                })
            }
            "builtins.dict.get" => {
                let [key, ..] = args[..] else { return None };
                let entry = self.literal_table_entry(scope, self.receiver_form(site)?, key.value)?;
                (!self.values.is_unknown(entry.value)).then_some(entry)
            }
            "builtins.type" => {
                let [object] = args[..] else { return Some(self.unknown(Why::Result)) };
                let object = self.eval(scope, object.value);
                Some(self.map(object, |val| match val {
                    Val::Instance { class, .. } => self.known(Val::Class(class)),
                    Val::Library { ty, .. } => self.known(Val::External(ty)),
                    _ => self.unknown(Why::Result),
                }))
            }
            _ => None,
        }
    }
}
