//! Guards and holds that name a parameter, decided by the arguments of a site.

use blocklint_link::lang;
use std::rc::Rc;

use blocklint_core::{Hold, Language};
use blocklint_facts::{AltKind, Flow, Form, FormId, Param, ParamKind, Sym, VarKind};
use blocklint_link::classes::hierarchy::Ancestor;
use blocklint_link::effect::constant::Constant;
use blocklint_link::effect::guard::{Choice, Guard, GuardKey, Question, Source};
use blocklint_link::effect::label::cap_wait;
use blocklint_link::effect::label::{Label, LabelHold};
use blocklint_link::linker::LOW_STEPS;
use blocklint_link::models::row_match::ConditionResult;
use blocklint_link::program::ids::{BodyRef, FileId, SiteRef};
use blocklint_link::values::value::{BoundId, EnvId};
use blocklint_models::Test;
use smallvec::SmallVec;

use crate::callers::loop_check::tests_loop;
use crate::callers::{Caller, CallerKind, Node};
use crate::entries::purpose::{project_serves, project_takes_arguments};
use crate::guards::Conditions;
use crate::guards::enclosing::guards_over;
use crate::guards::filled_mapping::is_filled;
use crate::guards::java_setting::fails_by_default;
use crate::guards::rust_getter::getter_result;
use crate::guards::type_test::fails_by_type;

impl<'l, 'a> Conditions<'l, 'a> {
    /// Decides a label's guard and hold by the arguments of a site.
    pub(crate) fn decide(&self, label: &mut Label, caller: Caller, node: Node) -> Decided {
        let (mut steps, mut is_rare) = (0, false);
        if let LabelHold::Param { index, unit } = label.hold {
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
        if let Some(guard) = label.outer.take() {
            match self.pass_on(caller, node, &guard) {
                NextGuard::Fails => return Decided::Fails,
                NextGuard::Holds(guard) => label.outer = Some(guard),
                NextGuard::None if is_filled(self.linker, caller, node.body, &guard) => steps = LOW_STEPS,
                NextGuard::None => {}
            }
        }
        if let Some(guard) = label.guard.take() {
            let answer = self.answer_of(caller, node, &guard);
            match (answer, guard.escape.map(|escape| self.truth(caller, node, escape))) {
                (Answer::Holds, _) => {}
                // The author of a root that has the test in it knows that such values come.
                (Answer::Told, _) if self.roots.of(self.linker.program.body_of_site(caller.site)).is_some() => {}
                (Answer::Told, _) => (steps, is_rare) = (guard.rare, true),
                // The value that the body assigns to the parameter is not known.
                (_, Some(Truth::Seen(true) | Truth::Hidden)) => {}
                (Answer::Unseen, _) => match guard.source {
                    Source::When => return Decided::Fails,
                    Source::Unless => steps = 1,
                    Source::Branch
                        if fails_by_default(self.linker, caller, node.body, &guard)
                            || is_filled(self.linker, caller, node.body, &guard) =>
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
                (Answer::Fails, _) => return Decided::Fails,
                (Answer::Param { index, passed, filled_in }, escape) => {
                    let escape = match escape {
                        Some(Truth::Param(index)) => Some(index),
                        _ => None,
                    };
                    let filled_in = filled_in || guard.filled_in;
                    label.guard = Some(Guard { param: index, passed, escape, asked: None, filled_in, ..guard });
                }
                (Answer::Key(key, default), _) => {
                    label.guard = Some(Guard { escape: None, ..guard.under_key(key, default) });
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
        Decided::Holds { steps, is_rare }
    }

    /// True if all code that awaits a coroutine of Python rules out what its own parameter decides. A private coroutine, and one of a
    /// program, has no other callers.
    pub(crate) fn none_awaits_it_so(&self, root: BodyRef, guard: &Guard) -> bool {
        let facts = self.linker.program.facts(root.file);
        let row = self.linker.program.body(root);
        if facts.language != Language::Python || row.flow != Flow::Coroutine {
            return false;
        }
        let is_private = lang::python::conventions::is_private(facts.text(row.name));
        (is_private || self.is_awaited_by_its_program_alone(root))
            && self.all_callers(root, |caller| matches!(self.ask(caller, Node::plain(root), guard), Answer::Fails))
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
                && self.callers.sites_by_base(root).is_empty()
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

    /// True if something holds for all calls of a body in the project, where there are any, and few.
    fn all_callers(&self, body: BodyRef, holds: impl Fn(Caller) -> bool) -> bool {
        self.callers.few_call_sites(body).is_some_and(|sites| {
            sites.iter().all(|&site| {
                let with_receiver = self.linker.targets(site, EnvId::NONE).receiver_of(body);
                with_receiver.is_some_and(|with_receiver| holds(Caller::plain(site, EnvId::NONE, with_receiver)))
            })
        })
    }

    /// True if all calls of a function in the project rule out what its parameter decides, or pass on a parameter of
    /// which their own callers do. A parameter that they leave out is there for others (Python).
    pub(crate) fn none_calls_it_so(&self, body: BodyRef, guard: &Guard, depth: u32) -> bool {
        let program = self.linker.program;
        let node = Node::plain(body);
        program.language(body.file) == Language::Python
            && self.all_callers(body, |caller| {
                self.form_passed(caller, node, guard).is_some()
                    && match self.pass_on(caller, node, guard) {
                        NextGuard::Fails => true,
                        // A value that is passed by a key or through a wrapper is not followed further.
                        NextGuard::Holds(left) if depth > 0 && left.asked.is_none() => {
                            let above = program.body_of_site(caller.site);
                            above != body && self.none_calls_it_so(above, &left, depth - 1)
                        }
                        _ => false,
                    }
            })
    }

    /// Returns the next condition that some sites of one body all stand under, once the caller has decided the one that
    /// its label carried: one that only the callers of that caller decide.
    pub(crate) fn next_guard(
        &self,
        caller: Caller,
        node: Node,
        mut sites: impl Iterator<Item = SiteRef> + Clone,
        left: Option<&Guard>,
    ) -> NextGuard {
        let Some(first) = sites.next() else { return NextGuard::None };
        if caller.arg.is_some()
            || caller.kind != CallerKind::Runs
            || self.linker.program.body_of_site(first) != node.body
        {
            return NextGuard::None;
        }
        // A parameter that one comparison cannot decide is not decided by another one either; a chain of `elif` has
        // dozens of them.
        let mut unseen: SmallVec<[u32; 4]> = SmallVec::new();
        for guard in guards_over(self.linker, first).iter() {
            if guard.is_choice_of_literal() && unseen.contains(&guard.param) {
                continue;
            }
            if !sites.clone().all(|site| guards_over(self.linker, site).contains(guard)) {
                continue;
            }
            let answer = self.answer_of(caller, node, guard);
            if matches!(answer, Answer::Unseen) && guard.is_choice_of_literal() {
                unseen.push(guard.param);
            }
            match self.condition_left(answer, node, guard) {
                // The label carries this guard already.
                NextGuard::Holds(guard) if left.is_some_and(|left| left.is_same_as(&guard)) => {}
                NextGuard::None => {}
                found => return found,
            }
        }
        NextGuard::None
    }

    /// Returns the condition that is left for the callers of a caller.
    fn pass_on(&self, caller: Caller, node: Node, guard: &Guard) -> NextGuard {
        self.condition_left(self.answer_of(caller, node, guard), node, guard)
    }

    /// Returns the answer of a site to a guard, by a branch around it or by its arguments.
    fn answer_of(&self, caller: Caller, node: Node, guard: &Guard) -> Answer {
        self.cached_answer(caller, node.body, guard, || match self.is_ruled_out(caller, node, guard) {
            true => Answer::Fails,
            false => self.ask(caller, node, guard),
        })
    }

    fn condition_left(&self, answer: Answer, node: Node, guard: &Guard) -> NextGuard {
        match answer {
            Answer::Holds | Answer::Told | Answer::Unseen => NextGuard::None,
            Answer::Fails => NextGuard::Fails,
            Answer::Param { index, passed, filled_in } => {
                let filled_in = filled_in || guard.filled_in;
                NextGuard::Holds(Guard { param: index, passed, asked: None, filled_in, ..guard.clone() })
            }
            Answer::Key(key, default) => NextGuard::Holds(guard.clone().under_key(key, default)),
            Answer::Forwarded => {
                let asked = guard.asked.clone();
                let asked = asked.or_else(|| Some(Rc::new(GuardKey::Param(node.body, guard.param))));
                NextGuard::Holds(Guard { asked, ..guard.clone() })
            }
        }
    }

    /// True if the argument that a site passes is of the type, or comes from where, a guard asks for.
    fn ask_form(&self, caller: Caller, node: Node, guard: &Guard, tests: &[Test]) -> Answer {
        if caller.arg.is_some() || caller.kind == CallerKind::Consumes {
            return Answer::Unseen;
        }
        let form = self.linker.argument_for_param(caller.site, node.body, guard.param, caller.with_receiver);
        // Rust lists `self` among the parameters.
        let is_receiver = guard.param == 0
            && caller.with_receiver
            && self.linker.program.language(node.body.file) == blocklint_core::Language::Rust;
        let form = form.or_else(|| self.linker.receiver_form(caller.site).filter(|_| is_receiver));
        let Some(form) = form else { return Answer::Unseen };
        let shown = |test: &Test| match test {
            Test::From(_) | Test::Unbounded => self.linker.origin_test(test, caller.site, form, caller.env),
            Test::Unseen => self.linker.unseen_test(caller.site, form, caller.env),
            Test::Type(wanted) => self.linker.type_test(wanted, caller.site, form, BoundId::NONE, caller.env),
            other => self.linker.test_constant(other, &self.linker.constant(caller.site, form, caller.env, 6)),
        };
        match tests.iter().map(shown).find(|shown| *shown != ConditionResult::Yes) {
            None if guard.wanted => Answer::Holds,
            Some(ConditionResult::No) if !guard.wanted => Answer::Holds,
            None | Some(ConditionResult::No) => Answer::Fails,
            Some(ConditionResult::Param(index)) => self.passed_on(caller, node, guard, index),
            Some(_) => Answer::Unseen,
        }
    }

    /// Returns the answer of a site's argument to a guard.
    fn ask(&self, caller: Caller, node: Node, guard: &Guard) -> Answer {
        if let Question::Condition(condition) = &*guard.question
            && (guard.asks_for_origin() || guard.asks_for_type())
        {
            return self.ask_form(caller, node, guard, &condition.tests);
        }
        let constant = match self.argument_for(caller, node, guard.param, guard.asked.as_deref()) {
            PassedArgument::Forwarded => return Answer::Forwarded,
            PassedArgument::Hidden => return Answer::Unseen,
            PassedArgument::Constant(constant) => constant,
        };
        if matches!(constant, Constant::Hidden | Constant::Param(_)) && self.is_passed_something(caller, node, guard) {
            return Answer::Fails;
        }
        if constant == Constant::Hidden
            && guard.passed < MOST_HOPS
            && let Some((key, default)) = self.key_passed(caller, node, guard)
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
            return self.ask_each(caller, node, guard, form);
        }
        let shown = self.answer(guard, &constant);
        if matches!(shown, ConditionResult::Param(_) | ConditionResult::Unknown)
            && let Some(holds) = self.holds_by_beginning(caller, node, guard)
        {
            return if holds { Answer::Told } else { Answer::Fails };
        }
        match shown {
            ConditionResult::Yes if guard.wanted => Answer::Holds,
            ConditionResult::No if !guard.wanted => Answer::Holds,
            ConditionResult::Yes | ConditionResult::No => Answer::Fails,
            ConditionResult::Param(index) => self.passed_on(caller, node, guard, index),
            ConditionResult::Unknown => Answer::Unseen,
        }
    }

    /// True if a guard asks for `None` and the type of the argument that a site passes excludes it.
    fn is_passed_something(&self, caller: Caller, node: Node, guard: &Guard) -> bool {
        if caller.arg.is_some() || caller.kind == CallerKind::Consumes || !guard.tests_absence() {
            return false;
        }
        self.form_passed(caller, node, guard).is_some_and(|form| {
            self.linker.type_excludes_none(self.linker.scope_of(caller.site, caller.env), form, guard)
        })
    }

    /// Returns the form that a site passes to the parameter that a guard asks for; none for a key.
    fn form_passed(&self, caller: Caller, node: Node, guard: &Guard) -> Option<FormId> {
        let (body, param) = match guard.asked.as_deref() {
            None => (node.body, guard.param),
            Some(&GuardKey::Param(body, index)) => (body, index),
            Some(GuardKey::Key(..)) => return None,
        };
        self.linker.argument_for_param(caller.site, body, param, caller.with_receiver)
    }

    /// True if a form is a value or what stands in for it where it is not there: `version or self.version` (Python).
    fn falls_back(&self, site: SiteRef, form: FormId) -> bool {
        let facts = self.linker.program.facts(site.file);
        let Form::Alt(AltKind::Or, list) = facts.form(form) else { return false };
        facts.language == Language::Python
            && facts.list(list).last().is_some_and(|&last| matches!(facts.form(last), Form::Attr(..)))
    }

    /// Returns the question of a guard to the callers of a caller that passes its own parameter on. A parameter with one name all the way
    /// is one, however far it goes, also through a function that calls itself.
    fn passed_on(&self, caller: Caller, node: Node, guard: &Guard, index: u32) -> Answer {
        let program = self.linker.program;
        let name = |body: BodyRef, param: u32| {
            let facts = program.facts(body.file);
            program.params_of(body).get(param as usize).map(|param| facts.text(param.name))
        };
        let own = name(program.body_of_site(caller.site), index);
        let is_same = own.is_some() && guard.asked.is_none() && own == name(node.body, guard.param);
        let passed = if is_same { guard.passed.max(1) } else { guard.passed.saturating_add(1) };
        match passed {
            passed if passed <= MOST_HOPS => Answer::Param { index, passed, filled_in: false },
            _ => Answer::Unseen,
        }
    }

    /// Returns the answer of the literals that a variable with several assignments can be. A parameter that was left as it came is asked
    /// of the caller if the others rule themselves out.
    fn ask_each(&self, caller: Caller, node: Node, guard: &Guard, form: blocklint_facts::FormId) -> Answer {
        let (mut holding, mut failing, mut param, mut filled_in) = (false, false, None, false);
        for reaching in self.linker.constants_at(caller.site, form, caller.env).iter() {
            if reaching.is_for_want || reaching.falls_back && guard.tests_absence() {
                filled_in = true;
                continue;
            }
            let answer = self.answer(guard, &reaching.constant);
            // The literal that it replaces decides already.
            if reaching.instead_of.as_ref().is_some_and(|of| self.answer(guard, of) == answer) {
                continue;
            }
            match answer {
                ConditionResult::Yes if guard.wanted => holding = true,
                ConditionResult::No if !guard.wanted => holding = true,
                ConditionResult::Yes | ConditionResult::No => failing = true,
                ConditionResult::Param(index) if guard.passed < MOST_HOPS => param = Some(index),
                ConditionResult::Param(_) | ConditionResult::Unknown => {
                    return match self.holds_by_beginning(caller, node, guard) {
                        Some(true) => Answer::Told,
                        Some(false) => Answer::Fails,
                        None => Answer::Unseen,
                    };
                }
            }
        }
        match (holding, failing, param) {
            (false, _, Some(index)) => Answer::Param { index, passed: guard.passed + 1, filled_in },
            (true, false, None) => Answer::Holds,
            (false, true, None) => Answer::Fails,
            _ => Answer::Unseen,
        }
    }

    /// True if the argument that a site passes to a parameter is true in the language's sense.
    fn truth(&self, caller: Caller, node: Node, index: u32) -> Truth {
        match self.argument_for(caller, node, index, None) {
            PassedArgument::Forwarded => Truth::Param(index),
            PassedArgument::Hidden => Truth::Hidden,
            PassedArgument::Constant(constant) => {
                match blocklint_link::guards::branch::answer(&Choice::Truth, &constant) {
                    ConditionResult::Yes => Truth::Seen(true),
                    ConditionResult::No => Truth::Seen(false),
                    ConditionResult::Param(index) => Truth::Param(index),
                    ConditionResult::Unknown => Truth::Hidden,
                }
            }
        }
    }

    /// True if a guard that asks for the beginning of a string holds, if a branch around the site shows it.
    fn holds_by_beginning(&self, caller: Caller, node: Node, guard: &Guard) -> Option<bool> {
        let asks = match &*guard.question {
            Question::Choice(Choice::Begins(_)) => true,
            Question::Condition(condition) => matches!(condition.tests[..], [Test::Contains(_)]),
            _ => false,
        };
        if !asks || caller.arg.is_some() {
            return None;
        }
        let form = self.linker.argument_for_param(caller.site, node.body, guard.param, caller.with_receiver)?;
        let known = self.linker.known_beginning(caller.site, form)?;
        match self.answer(guard, &Constant::Head(known)) {
            ConditionResult::Yes => Some(guard.wanted),
            ConditionResult::No => Some(!guard.wanted),
            ConditionResult::Param(_) | ConditionResult::Unknown => None,
        }
    }

    /// True if a branch around the site shows that the argument is not what a guard asks for: it is `None` here, or of
    /// another type.
    fn is_ruled_out(&self, caller: Caller, node: Node, guard: &Guard) -> bool {
        let Question::Choice(choice) = &*guard.question else { return false };
        let is_reported = matches!(choice, Choice::OfType(_) | Choice::Says(_) | Choice::Truth | Choice::Null);
        if !is_reported || caller.arg.is_some() || caller.kind == CallerKind::Consumes {
            return false;
        }
        let (linker, site) = (self.linker, caller.site);
        let Some(form) = linker.argument_for_param(site, node.body, guard.param, caller.with_receiver) else {
            return false;
        };
        // A caller that passes `version or self.version` makes sure that there is one.
        if guard.tests_absence() && self.falls_back(site, form) {
            return true;
        }
        let holds = match choice {
            Choice::OfType(types) => return fails_by_type(linker, site, form, caller.env, guard, types),
            Choice::Says(getter) => getter_result(linker, site, form, getter),
            Choice::Truth if guard.wanted && linker.is_off_by_default(site, form) => return true,
            // `acquire(isOnEventLoop())`: on a loop that is true.
            Choice::Truth if !guard.wanted && tests_loop(linker, site.file, form) => return true,
            Choice::Truth => linker.known_false(site, form).0.map(|is_false| !is_false),
            // The argument of a call of a literal is there.
            _ if guard.wanted && linker.is_param_of_literal(site, form) => return true,
            _ => linker.known_false(site, form).1,
        };
        holds.is_some_and(|holds| holds != guard.wanted)
    }

    fn answer(&self, guard: &Guard, constant: &Constant) -> ConditionResult {
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
            Question::Choice(choice) => blocklint_link::guards::branch::answer(choice, constant),
            Question::Condition(condition) => {
                let mut all = ConditionResult::Yes;
                for test in &condition.tests {
                    match self.linker.test_constant(test, constant) {
                        ConditionResult::Yes => {}
                        other => {
                            all = other;
                            break;
                        }
                    }
                }
                all
            }
        }
    }

    /// Returns the literal that a site passes to a parameter of the node.
    fn argument_for(&self, caller: Caller, node: Node, index: u32, asked: Option<&GuardKey>) -> PassedArgument {
        let linker = self.linker;
        let here = linker.program.facts(caller.site.file);
        if caller.kind == CallerKind::Consumes && caller.arg.is_none() {
            // The consuming call passes no arguments; the call that made the value did.
            let operand = here.form(linker.program.site(caller.site).callee);
            let made = match operand {
                Form::Result(made) => made,
                // Through a local that holds nothing else: `rows = read(path)`, `for row in rows:`.
                Form::Var(var) if here.var(var).body == here.body_of(linker.program.site(caller.site).at) => {
                    let mut assigns = here.assigns_of(var);
                    let (Some(only), None) = (assigns.next(), assigns.next()) else { return PassedArgument::Hidden };
                    let Form::Result(made) = here.form(only.value) else { return PassedArgument::Hidden };
                    made
                }
                _ => return PassedArgument::Hidden,
            };
            let made = caller.site.file.site_ref(made);
            let Some(with_receiver) = linker.targets(made, caller.env).receiver_of(node.body) else {
                return PassedArgument::Hidden;
            };
            let caller = Caller { site: made, kind: CallerKind::Runs, with_receiver, ..caller };
            return self.argument_for(caller, node, index, asked);
        }
        if let Some(arg) = caller.arg {
            // The callee is passed as an argument: the code that calls it there chooses its arguments, unless a row
            // forwards them.
            return self.forwarded_argument(caller, arg, index);
        }
        match asked {
            Some(GuardKey::Key(name, default)) => return self.argument_of_key(caller, node, name, default),
            Some(&GuardKey::Param(body, index)) => {
                return match linker.argument_for_param(caller.site, body, index, caller.with_receiver) {
                    Some(form) => PassedArgument::Constant(linker.constant(caller.site, form, caller.env, 6)),
                    None => self.not_passed(caller.site, linker.default_of(body, index)),
                };
            }
            None => {}
        }
        // Beyond the named parameters of a wrapper, what is passed on by `*args` counts as it stands.
        let first_rest = linker.program.params_of(node.body).iter().position(|param| param.kind == ParamKind::VarArgs);
        if let Some(rest) = first_rest
            && index as usize >= rest
        {
            let position = (index as usize).saturating_sub(usize::from(caller.with_receiver));
            let argument = blocklint_models::Argument::Position(position as i32);
            if let Some(form) = linker.argument(caller.site, &argument) {
                return PassedArgument::Constant(linker.constant(caller.site, form, caller.env, 6));
            }
            return if self.forwards_all(caller.site) { PassedArgument::Forwarded } else { PassedArgument::Hidden };
        }
        match linker.argument_for_param(caller.site, node.body, index, caller.with_receiver) {
            Some(form) => PassedArgument::Constant(linker.constant(caller.site, form, caller.env, 6)),
            None => self.not_passed(caller.site, linker.default_of(node.body, index)),
        }
    }

    /// Returns the default of a parameter that a site does not name.
    fn not_passed(&self, site: SiteRef, default: Option<Constant>) -> PassedArgument {
        if self.linker.unpacks(site) {
            return if self.forwards_all(site) { PassedArgument::Forwarded } else { PassedArgument::Hidden };
        }
        match default {
            None | Some(Constant::Param(_)) => PassedArgument::Hidden,
            Some(constant) => PassedArgument::Constant(constant),
        }
    }

    /// Returns the key of the caller's own `**kwargs` that it passes for what a guard asks:
    /// `f(delay=kwargs.get("delay"))`.
    fn key_passed(&self, caller: Caller, node: Node, guard: &Guard) -> Option<(String, Constant)> {
        if caller.arg.is_some() || caller.kind == CallerKind::Consumes {
            return None;
        }
        let form = match guard.asked.as_deref() {
            Some(GuardKey::Key(key, _)) => {
                let facts = self.linker.program.facts(caller.site.file);
                let args = self.linker.program.args_of(caller.site);
                args.iter().find(|arg| arg.name.is_some() && facts.text(arg.name) == key)?.value
            }
            _ => self.form_passed(caller, node, guard)?,
        };
        let (_, key, default) = self.linker.key_of_arguments(self.linker.scope_of(caller.site, caller.env), form)?;
        Some((key, default))
    }

    /// Returns the argument that a site passes under a key which the node reads from its `**kwargs`.
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
            Some(arg) => PassedArgument::Constant(self.linker.constant(caller.site, arg.value, caller.env, 6)),
            None => self.not_passed(caller.site, Some(default.clone())),
        }
    }

    /// True if a site forwards its body's own `*args, **kwargs`: then what its callers pass counts.
    fn forwards_all(&self, site: SiteRef) -> bool {
        let facts = self.linker.program.facts(site.file);
        let body = facts.body_of(self.linker.program.site(site).at);
        self.linker.program.args_of(site).iter().any(|arg| match facts.form(arg.value) {
            Form::Star(inner) | Form::StarStar(inner) => match facts.form(inner) {
                Form::Var(var) => {
                    let row = facts.var(var);
                    let VarKind::Param(index) = row.kind else { return false };
                    let is_rest = |param: &Param| matches!(param.kind, ParamKind::VarArgs | ParamKind::KwArgs);
                    row.body == body && facts.params_of(body).get(index as usize).is_some_and(is_rest)
                }
                _ => false,
            },
            _ => false,
        })
    }

    /// Returns the literal that later arguments pass to a handed-over callable.
    fn forwarded_argument(&self, caller: Caller, arg: u32, index: u32) -> PassedArgument {
        let args = self.linker.program.args_of(caller.site);
        let rest = &args[(arg as usize + 1).min(args.len())..];
        match rest.iter().filter(|arg| arg.name.is_none()).nth(index as usize) {
            Some(arg) => PassedArgument::Constant(self.linker.constant(caller.site, arg.value, caller.env, 6)),
            None => PassedArgument::Hidden,
        }
    }
}

/// How often a condition is passed on from parameter to parameter.
const MOST_HOPS: u8 = 5;

/// The answer of a site's argument to a guard.
#[derive(Clone)]
pub(crate) enum Answer {
    Holds,
    /// It holds by a branch around the site.
    Told,
    Fails,
    Unseen,
    /// The caller's own parameter is passed on.
    Forwarded,
    /// The value that callers pass under a key is passed on, or this default.
    Key(String, Constant),
    Param {
        index: u32,
        passed: u8,
        /// True if the caller assigns it a value of its own where no value was passed.
        filled_in: bool,
    },
}

/// True if an argument is true.
enum Truth {
    Seen(bool),
    Hidden,
    Param(u32),
}

/// A further condition of a state.
pub(crate) enum NextGuard {
    /// Nothing that the caller does not decide.
    None,
    /// This condition, for the caller's callers.
    Holds(Guard),
    /// One that what the caller passes rules out.
    Fails,
}

/// The fate of a label by the arguments of a site.
pub(crate) enum Decided {
    /// It stays, after so many inferred steps: a condition that could not be seen was taken to hold.
    Holds {
        /// The number of steps.
        steps: u8,
        /// True if the condition has these steps because it seldom holds.
        is_rare: bool,
    },
    /// It ends.
    Fails,
}

/// The argument that a site passes to a parameter.
enum PassedArgument {
    Constant(Constant),
    Forwarded,
    Hidden,
}
