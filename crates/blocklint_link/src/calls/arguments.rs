//! Arguments of calls: the argument that a model row refers to, the argument for a parameter of a body, and the
//! parameter for an argument. Results of calls are in `result.rs`.

use crate::lang;
use blocklint_core::Language;
use blocklint_facts::{Form, FormId, ImportId, ParamKind, SiteKind};
use blocklint_models::Argument;
use smallvec::SmallVec;

use crate::linker::{Linker, Typed};
use crate::program::ids::{BodyRef, FileId, SiteRef, VarRef};
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val, ValueId};

impl<'a> Linker<'a> {
    /// Returns the scope in which the forms of a site are evaluated.
    pub fn scope_of(&self, site: SiteRef, env: EnvId) -> Scope {
        Scope { file: site.file, at: self.program.site(site).at, env }
    }

    /// Returns the argument of a call that a model row refers to by position, keyword or as the receiver.
    pub fn argument(&self, site: SiteRef, argument: &Argument) -> Option<FormId> {
        let facts = self.program.facts(site.file);
        let args = self.program.args_of(site);
        let positional = |index: usize| {
            for (position, arg) in args.iter().filter(|arg| arg.name.is_none()).enumerate() {
                if matches!(facts.form(arg.value), Form::Star(_) | Form::StarStar(_)) {
                    return None;
                }
                if position == index {
                    return Some(arg.value);
                }
            }
            None
        };
        let keyword = |name: &str| {
            args.iter().find(|arg| arg.name.is_some() && facts.text(arg.name) == name).map(|arg| arg.value)
        };
        match argument {
            Argument::Position(index) => match usize::try_from(*index) {
                Ok(index) => positional(index),
                Err(_) => {
                    let back = usize::try_from(-i64::from(*index)).ok()?;
                    args.len().checked_sub(back).and_then(|position| args.get(position)).map(|arg| arg.value)
                }
            },
            Argument::Keyword(name) => keyword(name),
            Argument::Either(name, index) => keyword(name).or_else(|| positional(*index as usize)),
            Argument::AllPositional => positional(0),
            Argument::Receiver => self.receiver_form(site),
        }
    }

    /// True if unpacked arguments (`*a`, `**k`) may contain the argument that a model row refers to.
    pub fn may_be_unpacked(&self, site: SiteRef, argument: &Argument) -> bool {
        let facts = self.program.facts(site.file);
        self.program.args_of(site).iter().any(|arg| match facts.form(arg.value) {
            Form::Star(_) => !matches!(argument, Argument::Keyword(_) | Argument::Receiver),
            Form::StarStar(_) => matches!(argument, Argument::Keyword(_) | Argument::Either(..)),
            _ => false,
        })
    }

    /// Returns the form of a call's receiver: the form before the last name of the callee (`a.b` in `a.b.c()`). The
    /// receiver of an implicit call is its operand.
    pub fn receiver_form(&self, site: SiteRef) -> Option<FormId> {
        let facts = self.program.facts(site.file);
        let site_facts = self.program.site(site);
        match site_facts.kind {
            SiteKind::Call | SiteKind::New | SiteKind::Macro | SiteKind::Decorate => {
                match facts.form(site_facts.callee) {
                    Form::Attr(base, _) | Form::Path(base, _) => Some(base),
                    // `conn.get::<_, String>("a")`
                    Form::Subscript(method, _) if facts.language == Language::Rust => match facts.form(method) {
                        Form::Attr(base, _) => Some(base),
                        _ => None,
                    },
                    _ => None,
                }
            }
            _ => site_facts.callee.get(),
        }
    }

    /// Returns the form that a site passes to a parameter of a body. `None` if the body is no target of the site.
    pub fn passed_argument(&self, site: SiteRef, body: BodyRef, index: u32) -> Option<FormId> {
        let targets = self.targets(site, EnvId::NONE);
        let with_receiver = targets.receiver_of(body)?;
        self.argument_for_param(site, body, index, with_receiver)
    }

    /// Returns the form that a site passes to a parameter of a body. `with_receiver` is true if the first parameter is
    /// a receiver that the argument list does not contain.
    pub fn argument_for_param(&self, site: SiteRef, body: BodyRef, index: u32, with_receiver: bool) -> Option<FormId> {
        let key = (site, body, index, with_receiver);
        self.query(&self.tables.calls.arguments, key, Option::default, || {
            let form = self.written_argument(site, body, index, with_receiver)?;
            Some(match self.program.facts(site.file).form(form) {
                Form::Result(call) => self.cast_argument(site.file, call).unwrap_or(form),
                _ => form,
            })
        })
    }

    /// Returns the argument for a parameter as it is written at the site, with a `typing.cast` around it.
    fn written_argument(&self, site: SiteRef, body: BodyRef, index: u32, with_receiver: bool) -> Option<FormId> {
        let facts = self.program.facts(body.file);
        let params = self.program.params_of(body);
        let param = params.get(index as usize)?;
        let site_facts = self.program.facts(site.file);
        let args = self.program.args_of(site);
        let offset = usize::from(with_receiver);
        let position = (index as usize).checked_sub(offset)?;
        if self.passes_other_arguments(site, body) {
            return None;
        }
        if param.name.is_some() && param.kind != ParamKind::PositionalOnly {
            let name = facts.text(param.name);
            if let Some(arg) = args.iter().find(|arg| arg.name.is_some() && site_facts.text(arg.name) == name) {
                return Some(arg.value);
            }
            if let Some(value) = self.unpacked_argument(site, name) {
                return Some(value);
            }
        }
        if matches!(param.kind, ParamKind::KeywordOnly | ParamKind::KwArgs | ParamKind::VarArgs) {
            return None;
        }
        self.argument(site, &Argument::Position(i32::try_from(position).ok()?))
    }

    /// Returns the parameter of a body to which the n-th argument of a site goes.
    pub fn param_for(&self, site: SiteRef, arg: u32, body: BodyRef, with_receiver: bool) -> Option<u32> {
        let site_facts = self.program.facts(site.file);
        let args = self.program.args_of(site);
        let facts = self.program.facts(body.file);
        let params = self.program.params_of(body);
        let argument = args.get(arg as usize)?;
        if argument.name.is_some() {
            let name = site_facts.text(argument.name);
            let index = params.iter().position(|param| param.name.is_some() && facts.text(param.name) == name)?;
            return Some(index as u32);
        }
        let before = &args[..arg as usize];
        if before.iter().any(|arg| matches!(site_facts.form(arg.value), Form::Star(_))) {
            return None;
        }
        let position = before.iter().filter(|arg| arg.name.is_none()).count() + usize::from(with_receiver);
        match params.get(position) {
            Some(param) if !matches!(param.kind, ParamKind::KeywordOnly | ParamKind::KwArgs) => Some(position as u32),
            _ => params.iter().position(|param| param.kind == ParamKind::VarArgs).map(|index| index as u32),
        }
    }

    /// True if the n-th argument of a site is the argument that a model row refers to.
    pub fn is_argument(&self, site: SiteRef, arg: u32, argument: &Argument) -> bool {
        let args = self.program.args_of(site);
        let Some(candidate) = args.get(arg as usize) else { return false };
        if *argument == Argument::AllPositional {
            return candidate.name.is_none();
        }
        self.argument(site, argument) == Some(candidate.value)
            && (candidate.name.is_some()
                || self.position_of(site, arg).is_some_and(|position| match argument {
                    Argument::Position(index) if *index >= 0 => position == *index as usize,
                    Argument::Either(_, index) => position == *index as usize,
                    _ => true,
                }))
    }

    /// Returns the index of an argument among the positional ones; `None` for a keyword argument.
    fn position_of(&self, site: SiteRef, arg: u32) -> Option<usize> {
        let args = self.program.args_of(site);
        args.get(arg as usize).filter(|arg| arg.name.is_none())?;
        Some(args[..arg as usize].iter().filter(|arg| arg.name.is_none()).count())
    }

    /// Returns the value without the member `None`, unless `None` is its only member. Receivers and callees are read
    /// so, because a call on `None` raises an exception.
    pub(crate) fn without_none(&self, typed: Typed) -> Typed {
        let all_members = self.values.members(typed.value);
        if all_members.len() < 2 || !all_members.contains(&Val::None) {
            return typed;
        }
        let members: SmallVec<[Val; 4]> = all_members.iter().copied().filter(|val| *val != Val::None).collect();
        Typed { value: self.values.union(&members), ..typed }
    }

    /// Returns the environment of the closures in a body when a site calls the body: the values of the parameters that
    /// the closures capture.
    pub fn bind(&self, body: BodyRef, captured: EnvId, site: SiteRef, env: EnvId, with_receiver: bool) -> EnvId {
        let uses = self.param_uses_in(body.file);
        let (_, body_id) = self.program.facts_and_id(body);
        let Some(params) = uses.captured.get(&body_id) else { return captured };
        let mut entries: SmallVec<[(VarRef, ValueId); 4]> = self.values.env_entries(captured).into_iter().collect();
        if entries.len() > 8 || self.values.env_count() > 60_000 {
            return captured;
        }
        for &index in params {
            let Some(form) = self.argument_for_param(site, body, index, with_receiver) else { continue };
            let typed = self.eval(self.scope_of(site, env), form);
            let callable = self.values.members(typed.value).iter().any(|val| self.is_callable(*val));
            if callable {
                let var = body.file.var_ref(self.program.params_of(body)[index as usize].var);
                entries.retain(|entry| entry.0 != var);
                entries.push((var, typed.value));
            }
        }
        if entries.is_empty() { EnvId::NONE } else { self.values.env(&entries) }
    }

    /// True if a member of a value can be called.
    pub(crate) fn is_callable(&self, val: Val) -> bool {
        match val {
            Val::Fn { .. } | Val::Method { .. } | Val::Partial { .. } | Val::Class(_) => true,
            Val::External(path) => !self.library.calls(path).is_empty(),
            _ => false,
        }
    }

    /// Returns the value that an import binds, by the rules of its language.
    pub(crate) fn import(&self, file: FileId, id: ImportId) -> Typed {
        lang::semantics(self.program.language(file)).import(self, file, id)
    }
}
