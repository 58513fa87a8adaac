//! Conditions of model rows (`when`, `unless`) at a call: tests of constants, types, states and absent arguments.

use crate::effect::constant::Constant;
use crate::effect::guard::{Guard, Question, Source};
use crate::lang;
use crate::linker::Linker;
use crate::models::row_match::{ConditionResult, yes_if};
use crate::models::sql::is_short_statement;
use crate::program::ids::{PathId, SiteRef};
use crate::values::value::{BoundId, EnvId, Val};
use blocklint_facts::FormId;
use blocklint_models::{Argument, Condition, Subject, Test, TypeExpr, TypeTest};

/// How many variables and fields are followed to the constant of an argument.
const MAX_CONSTANT_DEPTH: u32 = 6;

impl<'a> Linker<'a> {
    /// True if all conditions of `when` and none of `unless` are known to hold at a call.
    pub fn conditions_hold(&self, when: &[Condition], unless: &[Condition], site: SiteRef, env: EnvId) -> bool {
        when.iter().all(|condition| self.condition_result(condition, site, BoundId::NONE, env) == ConditionResult::Yes)
            && !unless
                .iter()
                .any(|condition| self.condition_result(condition, site, BoundId::NONE, env) == ConditionResult::Yes)
    }

    /// True if a call passes the argument of a condition, or may pass it in unpacked arguments.
    pub(crate) fn is_given(&self, condition: &Condition, site: SiteRef) -> bool {
        match &condition.subject {
            Subject::Argument(Argument::Receiver) => false,
            Subject::Argument(argument) => {
                self.argument(site, argument).is_some() || self.may_be_unpacked(site, argument)
            }
            _ => false,
        }
    }

    /// Returns the result of one condition at a call.
    pub fn condition_result(
        &self,
        condition: &Condition,
        site: SiteRef,
        receiver: BoundId,
        env: EnvId,
    ) -> ConditionResult {
        match &condition.subject {
            Subject::Argument(argument) => {
                let form = self.argument(site, argument);
                let mut result = ConditionResult::Yes;
                for test in &condition.tests {
                    let tested = match form {
                        Some(form) => self.test(test, site, form, argument, receiver, env),
                        None if self.may_be_unpacked(site, argument) => ConditionResult::Unknown,
                        None => match test {
                            Test::Absent(wanted) => yes_if(*wanted),
                            // A missing argument is neither `None` nor another value.
                            _ => ConditionResult::No,
                        },
                    };
                    match tested {
                        ConditionResult::Yes => {}
                        other => {
                            result = other;
                            break;
                        }
                    }
                }
                result
            }
            // The dependencies and switches of units are not read here.
            Subject::Switch(_) | Subject::Library(_) => ConditionResult::Unknown,
            Subject::Context(_) | Subject::Runtime(_) => ConditionResult::Unknown,
        }
    }

    /// Returns the result of one test for an argument.
    pub(crate) fn test(
        &self,
        test: &Test,
        site: SiteRef,
        form: FormId,
        argument: &Argument,
        receiver: BoundId,
        env: EnvId,
    ) -> ConditionResult {
        match test {
            Test::Type(wanted) => return self.type_test(wanted, site, form, receiver, env),
            Test::State(state) => return yes_if(self.is_in_state(site, form, argument, receiver, state, env)),
            Test::Absent(wanted) => return yes_if(!*wanted),
            Test::From(_) | Test::Unbounded => return self.origin_test(test, site, form, env),
            Test::Unseen => return self.unseen_test(site, form, env),
            Test::Version(_) | Test::Feature(_) => return ConditionResult::Unknown,
            _ => {}
        }
        let constant = self.constant(site, form, env, MAX_CONSTANT_DEPTH);
        if matches!((test, &constant), (Test::Contains(_), Constant::Param(_) | Constant::Hidden))
            && let Some(prefix) = self.known_prefix(site, form)
        {
            return self.test_constant(test, &Constant::Head(prefix));
        }
        match constant {
            Constant::Param(index) => ConditionResult::Param(index),
            constant => self.test_constant(test, &constant),
        }
    }

    /// Returns the result of a test for a literal.
    pub fn test_constant(&self, test: &Test, constant: &Constant) -> ConditionResult {
        match (test, constant) {
            (_, Constant::Hidden | Constant::Param(_)) => ConditionResult::Unknown,
            // Only the start of a concatenated or formatted string is known.
            (Test::Null(wanted), Constant::Head(_)) => yes_if(!*wanted),
            (Test::Contains(wanted), Constant::Head(head)) if head.contains(wanted.as_str()) => ConditionResult::Yes,
            (Test::Literal(wanted), Constant::Head(_)) => yes_if(!*wanted),
            (Test::Null(wanted), Constant::Empty) => yes_if(!*wanted),
            (_, Constant::Head(_) | Constant::Empty) => ConditionResult::Unknown,
            (Test::Equals(wanted), _) => yes_if(wanted.iter().any(|literal| constant.equals(literal))),
            (Test::Contains(wanted), Constant::Str(text)) => yes_if(text.contains(wanted.as_str())),
            (Test::Contains(_), _) => ConditionResult::No,
            (Test::ShortSql, Constant::Str(text)) => yes_if(is_short_statement(text)),
            (Test::Symbol(wanted), Constant::Symbols(paths)) => {
                yes_if(paths.iter().any(|path| wanted.iter().any(|wanted| wanted == path)))
            }
            (Test::Symbol(_), _) => ConditionResult::No,
            (Test::Null(wanted), Constant::Null) => yes_if(*wanted),
            (Test::Null(wanted), _) => yes_if(!*wanted),
            (Test::Literal(wanted), Constant::Symbols(_)) => yes_if(*wanted),
            (Test::Literal(wanted), _) => yes_if(*wanted),
            (Test::Less(bound), _) => constant.number().map_or(ConditionResult::No, |number| yes_if(number < *bound)),
            (Test::Greater(bound), _) => {
                constant.number().map_or(ConditionResult::No, |number| yes_if(number > *bound))
            }
            _ => ConditionResult::Unknown,
        }
    }

    /// Returns the result of a test for the types of an argument.
    pub fn type_test(
        &self,
        wanted: &[TypeTest],
        site: SiteRef,
        form: FormId,
        receiver: BoundId,
        env: EnvId,
    ) -> ConditionResult {
        let members = if receiver.is_some() && self.receiver_form(site) == Some(form) {
            self.values.members(self.values.one(self.values.single(receiver)))
        } else {
            self.values.members(self.eval(self.scope_of(site, env), form).value)
        };
        let language = self.program.language(site.file);
        // A type such as `Options<worker>`, which calls on a local variable may set.
        let is_set_by_calls =
            |test: &TypeTest| matches!(test, TypeTest::Type(TypeExpr::Path { path, .. }) if path.contains('<'));
        let semantics = lang::semantics(language);
        let set_up = if wanted.iter().any(is_set_by_calls) {
            semantics.states_set_by_calls(self, site, form)
        } else {
            Vec::new()
        };
        let mut has_known_type = false;
        for val in members.iter().copied().chain(set_up) {
            let mut types = self.types_through(val);
            types.extend(lang::library_type_arguments(self, val));
            has_known_type |= !types.is_empty();
            for ty in types {
                let matches = wanted.iter().any(|test| match test {
                    TypeTest::Tag(tag) => self.library.has_tag(ty, tag),
                    TypeTest::Type(TypeExpr::Path { path, .. }) => {
                        self.library.is_subtype(ty, self.library.path(language, path))
                    }
                    TypeTest::Type(TypeExpr::Array(_)) => self.is_array(ty),
                    TypeTest::Type(_) => false,
                });
                if matches {
                    return ConditionResult::Yes;
                }
            }
        }
        if let Some(by_language) = semantics.condition_by_type(self, &members, site, form, env) {
            return by_language;
        }
        if has_known_type { ConditionResult::No } else { ConditionResult::Unknown }
    }

    /// Returns [`ConditionResult::Param`] if a form is a parameter, so that callers decide a condition on it.
    pub(crate) fn decided_by_param(&self, site: SiteRef, form: FormId, env: EnvId) -> Option<ConditionResult> {
        match self.constant(site, form, env, 2) {
            Constant::Param(index) => Some(ConditionResult::Param(index)),
            _ => None,
        }
    }

    /// Returns the library types of a member, through transparent types and the bases of the project's classes.
    pub fn types_through(&self, val: Val) -> Vec<PathId> {
        match val {
            Val::Library { ty, args, .. } => {
                let mut types = vec![ty];
                if let Some(inner) = self.transparent_inner(ty, args) {
                    for inner in self.values.members(inner.value) {
                        types.extend(self.types_through(inner));
                    }
                }
                types
            }
            Val::Instance { class, .. } => self
                .mro(class)
                .iter()
                .filter_map(|ancestor| match *ancestor {
                    crate::classes::hierarchy::Ancestor::Library(ty, _) => Some(ty),
                    _ => None,
                })
                .collect(),
            Val::Lazy { .. } => Vec::new(),
            _ => Vec::new(),
        }
    }
}

/// True if a guard tests the type of an argument, or for a stream whose source is unknown (`unseen`).
pub(crate) fn tests_type(guard: &Guard) -> bool {
    let Question::Condition(condition) = &*guard.question else { return false };
    guard.source == Source::When
        && guard.wanted
        && condition.tests.iter().all(|test| matches!(test, Test::Type(_) | Test::Unseen))
}
