//! Decides guards and holds over a parameter by the arguments of a call: `read(wait=False)` fails the guard `if wait:`.

use std::rc::Rc;

use blocklint_core::{Hold, Language};
use blocklint_facts::{AltKind, Flow, Form, FormId, Param, ParamKind, Sym, VarKind};
use blocklint_link::classes::hierarchy::Ancestor;
use blocklint_link::effect::constant::Constant;
use blocklint_link::effect::guard::{Choice, Guard, GuardKey, Question, Source};
use blocklint_link::effect::label::{Label, LabelHold, cap_wait};
use blocklint_link::lang;
use blocklint_link::linker::LOW_STEPS;
use blocklint_link::models::row_match::ConditionResult;
use blocklint_link::program::ids::{BodyRef, FileId, SiteRef};
use blocklint_link::values::value::{BoundId, EnvId};
use blocklint_models::{Argument, Test};
use smallvec::SmallVec;

use crate::callers::loop_check::tests_loop;
use crate::callers::{Caller, CallerKind, Node};
use crate::entries::purpose::{project_serves, project_takes_arguments};
use crate::guards::Conditions;
use crate::guards::enclosing::guards_over;
use crate::guards::filled_mapping::is_stored_by_project;
use crate::guards::java_setting::fails_by_default;
use crate::guards::rust_getter::getter_result;
use crate::guards::type_test::fails_by_type;

/// How many variables and fields are followed to the constant of an argument.
const MAX_CONSTANT_DEPTH: u32 = 6;

impl<'l, 'a> Conditions<'l, 'a> {
    /// Decides the guards and the hold of a label by the arguments of a call, and stores what remains for the callers
    /// in the label.
    pub(crate) fn decide_label(&self, label: &mut Label, caller: Caller, node: Node) -> LabelDecision {
        let (mut steps, mut is_rare) = (0, false);
        self.decide_hold(label, caller, node);
        if let Some(guard) = label.outer.take() {
            match self.remaining_guard(caller, node, &guard) {
                NextGuard::Fails => return LabelDecision::Fails,
                NextGuard::Open(guard) => label.outer = Some(guard),
                NextGuard::None if is_stored_by_project(self.linker, caller, node.body, &guard) => steps = LOW_STEPS,
                NextGuard::None => {}
            }
        }
        if let Some(guard) = label.guard.take() {
            let answer = self.answer_of(caller, node, &guard);
            match (answer, guard.escape.map(|escape| self.truth_of_argument(caller, node, escape))) {
                (Answer::Holds, _) => {}
                // A root that tests the value itself expects such values, so the guard is not rare there.
                (Answer::HoldsByBranch, _)
                    if self.roots.find_root(self.linker.program.body_of_site(caller.site)).is_some() => {}
                (Answer::HoldsByBranch, _) => (steps, is_rare) = (guard.rare, true),
                // The value that the body assigns to the parameter is not known.
                (_, Some(Truth::Seen(true) | Truth::Hidden)) => {}
                (Answer::Unknown, _) => match guard.source {
                    Source::When => return LabelDecision::Fails,
                    Source::Unless => steps = 1,
                    Source::Branch
                        if fails_by_default(self.linker, caller, node.body, &guard)
                            || is_stored_by_project(self.linker, caller, node.body, &guard) =>
                    {
                        steps = LOW_STEPS;
                    }
                    Source::Exempt | Source::Timeout | Source::Branch => (steps, is_rare) = (guard.rare, true),
                },
                (Answer::Fails, Some(Truth::Param(index))) if guard.passed < MOST_HOPS => {
                    let passed = guard.passed + 1;
                    let truth = Question::Choice(Choice::Truth);
                    label.guard = Some(Guard { passed, ..Guard::new(index, guard.source, truth, true) });
                }
                (Answer::Fails, _) => return LabelDecision::Fails,
                (Answer::Param { index, passed, filled_in }, escape) => {
                    let escape = match escape {
                        Some(Truth::Param(index)) => Some(index),
                        _ => None,
                    };
                    let filled_in = filled_in || guard.filled_in;
                    label.guard = Some(Guard { param: index, passed, escape, asked: None, filled_in, ..guard });
                }
                (Answer::Key(key, default), _) => {
                    label.guard = Some(Guard { escape: None, ..guard.for_key(key, default) });
                }
                (Answer::Forwarded, escape) => {
                    let escape = match escape {
                        Some(Truth::Param(index)) => Some(index),
                        _ => None,
                    };
                    let asked = guard.asked.clone();
                    let asked = asked.or_else(|| Some(Rc::new(GuardKey::Param(node.body, guard.param))));
                    label.guard = Some(Guard { escape, asked, ..guard });
                }
            }
        }
        LabelDecision::Holds { steps, is_rare }
    }

    /// Decides the hold of a label, if it is a parameter of the node: `timeout` in `connect(timeout)`.
    fn decide_hold(&self, label: &mut Label, caller: Caller, node: Node) {
        let LabelHold::Param { index, unit } = label.hold else { return };
        label.hold = match self.argument_for(caller, node, index, None) {
            PassedArgument::Constant(constant) => match constant {
                Constant::Null => LabelHold::Fixed(Hold::Unbounded),
                Constant::Param(index) => LabelHold::Param { index, unit },
                constant => match constant.seconds() {
                    Some(seconds) => LabelHold::Fixed(Hold::Seconds(seconds * unit)),
                    None => LabelHold::Fixed(Hold::Unstated),
                },
            },
            PassedArgument::Forwarded => LabelHold::Param { index, unit },
            PassedArgument::Hidden => LabelHold::Fixed(Hold::Unstated),
        };
        cap_wait(label);
    }

    /// True if no code that awaits a coroutine meets a guard on the coroutine's parameter (Python). A private coroutine, and one of a
    /// program, has no other callers.
    pub(crate) fn no_await_meets_guard(&self, root: BodyRef, guard: &Guard) -> bool {
        let facts = self.linker.program.facts(root.file);
        let body_facts = self.linker.program.body(root);
        if facts.language != Language::Python || body_facts.flow != Flow::Coroutine {
            return false;
        }
        let is_private = lang::python::conventions::is_private(facts.text(body_facts.name));
        (is_private || self.is_awaited_by_its_program_alone(root))
            && self.all_callers(root, |caller| {
                matches!(self.answer_by_argument(caller, Node::plain(root), guard), Answer::Fails)
            })
    }

    /// True if a public coroutine belongs to a program that calls it by its name and does not pass it on, so that no library and no other
    /// project calls it.
    fn is_awaited_by_its_program_alone(&self, root: BodyRef) -> bool {
        let linker = self.linker;
        let facts = linker.program.facts(root.file);
        let row = linker.program.body(root);
        let is_of_program = || project_serves(linker) || project_takes_arguments(linker);
        let is_of_own_class = || {
            let class = row.class.get().map(|class| root.file.class_ref(class));
            class.is_none_or(|class| linker.mro(class).iter().all(|of| matches!(of, Ancestor::Class(_))))
                && self.callers.call_sites_through_base(root).is_empty()
        };
        let is_passed_on = || {
            let name = linker.program.global(root.file, row.name);
            name.is_none_or(|name| {
                let is_mentioned = |&(file, sym): &(FileId, Sym)| {
                    linker.program.index_of(file).mentions_named(sym).iter().next().is_some()
                        || linker.program.facts(file).forms.iter().any(|form| form == Form::Str(sym))
                };
                linker.program.occurrences(name).iter().any(is_mentioned)
            })
        };
        facts.list(row.decorators).is_empty()
            && linker.registered(root).is_none()
            && is_of_program()
            && !is_passed_on()
            && is_of_own_class()
    }

    /// True if `holds` is true for all calls of a body in the project. False if the body has no known calls, or too
    /// many.
    fn all_callers(&self, body: BodyRef, holds: impl Fn(Caller) -> bool) -> bool {
        self.callers.few_call_sites(body).is_some_and(|sites| {
            sites.iter().all(|&site| {
                let with_receiver = self.linker.targets(site, EnvId::NONE).receiver_of(body);
                with_receiver.is_some_and(|with_receiver| holds(Caller::plain(site, EnvId::NONE, with_receiver)))
            })
        })
    }

    /// True if no call of a function in the project meets a guard on the function's parameter. The callers decide for a
    /// call that passes its own parameter on. False if a call leaves the parameter out, because then the parameter is
    /// there for other projects (Python).
    pub(crate) fn no_call_meets_guard(&self, body: BodyRef, guard: &Guard, depth: u32) -> bool {
        let program = self.linker.program;
        let node = Node::plain(body);
        program.language(body.file) == Language::Python
            && self.all_callers(body, |caller| {
                self.argument_form(caller, node, guard).is_some()
                    && match self.remaining_guard(caller, node, guard) {
                        NextGuard::Fails => true,
                        // A value that is passed by a key or through a wrapper is not followed further.
                        NextGuard::Open(remaining) if depth > 0 && remaining.asked.is_none() => {
                            let above = program.body_of_site(caller.site);
                            above != body && self.no_call_meets_guard(above, &remaining, depth - 1)
                        }
                        _ => false,
                    }
            })
    }

    /// Returns the next guard around all of some sites of one body that the caller does not decide, so that the callers
    /// of the caller must. `carried` is the guard that the label carries already.
    pub(crate) fn next_guard(
        &self,
        caller: Caller,
        node: Node,
        mut sites: impl Iterator<Item = SiteRef> + Clone,
        carried: Option<&Guard>,
    ) -> NextGuard {
        let Some(first) = sites.next() else { return NextGuard::None };
        if caller.arg.is_some()
            || caller.kind != CallerKind::Runs
            || self.linker.program.body_of_site(first) != node.body
        {
            return NextGuard::None;
        }
        // If one comparison of a parameter with a literal is undecided, the others are, too. A chain of `elif` has
        // dozens of comparisons, so they are skipped.
        let mut undecided: SmallVec<[u32; 4]> = SmallVec::new();
        for guard in guards_over(self.linker, first).iter() {
            if guard.is_choice_of_literal() && undecided.contains(&guard.param) {
                continue;
            }
            if !sites.clone().all(|site| guards_over(self.linker, site).contains(guard)) {
                continue;
            }
            let answer = self.answer_of(caller, node, guard);
            if matches!(answer, Answer::Unknown) && guard.is_choice_of_literal() {
                undecided.push(guard.param);
            }
            match self.guard_after_answer(answer, node, guard) {
                // The label carries this guard already.
                NextGuard::Open(guard) if carried.is_some_and(|carried| carried.has_same_question(&guard)) => {}
                NextGuard::None => {}
                next => return next,
            }
        }
        NextGuard::None
    }

    /// Returns the guard that a call leaves to the callers of its body.
    fn remaining_guard(&self, caller: Caller, node: Node, guard: &Guard) -> NextGuard {
        self.guard_after_answer(self.answer_of(caller, node, guard), node, guard)
    }

    /// Returns the answer of a call to a guard, by a branch around it or by its arguments.
    fn answer_of(&self, caller: Caller, node: Node, guard: &Guard) -> Answer {
        self.cached_answer(caller, node.body, guard, || {
            if self.fails_by_branch(caller, node, guard) {
                Answer::Fails
            } else {
                self.answer_by_argument(caller, node, guard)
            }
        })
    }

    /// Returns the guard that remains for the callers of a call after its answer.
    fn guard_after_answer(&self, answer: Answer, node: Node, guard: &Guard) -> NextGuard {
        match answer {
            Answer::Holds | Answer::HoldsByBranch | Answer::Unknown => NextGuard::None,
            Answer::Fails => NextGuard::Fails,
            Answer::Param { index, passed, filled_in } => {
                let filled_in = filled_in || guard.filled_in;
                NextGuard::Open(Guard { param: index, passed, asked: None, filled_in, ..guard.clone() })
            }
            Answer::Key(key, default) => NextGuard::Open(guard.clone().for_key(key, default)),
            Answer::Forwarded => {
                let asked = guard.asked.clone();
                let asked = asked.or_else(|| Some(Rc::new(GuardKey::Param(node.body, guard.param))));
                NextGuard::Open(Guard { asked, ..guard.clone() })
            }
        }
    }

    /// Returns the answer of the argument of a call to a guard over the argument's type or origin.
    fn answer_by_tests(&self, caller: Caller, node: Node, guard: &Guard, tests: &[Test]) -> Answer {
        if caller.arg.is_some() || caller.kind == CallerKind::Consumes {
            return Answer::Unknown;
        }
        let form = self.linker.argument_for_param(caller.site, node.body, guard.param, caller.with_receiver);
        // Rust lists `self` among the parameters.
        let is_receiver =
            guard.param == 0 && caller.with_receiver && self.linker.program.language(node.body.file) == Language::Rust;
        let form = form.or_else(|| self.linker.receiver_form(caller.site).filter(|_| is_receiver));
        let Some(form) = form else { return Answer::Unknown };
        let result_of = |test: &Test| match test {
            Test::From(_) | Test::Unbounded => self.linker.origin_test(test, caller.site, form, caller.env),
            Test::Unseen => self.linker.unseen_test(caller.site, form, caller.env),
            Test::Type(wanted) => self.linker.type_test(wanted, caller.site, form, BoundId::NONE, caller.env),
            test => self
                .linker
                .test_constant(test, &self.linker.constant(caller.site, form, caller.env, MAX_CONSTANT_DEPTH)),
        };
        match tests.iter().map(result_of).find(|result| *result != ConditionResult::Yes) {
            None if guard.wanted => Answer::Holds,
            Some(ConditionResult::No) if !guard.wanted => Answer::Holds,
            None | Some(ConditionResult::No) => Answer::Fails,
            Some(ConditionResult::Param(index)) => self.answer_for_parameter(caller, node, guard, index),
            Some(_) => Answer::Unknown,
        }
    }

    /// Returns the answer of the argument of a call to a guard.
    fn answer_by_argument(&self, caller: Caller, node: Node, guard: &Guard) -> Answer {
        if let Question::Condition(condition) = &*guard.question
            && (guard.tests_origin() || guard.tests_type())
        {
            return self.answer_by_tests(caller, node, guard, &condition.tests);
        }
        let constant = match self.argument_for(caller, node, guard.param, guard.asked.as_deref()) {
            PassedArgument::Forwarded => return Answer::Forwarded,
            PassedArgument::Hidden => return Answer::Unknown,
            PassedArgument::Constant(constant) => constant,
        };
        if matches!(constant, Constant::Hidden | Constant::Param(_)) && self.argument_excludes_none(caller, node, guard)
        {
            return Answer::Fails;
        }
        if constant == Constant::Hidden
            && guard.passed < MOST_HOPS
            && let Some((key, default)) = self.find_passed_key(caller, node, guard)
        {
            return Answer::Key(key, default);
        }
        if constant == Constant::Hidden
            && guard.asked.is_none()
            && let Some(form) =
                self.linker.argument_for_param(caller.site, node.body, guard.param, caller.with_receiver)
            && caller.arg.is_none()
            && caller.kind != CallerKind::Consumes
        {
            return self.answer_by_assignments(caller, node, guard, form);
        }
        let result = self.test_constant(guard, &constant);
        if matches!(result, ConditionResult::Param(_) | ConditionResult::Unknown)
            && let Some(holds) = self.result_by_known_prefix(caller, node, guard)
        {
            return if holds { Answer::HoldsByBranch } else { Answer::Fails };
        }
        match result {
            ConditionResult::Yes if guard.wanted => Answer::Holds,
            ConditionResult::No if !guard.wanted => Answer::Holds,
            ConditionResult::Yes | ConditionResult::No => Answer::Fails,
            ConditionResult::Param(index) => self.answer_for_parameter(caller, node, guard, index),
            ConditionResult::Unknown => Answer::Unknown,
        }
    }

    /// True if a guard tests for `None`, and the type of the argument of a call excludes `None`.
    fn argument_excludes_none(&self, caller: Caller, node: Node, guard: &Guard) -> bool {
        if caller.arg.is_some() || caller.kind == CallerKind::Consumes || !guard.tests_absence() {
            return false;
        }
        self.argument_form(caller, node, guard).is_some_and(|form| {
            self.linker.is_written_present(caller.site.file, form)
                || self.linker.type_excludes_none(self.linker.scope_of(caller.site, caller.env), form, guard)
        })
    }

    /// Returns the expression that a call passes to the parameter of a guard. `None` for a guard over a key of
    /// `**kwargs`.
    fn argument_form(&self, caller: Caller, node: Node, guard: &Guard) -> Option<FormId> {
        let (body, param) = match guard.asked.as_deref() {
            None => (node.body, guard.param),
            Some(&GuardKey::Param(body, index)) => (body, index),
            Some(GuardKey::Key(..)) => return None,
        };
        self.linker.argument_for_param(caller.site, body, param, caller.with_receiver)
    }

    /// True if an expression is a value with a fallback in an attribute: `version or self.version` (Python).
    fn has_fallback(&self, site: SiteRef, form: FormId) -> bool {
        let facts = self.linker.program.facts(site.file);
        let Form::Alt(AltKind::Or, list) = facts.form(form) else { return false };
        facts.language == Language::Python
            && facts.list(list).last().is_some_and(|&last| matches!(facts.form(last), Form::Attr(..)))
    }

    /// Returns the answer of a call that passes the caller's own parameter on: the guard is now over that parameter.
    /// Each pass to a parameter with another name counts as a hop, up to `MOST_HOPS`. Passes to a parameter with the
    /// same name are not counted, so a recursive function does not use them up.
    fn answer_for_parameter(&self, caller: Caller, node: Node, guard: &Guard, index: u32) -> Answer {
        let program = self.linker.program;
        let name_of = |body: BodyRef, param: u32| {
            let facts = program.facts(body.file);
            program.params_of(body).get(param as usize).map(|param| facts.text(param.name))
        };
        let param_name = name_of(program.body_of_site(caller.site), index);
        let is_same = param_name.is_some() && guard.asked.is_none() && param_name == name_of(node.body, guard.param);
        let passed = if is_same { guard.passed.max(1) } else { guard.passed.saturating_add(1) };
        match passed {
            passed if passed <= MOST_HOPS => Answer::Param { index, passed, filled_in: false },
            _ => Answer::Unknown,
        }
    }

    /// Returns the answer of an argument that is a variable with several assignments, by all its literals. If all
    /// literals fail the guard, and the variable may also be the caller's unchanged parameter, the guard is now over
    /// that parameter.
    fn answer_by_assignments(&self, caller: Caller, node: Node, guard: &Guard, form: FormId) -> Answer {
        let (mut holding, mut failing, mut param, mut filled_in) = (false, false, None, false);
        for reaching in self.linker.constants_at(caller.site, form, caller.env).iter() {
            if reaching.replaces_missing || reaching.falls_back && guard.tests_absence() {
                filled_in = true;
                continue;
            }
            let answer = self.test_constant(guard, &reaching.constant);
            // The literal that this assignment replaces has the same answer.
            if reaching.instead_of.as_ref().is_some_and(|replaced| self.test_constant(guard, replaced) == answer) {
                continue;
            }
            match answer {
                ConditionResult::Yes if guard.wanted => holding = true,
                ConditionResult::No if !guard.wanted => holding = true,
                ConditionResult::Yes | ConditionResult::No => failing = true,
                ConditionResult::Param(index) if guard.passed < MOST_HOPS => param = Some(index),
                ConditionResult::Param(_) | ConditionResult::Unknown => {
                    return match self.result_by_known_prefix(caller, node, guard) {
                        Some(true) => Answer::HoldsByBranch,
                        Some(false) => Answer::Fails,
                        None => Answer::Unknown,
                    };
                }
            }
        }
        match (holding, failing, param) {
            (false, _, Some(index)) => Answer::Param { index, passed: guard.passed + 1, filled_in },
            (true, false, None) => Answer::Holds,
            (false, true, None) => Answer::Fails,
            _ => Answer::Unknown,
        }
    }

    /// Returns the truth value of the argument that a call passes to a parameter.
    fn truth_of_argument(&self, caller: Caller, node: Node, index: u32) -> Truth {
        match self.argument_for(caller, node, index, None) {
            PassedArgument::Forwarded => Truth::Param(index),
            PassedArgument::Hidden => Truth::Hidden,
            PassedArgument::Constant(constant) => {
                match blocklint_link::guards::branch::choice_outcome(&Choice::Truth, &constant) {
                    ConditionResult::Yes => Truth::Seen(true),
                    ConditionResult::No => Truth::Seen(false),
                    ConditionResult::Param(index) => Truth::Param(index),
                    ConditionResult::Unknown => Truth::Hidden,
                }
            }
        }
    }

    /// Returns the result of a guard over the beginning of a string, if a branch around the call shows the beginning of
    /// the argument: `if path.startswith("http"):`.
    fn result_by_known_prefix(&self, caller: Caller, node: Node, guard: &Guard) -> Option<bool> {
        let is_over_prefix = match &*guard.question {
            Question::Choice(Choice::StartsWith(_)) => true,
            Question::Condition(condition) => matches!(condition.tests[..], [Test::Contains(_)]),
            _ => false,
        };
        if !is_over_prefix || caller.arg.is_some() {
            return None;
        }
        let form = self.linker.argument_for_param(caller.site, node.body, guard.param, caller.with_receiver)?;
        let prefix = self.linker.known_prefix(caller.site, form)?;
        match self.test_constant(guard, &Constant::Head(prefix)) {
            ConditionResult::Yes => Some(guard.wanted),
            ConditionResult::No => Some(!guard.wanted),
            ConditionResult::Param(_) | ConditionResult::Unknown => None,
        }
    }

    /// True if the branches around a call show that its argument fails a guard: the argument is `None` there, or of
    /// another type.
    fn fails_by_branch(&self, caller: Caller, node: Node, guard: &Guard) -> bool {
        let Question::Choice(choice) = &*guard.question else { return false };
        let is_shown_by_branches =
            matches!(choice, Choice::IsInstance(_) | Choice::MethodReturnsTrue(_) | Choice::Truth | Choice::Null);
        if !is_shown_by_branches || caller.arg.is_some() || caller.kind == CallerKind::Consumes {
            return false;
        }
        let (linker, site) = (self.linker, caller.site);
        let Some(form) = linker.argument_for_param(site, node.body, guard.param, caller.with_receiver) else {
            return false;
        };
        // A caller that passes `version or self.version` never passes `None`.
        if guard.tests_absence() && self.has_fallback(site, form) {
            return true;
        }
        let holds = match choice {
            Choice::IsInstance(types) => return fails_by_type(linker, site, form, caller.env, guard, types),
            Choice::MethodReturnsTrue(getter) => getter_result(linker, site, form, getter),
            Choice::Truth if guard.wanted && linker.is_off_by_default(site, form) => return true,
            // `acquire(isOnEventLoop())`: on an event loop the argument is true.
            Choice::Truth if !guard.wanted && tests_loop(linker, site.file, form) => return true,
            Choice::Truth => linker.known_falsity(site, form).0.map(|is_false| !is_false),
            // A parameter of a lambda is never `None`, because the code that calls the lambda passes it.
            _ if guard.wanted && linker.is_param_of_literal(site, form) => return true,
            _ => linker.known_falsity(site, form).1,
        };
        holds.is_some_and(|holds| holds != guard.wanted)
    }

    /// Returns the result of a guard's question for a constant.
    fn test_constant(&self, guard: &Guard, constant: &Constant) -> ConditionResult {
        if let Constant::Param(index) = constant {
            return ConditionResult::Param(*index);
        }
        if guard.replaces(constant) {
            return ConditionResult::Unknown;
        }
        match &*guard.question {
            Question::Zero => match constant {
                Constant::Hidden => ConditionResult::Unknown,
                constant => match constant.seconds() {
                    Some(seconds) if seconds <= 0.0 => ConditionResult::Yes,
                    _ => ConditionResult::No,
                },
            },
            Question::Choice(choice) => blocklint_link::guards::branch::choice_outcome(choice, constant),
            Question::Condition(condition) => {
                let mut result = ConditionResult::Yes;
                for test in &condition.tests {
                    match self.linker.test_constant(test, constant) {
                        ConditionResult::Yes => {}
                        failed => {
                            result = failed;
                            break;
                        }
                    }
                }
                result
            }
        }
    }

    /// Returns the literal that a call passes to a parameter of the node.
    fn argument_for(&self, caller: Caller, node: Node, index: u32, asked: Option<&GuardKey>) -> PassedArgument {
        let linker = self.linker;
        let caller_facts = linker.program.facts(caller.site.file);
        if caller.kind == CallerKind::Consumes && caller.arg.is_none() {
            // The consuming operation passes no arguments. The call that made the value did.
            let operand = caller_facts.form(linker.program.site(caller.site).callee);
            let maker = match operand {
                Form::Result(maker) => maker,
                // Through a local variable with one value: `rows = read(path)`, `for row in rows:`.
                Form::Var(var)
                    if caller_facts.var(var).body == caller_facts.body_of(linker.program.site(caller.site).at) =>
                {
                    let mut assigns = caller_facts.assigns_of(var);
                    let (Some(only), None) = (assigns.next(), assigns.next()) else { return PassedArgument::Hidden };
                    let Form::Result(maker) = caller_facts.form(only.value) else { return PassedArgument::Hidden };
                    maker
                }
                _ => return PassedArgument::Hidden,
            };
            let maker = caller.site.file.site_ref(maker);
            let Some(with_receiver) = linker.targets(maker, caller.env).receiver_of(node.body) else {
                return PassedArgument::Hidden;
            };
            let caller = Caller { site: maker, kind: CallerKind::Runs, with_receiver, ..caller };
            return self.argument_for(caller, node, index, asked);
        }
        if let Some(arg) = caller.arg {
            // The callee is passed as an argument, so other code chooses its arguments, unless a row forwards them.
            return self.forwarded_argument(caller, arg, index);
        }
        match asked {
            Some(GuardKey::Key(name, default)) => return self.argument_of_key(caller, node, name, default),
            Some(&GuardKey::Param(body, index)) => {
                return match linker.argument_for_param(caller.site, body, index, caller.with_receiver) {
                    Some(form) => {
                        PassedArgument::Constant(linker.constant(caller.site, form, caller.env, MAX_CONSTANT_DEPTH))
                    }
                    None => self.argument_by_default(caller.site, linker.default_of(body, index)),
                };
            }
            None => {}
        }
        // A wrapper forwards the arguments after its named parameters by `*args`, so they keep their positions.
        let first_rest = linker.program.params_of(node.body).iter().position(|param| param.kind == ParamKind::VarArgs);
        if let Some(rest) = first_rest
            && index as usize >= rest
        {
            let position = (index as usize).saturating_sub(usize::from(caller.with_receiver));
            let argument = Argument::Position(position as i32);
            if let Some(form) = linker.argument(caller.site, &argument) {
                return PassedArgument::Constant(linker.constant(caller.site, form, caller.env, MAX_CONSTANT_DEPTH));
            }
            return if self.forwards_all(caller.site) { PassedArgument::Forwarded } else { PassedArgument::Hidden };
        }
        match linker.argument_for_param(caller.site, node.body, index, caller.with_receiver) {
            Some(form) => PassedArgument::Constant(linker.constant(caller.site, form, caller.env, MAX_CONSTANT_DEPTH)),
            None => self.argument_by_default(caller.site, linker.default_of(node.body, index)),
        }
    }

    /// Returns the argument for a parameter that a call does not pass: the default, unless the call unpacks arguments.
    fn argument_by_default(&self, site: SiteRef, default: Option<Constant>) -> PassedArgument {
        if self.linker.has_unpacked_arguments(site) {
            return if self.forwards_all(site) { PassedArgument::Forwarded } else { PassedArgument::Hidden };
        }
        match default {
            None | Some(Constant::Param(_)) => PassedArgument::Hidden,
            Some(constant) => PassedArgument::Constant(constant),
        }
    }

    /// Returns the key of the caller's own `**kwargs` whose value it passes to the parameter of a guard, with its
    /// default: `f(delay=kwargs.get("delay"))`.
    fn find_passed_key(&self, caller: Caller, node: Node, guard: &Guard) -> Option<(String, Constant)> {
        if caller.arg.is_some() || caller.kind == CallerKind::Consumes {
            return None;
        }
        let form = match guard.asked.as_deref() {
            Some(GuardKey::Key(key, _)) => {
                let facts = self.linker.program.facts(caller.site.file);
                let args = self.linker.program.args_of(caller.site);
                args.iter().find(|arg| arg.name.is_some() && facts.text(arg.name) == key)?.value
            }
            _ => self.argument_form(caller, node, guard)?,
        };
        let (_, key, default) = self.linker.kwargs_key_read(self.linker.scope_of(caller.site, caller.env), form)?;
        Some((key, default))
    }

    /// Returns the argument that a call passes under a key which the node reads from its `**kwargs`.
    fn argument_of_key(&self, caller: Caller, node: Node, key: &str, default: &Constant) -> PassedArgument {
        let callee = self.linker.program.facts(node.body.file);
        // A key that is also the name of a parameter does not go into `**kwargs`.
        if self
            .linker
            .program
            .params_of(node.body)
            .iter()
            .any(|param| param.name.is_some() && callee.text(param.name) == key)
        {
            return PassedArgument::Hidden;
        }
        let facts = self.linker.program.facts(caller.site.file);
        let args = self.linker.program.args_of(caller.site);
        match args.iter().find(|arg| arg.name.is_some() && facts.text(arg.name) == key) {
            Some(arg) => {
                PassedArgument::Constant(self.linker.constant(caller.site, arg.value, caller.env, MAX_CONSTANT_DEPTH))
            }
            None => self.argument_by_default(caller.site, Some(default.clone())),
        }
    }

    /// True if a call forwards its body's own `*args` or `**kwargs`, so that the arguments of the body's callers count.
    fn forwards_all(&self, site: SiteRef) -> bool {
        let facts = self.linker.program.facts(site.file);
        let body = facts.body_of(self.linker.program.site(site).at);
        self.linker.program.args_of(site).iter().any(|arg| match facts.form(arg.value) {
            Form::Star(inner) | Form::StarStar(inner) => match facts.form(inner) {
                Form::Var(var) => {
                    let var_facts = facts.var(var);
                    let VarKind::Param(index) = var_facts.kind else { return false };
                    let is_rest = |param: &Param| matches!(param.kind, ParamKind::VarArgs | ParamKind::KwArgs);
                    var_facts.body == body && facts.params_of(body).get(index as usize).is_some_and(is_rest)
                }
                _ => false,
            },
            _ => false,
        })
    }

    /// Returns the literal that a call passes on to its callable argument, as one of the arguments after the callable:
    /// `loop.call_soon(close, True)`.
    fn forwarded_argument(&self, caller: Caller, arg: u32, index: u32) -> PassedArgument {
        let args = self.linker.program.args_of(caller.site);
        let later_args = &args[(arg as usize + 1).min(args.len())..];
        match later_args.iter().filter(|arg| arg.name.is_none()).nth(index as usize) {
            Some(arg) => {
                PassedArgument::Constant(self.linker.constant(caller.site, arg.value, caller.env, MAX_CONSTANT_DEPTH))
            }
            None => PassedArgument::Hidden,
        }
    }
}

/// The most parameters through which a guard is followed up.
const MOST_HOPS: u8 = 5;

/// How the argument of a call decides a guard.
#[derive(Clone)]
pub(crate) enum Answer {
    /// The guard holds.
    Holds,
    /// The guard holds, as a branch around the call shows.
    HoldsByBranch,
    /// The guard does not hold, so the call does not reach the guarded code.
    Fails,
    /// The argument is not known.
    Unknown,
    /// The call forwards its body's `*args` or `**kwargs`, so the body's callers decide.
    Forwarded,
    /// The argument is the value under a key of the body's `**kwargs`, with its default.
    Key(String, Constant),
    /// The argument is a parameter of the caller.
    Param {
        /// The index of that parameter.
        index: u32,
        /// The number of hops from parameter to parameter.
        passed: u8,
        /// True if the caller assigns the parameter a value of its own if none was passed.
        filled_in: bool,
    },
}

/// The truth value of an argument.
enum Truth {
    Seen(bool),
    Hidden,
    Param(u32),
}

/// The guard that remains after a call.
pub(crate) enum NextGuard {
    /// None: the call decides the guard, or its argument is not known.
    None,
    /// This guard, which the callers of the call's body decide.
    Open(Guard),
    /// The arguments of the call fail the guard.
    Fails,
}

/// The result of a label's guards for one call.
pub(crate) enum LabelDecision {
    /// The label goes on up to the caller.
    Holds {
        /// The inferred steps for a guard that is not known to hold.
        steps: u8,
        /// True if the guard has these steps because it seldom holds.
        is_rare: bool,
    },
    /// The label ends, because a guard fails.
    Fails,
}

/// The argument that a call passes to a parameter.
enum PassedArgument {
    /// A constant, or the caller's own parameter.
    Constant(Constant),
    /// An argument of the body's callers, which the call forwards.
    Forwarded,
    /// The argument is not known.
    Hidden,
}
