//! Guards of branches: the conditions on parameters under which a site is reached (`if wait:`), and the outcome of such
//! a condition for a constant.

use crate::lang;
use std::rc::Rc;

use blocklint_core::Language;
use blocklint_facts::{
    AltKind, BodyKind, Comparison, Exit, ExitKind, FileFacts, Flow, Form, FormId, RegionId, RegionKind, VarKind,
};
use smallvec::{SmallVec, smallvec};

use crate::effect::constant::Constant;
use crate::effect::guard::{Choice, Guard, Question, Source, TestedType};
use crate::guards::tested_param::TestedParam;
use crate::linker::{Linker, Typed};
use crate::models::row_match::ConditionResult;
use crate::program::ids::{BodyRef, FileId, SiteRef};
use crate::syntax::regions::{around, is_region_in, outcome};
use crate::values::expr::Scope;
use crate::values::value::{EnvId, Val};

/// The most regions before a site that are searched.
const MAX_EARLIER_REGIONS: usize = 256;

/// How many variables and fields are followed to the constant in a test.
const MAX_CONSTANT_DEPTH: u32 = 3;

/// How deep a test is searched: its parts, and the variables in them.
const MAX_TEST_DEPTH: u32 = 4;

impl<'a> Linker<'a> {
    /// Returns the guard of the innermost branch around a site that tests a parameter of its body. A method that runs
    /// its closure only for a value is such a branch (`limit.map(|limit| …)`).
    pub fn branch_guard(&self, site: SiteRef) -> Option<Guard> {
        self.guard_of_option_method(site).or_else(|| self.branch_guard_at(self.scope_of(site, EnvId::NONE)))
    }

    /// Returns the guard that a call itself puts on the callable that it runs.
    pub fn own_guard(&self, site: SiteRef) -> Option<Guard> {
        self.guard_of_option_method(site)
    }

    /// Returns the guard of the innermost branch around a scope that tests a parameter of its body.
    pub(crate) fn branch_guard_at(&self, place: Scope) -> Option<Guard> {
        let facts = self.program.facts(place.file);
        let mut region = place.at.region;
        let mut guard = None;
        while let Some(id) = region.get() {
            let branch_guard = self.guard_at(place, id);
            guard = match (guard, branch_guard) {
                // The last `else` excludes the values of all branches before it.
                (Some(inner), Some(outer)) => guard_of_neither(inner, &outer),
                (inner, outer) => inner.or(outer),
            };
            if guard.as_ref().is_some_and(|guard| guard.wanted || !guard.is_choice_of_literal()) {
                return guard;
            }
            region = facts.region(id).parent;
        }
        guard
    }

    /// Returns the guards that one branch around a site puts on it.
    pub fn guards_of_branch(&self, site: SiteRef, branch: RegionId) -> SmallVec<[Guard; 2]> {
        let place = self.scope_of(site, EnvId::NONE);
        let Some((test, outcome)) = self.test_of(site.file, branch) else { return SmallVec::new() };
        let facts = self.program.facts(site.file);
        match facts.form(test) {
            // All of `a and b` hold, none of `a or b` does.
            Form::Alt(kind, list) if kind == (if outcome { AltKind::And } else { AltKind::Or }) => facts
                .list(list)
                .iter()
                .filter_map(|&part| self.guard_of_test(place, branch, part, outcome, MAX_TEST_DEPTH))
                .collect(),
            _ => self.guard_of_test(place, branch, test, outcome, MAX_TEST_DEPTH).into_iter().collect(),
        }
    }

    /// Returns the literal value of a parameter by the innermost branch around a scope: `None` in `if name is None:`.
    pub(crate) fn literal_of_branch(&self, place: Scope, param: u32) -> Option<Constant> {
        let guard = self.guard_at(place, place.at.region.get()?)?;
        if !guard.wanted || guard.param != param || guard.asked.is_some() {
            return None;
        }
        match &*guard.question {
            Question::Choice(Choice::Null) => Some(Constant::Null),
            Question::Choice(Choice::Equals(list)) => match &list[..] {
                [only] => Some(only.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the guard of one branch around a scope.
    fn guard_at(&self, place: Scope, branch: RegionId) -> Option<Guard> {
        let (test, outcome) = self.test_of(place.file, branch)?;
        self.guard_of_test(place, branch, test, outcome, MAX_TEST_DEPTH)
    }

    /// Returns the tests of the branches around a site, each with its outcome, inner ones first.
    pub fn tests_around(&self, site: SiteRef) -> impl Iterator<Item = (FormId, bool)> {
        self.tests_at(site.file, self.program.site(site).at.region)
    }

    /// Returns the tests of the branches around a region, each with its outcome, inner ones first.
    pub fn tests_at(&self, file: FileId, region: RegionId) -> impl Iterator<Item = (FormId, bool)> {
        around(self.program.facts(file), region).filter_map(move |id| self.test_of(file, id))
    }

    /// Returns the test of a branch and its outcome in the branch.
    pub fn test_of(&self, file: FileId, id: RegionId) -> Option<(FormId, bool)> {
        let region = self.program.facts(file).region(id);
        match region.kind {
            RegionKind::Then => Some((region.test, true)),
            RegionKind::Else if region.test.is_some() => Some((region.test, false)),
            RegionKind::Else => Some((self.sibling_test(file, id)?, false)),
            RegionKind::Case => self.test_of_case(file, id),
            _ => None,
        }
    }

    /// Returns the test of a case and its outcome there. A case for all other values (`_ => …`) has the test of an
    /// earlier case for `None` or for a failure, with the opposite outcome.
    fn test_of_case(&self, file: FileId, id: RegionId) -> Option<(FormId, bool)> {
        let facts = self.program.facts(file);
        let words = lang::words_of(facts.language);
        if words.falls_through_cases {
            return None;
        }
        let own = facts.region(id);
        if own.test.is_some() {
            return Some((own.test, true));
        }
        let is_named_failure = |form: FormId| match facts.form(form) {
            Form::Name(name) => words.failure == Some(facts.text(name)),
            form => form == Form::None,
        };
        (0..id.0).rev().take(MAX_EARLIER_REGIONS).find_map(|index| {
            let region = facts.region(RegionId(index));
            let is_earlier = region.kind == RegionKind::Case && region.group == own.group && region.body == own.body;
            let test = region.test.get().filter(|_| is_earlier)?;
            match facts.form(test) {
                Form::Compare(Comparison::Is | Comparison::IsNot, _, right) if is_named_failure(right) => {
                    Some((test, false))
                }
                _ => None,
            }
        })
    }

    /// Returns the number of branches and exception handlers around a site.
    pub fn condition_count(&self, site: SiteRef) -> u32 {
        let facts = self.program.facts(site.file);
        let regions = around(facts, self.program.site(site).at.region);
        regions.filter(|&id| is_condition(facts.region(id).kind)).count() as u32
    }

    /// True if a branch or exception handler is around a site.
    pub fn is_in_branch(&self, site: SiteRef) -> bool {
        self.condition_count(site) > 0
    }

    /// Returns the guard under which a conditional expression selects a body as the callee of a site:
    /// `write = slow if careful else quick; write()`.
    pub fn selection_guard(&self, site: SiteRef, body: BodyRef) -> Option<Guard> {
        let facts = self.program.facts(site.file);
        let mut form = self.program.site(site).callee;
        if let Form::Var(var) = facts.form(form) {
            let mut rows = facts.assigns_of(var);
            let only = rows.next()?;
            if rows.next().is_some() {
                return None;
            }
            form = only.value;
        }
        let Form::Alt(AltKind::Ternary, list) = facts.form(form) else { return None };
        let [test, then, otherwise] = facts.list(list) else { return None };
        let selects = |form: FormId| {
            let typed = self.eval(self.scope_of(site, EnvId::NONE), form);
            self.values
                .members(typed.value)
                .iter()
                .any(|val| matches!(*val, Val::Fn { body: function, .. } if function == body))
        };
        match (selects(*then), selects(*otherwise)) {
            (true, false) => {
                self.guard_of_test(self.scope_of(site, EnvId::NONE), RegionId::NONE, *test, true, MAX_TEST_DEPTH)
            }
            (false, true) => {
                self.guard_of_test(self.scope_of(site, EnvId::NONE), RegionId::NONE, *test, false, MAX_TEST_DEPTH)
            }
            _ => None,
        }
    }

    /// Returns the test of the branch to which an `else` without a test of its own belongs.
    pub(crate) fn sibling_test(&self, file: FileId, id: RegionId) -> Option<FormId> {
        let facts = self.program.facts(file);
        let own = facts.region(id);
        // Branches are in order, so the `then` is shortly before its `else`.
        (0..id.0).rev().take(MAX_EARLIER_REGIONS).find_map(|index| {
            let region = facts.region(RegionId(index));
            (region.kind == RegionKind::Then && region.group == own.group && region.body == own.body)
                .then_some(region.test)
        })
    }

    /// Returns the guard of a test that must have the outcome `wanted`, for the code in a branch.
    fn guard_of_test(&self, place: Scope, branch: RegionId, test: FormId, wanted: bool, depth: u32) -> Option<Guard> {
        let depth = depth.checked_sub(1)?;
        let facts = self.program.facts(place.file);
        let guard = |param: TestedParam, choice: Choice, wanted: bool| Guard {
            escape: param.escape,
            asked: param.asked,
            filled_in: param.filled_in,
            ..Guard::new(param.index, Source::Branch, Question::Choice(choice), wanted)
        };
        match facts.form(test) {
            Form::Not(inner) => self.guard_of_test(place, branch, inner, !wanted, depth),
            Form::Var(_) | Form::Attr(..) => {
                Some(guard(self.tested_param(place, branch, test, !wanted)?, Choice::Truth, wanted))
            }
            Form::Compare(comparison @ (Comparison::In | Comparison::NotIn), left, right) => {
                let param = self.tested_param(place, branch, left, false)?;
                let Form::Display(_, list) = facts.form(right) else { return None };
                let literals = facts.list(list).iter().map(|&part| self.literal_of(place, part));
                let outcome = wanted == (comparison == Comparison::In);
                Some(guard(param, Choice::Equals(literals.collect::<Option<_>>()?), outcome))
            }
            // `message instanceof String`
            Form::Compare(Comparison::Is, subject, class) if facts.language == Language::Java => {
                let param = self.tested_param(place, branch, subject, false)?;
                Some(guard(param, Choice::IsInstance(self.tested_types(place, class)?), wanted))
            }
            // `len(items) > 0`
            Form::Compare(comparison, left, right) if let Some(subject) = counted_form(facts, left) => {
                let holds = is_nonzero_test(comparison, facts.form(right))? == wanted;
                Some(guard(self.tested_param(place, branch, subject, !holds)?, Choice::Truth, holds))
            }
            Form::Compare(comparison, left, right) => {
                let holds = match comparison {
                    Comparison::Is | Comparison::Eq => wanted,
                    Comparison::IsNot | Comparison::NotEq => !wanted,
                    _ => return None,
                };
                let param = |tests_absence| self.tested_param(place, branch, left, tests_absence);
                match self.literal_of(place, right)? {
                    Constant::Null => match self.key_of_unpacked_param(place, left) {
                        Some((index, part)) => {
                            let param = TestedParam::plain(index);
                            Some(guard(param, Choice::LacksKey(part), holds))
                        }
                        None => Some(guard(param(holds)?, Choice::Null, holds)),
                    },
                    other => Some(guard(param(false)?, Choice::Equals(smallvec![other]), holds)),
                }
            }
            // `isinstance(source, str)`, `name.startswith("s3:")`
            Form::Result(call) => {
                // `kwargs.get("wipe")`
                if let Some(param) = self.tested_key(place, test) {
                    return Some(guard(param, Choice::Truth, wanted));
                }
                let site_facts = facts.site(call);
                // `limit.is_some()`
                if let Form::Attr(subject, _) = facts.form(site_facts.callee)
                    && let Some(says_absent) = lang::words_of(facts.language).absence_test(facts.text(site_facts.name))
                    && facts.args_of(call).is_empty()
                {
                    let holds = wanted == says_absent;
                    return Some(guard(self.tested_param(place, branch, subject, holds)?, Choice::Null, holds));
                }
                if let [subject, _] = facts.args_of(call)[..]
                    && let Form::Var(var) = facts.form(subject.value)
                    && let Some((class, true)) = lang::instance_test(facts, test, true, var)
                {
                    let param = self.tested_param(place, branch, subject.value, false)?;
                    return Some(guard(param, Choice::IsInstance(self.tested_types(place, class)?), wanted));
                }
                let Form::Attr(subject, _) = facts.form(site_facts.callee) else { return None };
                let end = lang::words_of(facts.language).string_end(facts.text(site_facts.name))?;
                let param = self.tested_param_without_prefix(place, subject)?;
                let [only] = facts.args_of(call)[..] else { return None };
                let text = |form| match self.constant_at(place, form) {
                    Constant::Str(part) => Some(part),
                    _ => None,
                };
                let choice = match (end, facts.form(only.value)) {
                    (lang::words::StringEnd::First, Form::Display(_, list)) => {
                        Choice::StartsWith(facts.list(list).iter().map(|&part| text(part)).collect::<Option<_>>()?)
                    }
                    (lang::words::StringEnd::First, _) => Choice::StartsWith(smallvec![text(only.value)?]),
                    (lang::words::StringEnd::Last, _) => Choice::EndsWith(text(only.value)?),
                };
                Some(guard(TestedParam::plain(param), choice, wanted))
            }
            // All of `a and b` hold, none of `a or b` does.
            Form::Alt(AltKind::And, list) if wanted => {
                facts.list(list).iter().find_map(|&part| self.guard_of_test(place, branch, part, true, depth))
            }
            Form::Alt(AltKind::Or, list) if !wanted => {
                facts.list(list).iter().find_map(|&part| self.guard_of_test(place, branch, part, false, depth))
            }
            // `a == "x" or a == "y"`, without operands that are always false.
            Form::Alt(AltKind::Or, list) => {
                let body = facts.body_of(place.at);
                let never = |part: FormId| self.literal_of_field(place.file, body, part) == Some(Constant::Bool(false));
                let parts = facts.list(list).iter().filter(|&&part| !never(part));
                let mut guards = parts.map(|&part| self.guard_of_test(place, branch, part, true, depth));
                let first_guard = guards.next()??;
                guards.try_fold(first_guard, |left, right| guard_of_either(left, right?))
            }
            _ => None,
        }
    }

    /// True if a form reads a setting that is false by default: `url.getParameter("sent", false)` (Java).
    pub fn is_off_by_default(&self, site: SiteRef, form: FormId) -> bool {
        let facts = self.program.facts(site.file);
        let Form::Result(call) = facts.form(form) else { return false };
        let args = facts.args_of(call);
        facts.language == Language::Java
            && matches!(facts.form(facts.site(call).callee), Form::Attr(..))
            && args.len() == 2
            && args.iter().last().is_some_and(|arg| facts.form(arg.value) == Form::Bool(false))
    }

    /// True if a form is the only parameter of a lambda around a site (Java).
    pub fn is_param_of_literal(&self, site: SiteRef, form: FormId) -> bool {
        let facts = self.program.facts(site.file);
        let Form::Var(var) = facts.form(form) else { return false };
        let var_facts = facts.var(var);
        facts.language == Language::Java
            && matches!(var_facts.kind, VarKind::Param(_))
            && facts.body(var_facts.body).kind == BodyKind::Lambda
            && facts.params_of(var_facts.body).len() == 1
    }

    /// Returns the constant of a form in a scope.
    fn constant_at(&self, place: Scope, form: FormId) -> Constant {
        let body = self.program.facts(place.file).body_of(place.at);
        self.constant_in(place.file.body_ref(body), form, EnvId::NONE, MAX_CONSTANT_DEPTH)
    }

    /// Returns the literal value of a form; `None` if it is unknown or a parameter.
    fn literal_of(&self, place: Scope, form: FormId) -> Option<Constant> {
        match self.constant_at(place, form) {
            Constant::Hidden | Constant::Param(_) => None,
            constant => Some(constant),
        }
    }

    /// Returns the prefix of a string that a branch around a site tests: `if name.startswith("s3:"):`.
    pub fn known_prefix(&self, site: SiteRef, subject: FormId) -> Option<String> {
        let facts = self.program.facts(site.file);
        let mut next = self.program.site(site).at.region;
        while let Some(id) = next.get() {
            let region = facts.region(id);
            if region.kind == RegionKind::Then
                && let Some(prefix) = self.prefix_in_test(site, region.test, subject, MAX_TEST_DEPTH)
            {
                return Some(prefix);
            }
            next = region.parent;
        }
        None
    }

    /// Returns two facts about a variable by the branches around a site: true if it is false in a Boolean context, and
    /// true if it is `None`. A fact is `None` if it is unknown. A branch that assigns the variable does not count.
    pub fn known_falsity(&self, site: SiteRef, subject: FormId) -> (Option<bool>, Option<bool>) {
        let facts = self.program.facts(site.file);
        let Form::Var(var) = facts.form(subject) else { return (None, None) };
        let (mut is_false, mut is_null) = (None, None);
        let mut next = self.program.site(site).at.region;
        while let Some(id) = next.get() {
            let region = facts.region(id);
            let holds = outcome(&region);
            if let Some(holds) = holds
                && !facts.assigns_of(var).any(|assign| is_region_in(facts, assign.at.region, id))
            {
                let by_test = self.falsity_by_test(site, region.test, holds, subject, MAX_TEST_DEPTH);
                is_false = is_false.or(by_test.0);
                is_null = is_null.or(by_test.1);
            }
            next = region.parent;
        }
        (is_false, is_null)
    }

    /// Returns the same two facts as [`Linker::known_falsity`], by one test with this outcome.
    fn falsity_by_test(
        &self,
        site: SiteRef,
        test: FormId,
        outcome: bool,
        subject: FormId,
        depth: u32,
    ) -> (Option<bool>, Option<bool>) {
        let Some(depth) = depth.checked_sub(1) else { return (None, None) };
        let facts = self.program.facts(site.file);
        match facts.form(test) {
            Form::Not(inner) => self.falsity_by_test(site, inner, !outcome, subject, depth),
            Form::Var(_) if facts.form(test) == facts.form(subject) => match outcome {
                true => (Some(false), Some(false)),
                // An empty string is false and not `None`.
                false => (Some(true), None),
            },
            Form::Compare(comparison, left, right)
                if facts.form(left) == facts.form(subject) && facts.form(right) == Form::None =>
            {
                let null = match comparison {
                    Comparison::Is | Comparison::Eq => outcome,
                    Comparison::IsNot | Comparison::NotEq => !outcome,
                    _ => return (None, None),
                };
                (null.then_some(true), Some(null))
            }
            Form::Alt(AltKind::And, list) if outcome => facts.list(list).iter().fold((None, None), |known, &part| {
                let by_part = self.falsity_by_test(site, part, true, subject, depth);
                (known.0.or(by_part.0), known.1.or(by_part.1))
            }),
            Form::Alt(AltKind::Or, list) if !outcome => facts.list(list).iter().fold((None, None), |known, &part| {
                let by_part = self.falsity_by_test(site, part, false, subject, depth);
                (known.0.or(by_part.0), known.1.or(by_part.1))
            }),
            _ => (None, None),
        }
    }

    /// Returns the prefix that a string has if a test holds.
    fn prefix_in_test(&self, site: SiteRef, test: FormId, subject: FormId, depth: u32) -> Option<String> {
        let depth = depth.checked_sub(1)?;
        let facts = self.program.facts(site.file);
        match facts.form(test) {
            Form::Alt(AltKind::And, list) => {
                facts.list(list).iter().find_map(|&part| self.prefix_in_test(site, part, subject, depth))
            }
            Form::Result(call) => {
                let site_facts = facts.site(call);
                let Form::Attr(base, _) = facts.form(site_facts.callee) else { return None };
                let is_subject = facts.form(base) == facts.form(subject) && matches!(facts.form(subject), Form::Var(_));
                let tests_prefix = lang::words_of(facts.language).string_end(facts.text(site_facts.name))
                    == Some(lang::words::StringEnd::First);
                let [only] = facts.args_of(call)[..] else { return None };
                match self.constant(site, only.value, EnvId::NONE, MAX_CONSTANT_DEPTH) {
                    Constant::Str(text) if is_subject && tests_prefix => Some(text),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Returns the types in the second argument of an instance test; `None` if one of them cannot decide a guard. Types
    /// of literals can (in Python also classes), because their subclasses are known.
    pub(crate) fn tested_types(&self, place: Scope, class: FormId) -> Option<Vec<TestedType>> {
        let language = self.program.language(place.file);
        let members = self.values.members(self.instances_of(place, class).value);
        let types: Option<Vec<TestedType>> = members
            .into_iter()
            .map(|val| match val {
                Val::Library { ty, .. } if lang::words_of(language).is_literal_type(self.library.text(ty).as_ref()) => {
                    Some(TestedType::Literal(ty))
                }
                Val::Library { ty, .. } if language == Language::Python => Some(TestedType::Library(ty)),
                Val::Instance { class, .. } if language == Language::Python => Some(TestedType::Class(class)),
                _ => None,
            })
            .collect();
        types.filter(|types| !types.is_empty())
    }
}

impl<'a> Linker<'a> {
    /// Returns the `return` statements of a function, each with the guard of its branch, its scope and its value. The
    /// list is empty if no guard distinguishes them.
    pub(crate) fn guarded_returns(&self, body: BodyRef) -> Rc<[GuardedReturn]> {
        self.query(&self.tables.guards.guarded_returns, body, Rc::default, || {
            let returns_value = |exit: &Exit| exit.kind == ExitKind::Return && exit.value.is_some();
            let exits = self.program.exits_in(body).filter(returns_value);
            let returns: Vec<_> = exits
                .take(MAX_RETURNS)
                .map(|exit| {
                    let place = Scope { file: body.file, at: exit.at, env: EnvId::NONE };
                    (self.branch_guard_at(place), place, exit.value)
                })
                .collect();
            let has_guard = returns.len() > 1 && returns.iter().any(|(guard, ..)| guard.is_some());
            if has_guard { Rc::from(returns) } else { Rc::default() }
        })
    }

    /// True if a call has unpacked arguments: `*args`, `**kwargs`.
    pub fn has_unpacked_arguments(&self, site: SiteRef) -> bool {
        let facts = self.program.facts(site.file);
        self.program.args_of(site).iter().any(|arg| matches!(facts.form(arg.value), Form::Star(_) | Form::StarStar(_)))
    }

    /// Returns the result of a function without a declared result type for a call whose constants exclude some of the
    /// function's `return` statements (Python).
    pub(crate) fn result_by_literals(
        &self,
        body: BodyRef,
        bound: EnvId,
        site: SiteRef,
        with_receiver: bool,
    ) -> Option<Typed> {
        let facts = self.program.facts(body.file);
        let body_facts = self.program.body(body);
        if body_facts.flow != Flow::Sync || body_facts.returns.is_some() || facts.language != Language::Python {
            return None;
        }
        let returns = self.guarded_returns(body);
        let mut possible = Vec::new();
        for (guard, place, value) in returns.iter() {
            let is_excluded = guard.as_ref().is_some_and(|guard| {
                let Question::Choice(choice) = &*guard.question else { return false };
                let constant = match self.argument_for_param(site, body, guard.param, with_receiver) {
                    Some(form) => self.constant(site, form, EnvId::NONE, MAX_CONSTANT_DEPTH),
                    None if self.has_unpacked_arguments(site) => return false,
                    None => match self.default_of(body, guard.param) {
                        Some(constant) => constant,
                        None => return false,
                    },
                };
                let outcome = match choice_outcome(choice, &constant) {
                    _ if guard.replaces(&constant) => return false,
                    ConditionResult::Yes => guard.wanted,
                    ConditionResult::No => !guard.wanted,
                    ConditionResult::Param(_) | ConditionResult::Unknown => return false,
                };
                !outcome && guard.escape.is_none()
            });
            if !is_excluded {
                possible.push(self.eval(Scope { env: bound, ..*place }, *value));
            }
        }
        (!possible.is_empty() && possible.len() < returns.len()).then(|| self.join(&possible))
    }
}

/// A `return` of a function: the guard of its branch, its scope and its value.
pub(crate) type GuardedReturn = (Option<Guard>, Scope, FormId);

/// The maximal number of `return` statements that are checked.
const MAX_RETURNS: usize = 16;

/// True if a region of this kind runs only after a test or an exception.
pub fn is_condition(kind: RegionKind) -> bool {
    matches!(kind, RegionKind::Then | RegionKind::Else | RegionKind::Case | RegionKind::Handler)
}

/// Returns the guard for `left or right`, where both test the same parameter.
fn guard_of_either(mut left: Guard, right: Guard) -> Option<Guard> {
    let is_combinable = left.param == right.param
        && left.escape == right.escape
        && left.asked == right.asked
        && left.filled_in == right.filled_in
        && left.wanted
        && right.wanted;
    let choice = match (&*left.question, &*right.question) {
        (Question::Choice(Choice::Equals(some)), Question::Choice(Choice::Equals(others))) => {
            Choice::Equals(some.iter().chain(others).cloned().collect())
        }
        (Question::Choice(Choice::StartsWith(some)), Question::Choice(Choice::StartsWith(others))) => {
            Choice::StartsWith(some.iter().chain(others).cloned().collect())
        }
        _ => return None,
    };
    left.question = Rc::new(Question::Choice(choice));
    is_combinable.then_some(left)
}

/// Returns the guard of two tests of the same parameter that must both fail. If the tests cannot be combined, it
/// returns the inner one.
fn guard_of_neither(mut inner: Guard, outer: &Guard) -> Option<Guard> {
    let is_combinable = inner.param == outer.param
        && inner.escape == outer.escape
        && inner.asked == outer.asked
        && inner.filled_in == outer.filled_in
        && !inner.wanted
        && !outer.wanted;
    if let (Question::Choice(Choice::Equals(some)), Question::Choice(Choice::Equals(others))) =
        (&*inner.question, &*outer.question)
        && is_combinable
    {
        let texts = some.iter().chain(others).cloned().collect();
        inner.question = Rc::new(Question::Choice(Choice::Equals(texts)));
    }
    Some(inner)
}

/// Returns the outcome of a branch's test for a constant.
pub fn choice_outcome(choice: &Choice, constant: &Constant) -> ConditionResult {
    let truth = |holds: bool| if holds { ConditionResult::Yes } else { ConditionResult::No };
    match (choice, constant) {
        (_, Constant::Param(index)) => ConditionResult::Param(*index),
        (_, Constant::Hidden) => ConditionResult::Unknown,
        (Choice::Null, constant) => truth(*constant == Constant::Null),
        (Choice::Truth, Constant::Null | Constant::Empty) => ConditionResult::No,
        (Choice::Truth, Constant::Bool(value)) => truth(*value),
        (Choice::Truth, Constant::Int(value)) => truth(*value != 0),
        (Choice::Truth, Constant::Float(value)) => truth(*value != 0.0),
        (Choice::Truth, Constant::Str(text)) => truth(!text.is_empty()),
        // A member of an enum or a function is true, but a call of the function may be false.
        (Choice::Truth, Constant::Symbols(_)) => ConditionResult::Unknown,
        (Choice::StartsWith(parts), Constant::Str(text)) => {
            truth(parts.iter().any(|part| text.starts_with(part.as_str())))
        }
        // A constant does not show the type, the result of a method or the keys.
        (Choice::IsInstance(_) | Choice::MethodReturnsTrue(_) | Choice::LacksKey(_), _) => ConditionResult::Unknown,
        // A long string is truncated, so its suffix is unknown.
        (Choice::EndsWith(_), Constant::Str(text)) if text.len() >= 64 => ConditionResult::Unknown,
        (Choice::EndsWith(part), Constant::Str(text)) => truth(text.ends_with(part.as_str())),
        (Choice::Truth, Constant::Head(_)) => ConditionResult::Yes,
        (Choice::StartsWith(parts), Constant::Head(head))
            if parts.iter().any(|part| head.starts_with(part.as_str())) =>
        {
            ConditionResult::Yes
        }
        (Choice::StartsWith(parts), Constant::Head(head)) => {
            if parts.iter().any(|part| part.starts_with(head.as_str())) {
                ConditionResult::Unknown
            } else {
                ConditionResult::No
            }
        }
        (Choice::EndsWith(_), Constant::Head(_)) => ConditionResult::Unknown,
        (Choice::StartsWith(_) | Choice::EndsWith(_), Constant::Symbols(_)) => ConditionResult::Unknown,
        (Choice::StartsWith(_) | Choice::EndsWith(_), _) => ConditionResult::No,
        (Choice::Equals(any), constant) => {
            let each = |wanted: &Constant| match (wanted, constant) {
                (Constant::Symbols(a), Constant::Symbols(b)) => truth(a == b),
                (Constant::Symbols(_), _) | (_, Constant::Symbols(_)) => ConditionResult::Unknown,
                (Constant::Str(text), Constant::Head(head)) | (Constant::Head(head), Constant::Str(text)) => {
                    if text.starts_with(head.as_str()) { ConditionResult::Unknown } else { ConditionResult::No }
                }
                (Constant::Head(_), Constant::Head(_)) => ConditionResult::Unknown,
                _ => truth(wanted == constant),
            };
            let mut result = ConditionResult::No;
            for wanted in any {
                match each(wanted) {
                    ConditionResult::No => {}
                    ConditionResult::Yes => return ConditionResult::Yes,
                    other => result = other,
                }
            }
            result
        }
    }
}

/// Returns the form whose length a form is: `items` of `len(items)` (Python).
fn counted_form(facts: &FileFacts, form: FormId) -> Option<FormId> {
    let Form::Result(call) = facts.form(form) else { return None };
    let site_facts = facts.site(call);
    let is_count = facts.language == Language::Python
        && matches!(facts.form(site_facts.callee), Form::Name(_))
        && lang::python::conventions::returns_length(facts.text(site_facts.name));
    match facts.args_of(call)[..] {
        [only] if is_count => Some(only.value),
        _ => None,
    }
}

/// Returns true if a comparison of a length with a number holds for lengths above zero (`> 0`), false if it holds for
/// zero (`== 0`), and `None` for other comparisons.
fn is_nonzero_test(comparison: Comparison, number: Form) -> Option<bool> {
    match (comparison, number) {
        (Comparison::Greater | Comparison::NotEq, Form::Int(0)) | (Comparison::GreaterEq, Form::Int(1)) => Some(true),
        (Comparison::Eq | Comparison::LessEq, Form::Int(0)) | (Comparison::Less, Form::Int(1)) => Some(false),
        _ => None,
    }
}
