//! Rows at a call: which holds, and what effect it has there.

use crate::lang;
use blocklint_core::{Context, Effect, Fails, Hold, Language, Runtime, Severity, WhereSet};
use blocklint_facts::{Form, FormId};
use blocklint_models::{Argument, CallRow, Condition, Match, Role, RowEffect, Subject, Test, TypeTest};

use crate::effect::constant::Constant;
use crate::effect::label::{Guard, Label, LabelHold, Question, Source};
use crate::linker::{Linker, Typed};
use crate::models::timeout::{Timeout, unit_seconds};
use crate::program::ids::{PathId, SiteRef};
use crate::program::occurrences::is_own_receiver;
use crate::values::value::{BoundId, EnvId, Val};

/// What it means that nobody sees whether an `unless` is met.
fn exempts(condition: &Condition) -> Source {
    match condition.tests[..] {
        [Test::Contains(_)] => Source::Exempt,
        _ => Source::Unless,
    }
}

/// Whether a condition is shown at a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ConditionResult {
    /// It is.
    Yes,
    /// Visibly not.
    No,
    /// The code does not tell.
    Hidden,
    /// The n-th parameter of the body around decides.
    Param(u32),
}

/// What a row does at a call.
#[derive(Clone, Debug)]
pub struct Sink<'m> {
    /// What it does to the thread.
    pub label: Label,
    /// The row.
    pub row: Match<'m, CallRow>,
    /// The path called.
    pub path: PathId,
    /// A condition that could not be seen was taken to hold.
    pub undecided: bool,
}

/// `ended-by` of what ends as soon as it is told to, by whatever call.
const WHEN_TOLD: &str = "*";

impl<'a> Linker<'a> {
    /// What a library call does to its thread, if anything.
    pub fn leaf(&self, site: SiteRef, path: PathId, receiver: BoundId, property: bool, env: EnvId) -> Option<Sink<'a>> {
        self.leaf_or_lock(site, path, receiver, property, env, false)
    }

    /// What the call does where the condition that a caller decides does not hold: by the next row. Of rows that ask the same
    /// argument's type each speaks for its own.
    pub fn effects_if_guard_fails(
        &self,
        site: SiteRef,
        first: &Sink<'a>,
        receiver: BoundId,
        env: EnvId,
    ) -> Vec<Sink<'a>> {
        let mut found = Vec::new();
        let Some(guard) = first.label.guard.as_ref().filter(|guard| guard.source == Source::When && guard.wanted)
        else {
            return found;
        };
        let rows = self.rows_at(first.path, site);
        for row in rows.effect().skip_while(|row| !std::ptr::eq(row.row, first.row.row)).skip(1) {
            let Some(RowEffect::Holds(effect)) = row.effect else { break };
            let mut leaf = match self.match_row(site, first.path, receiver, row, effect, env, false) {
                None => continue,
                Some(None) => break,
                Some(Some(leaf)) => leaf,
            };
            match &leaf.label.guard {
                Some(other) if other.param == guard.param && asks_type(other) && asks_type(guard) => found.push(leaf),
                Some(_) => break,
                None => {
                    if found.is_empty() {
                        leaf.label.guard = Some(Guard { source: Source::Unless, wanted: false, ..guard.clone() });
                        found.push(leaf);
                    }
                    break;
                }
            }
        }
        found
    }

    /// The same for a call that takes a lock somebody holds for long; none if it gives up after some time.
    pub fn lock_leaf(&self, site: SiteRef, path: PathId, receiver: BoundId, property: bool) -> Option<Sink<'a>> {
        let leaf = self.leaf_or_lock(site, path, receiver, property, EnvId::NONE, true)?;
        let gives_up = leaf.row.timeout.as_ref().is_some_and(|timeout| {
            let given = self.argument(site, timeout);
            given.is_some_and(|form| self.constant(site, form, EnvId::NONE, 3) != Constant::Null)
        });
        (!gives_up && leaf.label.effect == Effect::Wait).then_some(leaf)
    }

    fn leaf_or_lock(
        &self,
        site: SiteRef,
        path: PathId,
        receiver: BoundId,
        property: bool,
        env: EnvId,
        locks: bool,
    ) -> Option<Sink<'a>> {
        let rows = if property { self.library.properties(path) } else { self.rows_at(path, site) };
        for row in rows.effect() {
            match row.effect {
                Some(RowEffect::Holds(effect)) => {
                    if let Some(found) = self.match_row(site, path, receiver, row, effect, env, locks) {
                        return found;
                    }
                }
                Some(RowEffect::Harmless) | None => {
                    if self.conditions_shown(&row.when, &row.unless, site, env) {
                        return None;
                    }
                }
            }
        }
        None
    }

    /// `None`: the row does not hold, the next may. `Some(None)`: it decides, and there is no effect.
    #[expect(clippy::too_many_arguments, reason = "a call has that many sides")]
    pub fn match_row(
        &self,
        site: SiteRef,
        path: PathId,
        receiver: BoundId,
        row: Match<'a, CallRow>,
        effect: Effect,
        env: EnvId,
        locks: bool,
    ) -> Option<Option<Sink<'a>>> {
        let mut guard: Option<Guard> = None;
        let mut undecided = false;
        let mut place = WhereSet::EVENT_LOOP;
        if row.native || matches!(effect, Effect::Cpu | Effect::Input | Effect::File) {
            place = WhereSet::ALL;
        }
        for condition in &row.when {
            if let Some(limit) = place_of(condition) {
                place = place.intersect(limit);
                continue;
            }
            match self.shown(condition, site, receiver, env) {
                ConditionResult::Yes => {}
                ConditionResult::No | ConditionResult::Hidden => return None,
                ConditionResult::Param(index) if guard.is_none() => {
                    guard = Some(Guard::new(index, Source::When, Question::Condition(condition.clone()), true));
                }
                ConditionResult::Param(_) => return None,
            }
        }
        for condition in &row.unless {
            if let Some(limit) = place_of(condition) {
                place = place.without(limit);
                continue;
            }
            match self.shown(condition, site, receiver, env) {
                ConditionResult::Yes => return None,
                ConditionResult::No if guard.is_none() && receiver.is_some() => {
                    guard = self.state_by_param(site, condition, receiver);
                }
                ConditionResult::No => {}
                ConditionResult::Hidden => undecided |= self.is_given(condition, site),
                ConditionResult::Param(index) if guard.is_none() => {
                    guard = Some(Guard::new(index, exempts(condition), Question::Condition(condition.clone()), false));
                }
                ConditionResult::Param(_) => undecided = true,
            }
        }
        if place.is_empty() {
            return Some(None);
        }
        if effect == Effect::Wait && (!locks && self.is_lock(receiver) || self.was_checked_done(site)) {
            return Some(None);
        }
        let mut severity = row.severity.unwrap_or(match effect {
            Effect::File | Effect::Cpu => Severity::Warning,
            _ => Severity::Error,
        });
        let mut hold = LabelHold::Fixed(Hold::Unbounded);
        if let Some(timeout) = &row.timeout {
            match self.timeout(site, timeout, row.unit, env) {
                Timeout::Zero => return Some(None),
                Timeout::Seconds(seconds) => {
                    hold = LabelHold::Fixed(Hold::Seconds(seconds));
                    if effect == Effect::Wait {
                        severity = severity.min(Severity::Warning);
                    }
                }
                // The library has a bound of its own; an object may have been made with another.
                Timeout::Unbounded if row.default.is_some() && self.argument(site, timeout).is_none() => {
                    let seconds = row.default.unwrap_or(0.0) * unit_seconds(row.unit, self.program.language(site.file));
                    let own = if receiver.is_some() { Hold::Unstated } else { Hold::Seconds(seconds) };
                    hold = LabelHold::Fixed(own);
                }
                Timeout::Unbounded => {}
                Timeout::Hidden => {
                    hold = LabelHold::Fixed(Hold::Unstated);
                    if effect == Effect::Wait {
                        severity = severity.min(Severity::Warning);
                    }
                }
                Timeout::Param(index, unit) => {
                    hold = LabelHold::Param { index, unit };
                    if guard.is_none() {
                        guard = Some(Guard::new(index, Source::Timeout, Question::Zero, false));
                    }
                }
            }
        }
        if matches!(effect, Effect::File | Effect::Cpu) {
            hold = LabelHold::Fixed(Hold::Unstated);
        }
        // How large it is, nobody sees: only that nothing bounds it. In a loop each may be small.
        let is_sized = row.when.iter().any(|condition| condition.tests.contains(&Test::Unbounded));
        // Nor what is behind a stream of which no caller tells.
        let is_unseen = row.rests_on_unseen();
        if is_sized || is_unseen {
            undecided = true;
            severity = Severity::Note;
        }
        let for_end = row.ended_by.as_deref() == Some(WHEN_TOLD);
        if let Some(method) = &row.ended_by
            && !for_end
            && (self.is_handshake(site, method) || self.is_ended_before(site, method))
        {
            severity = Severity::Note;
        }
        if severity == Severity::Note {
            hold = LabelHold::Fixed(Hold::Brief);
        }
        let fails = row.fails;
        if fails.is_some() {
            severity = Severity::Error;
        }
        // One call of many that iterate is one call; the loop around it is the caller's to see.
        if severity == Severity::Note
            && !is_sized
            && !is_unseen
            && !self.stays_short(site)
            && self.multiplies_hold(site)
        {
            severity = Severity::Warning;
        }
        let label = Label {
            effect,
            native: row.native,
            severity,
            fails: fails.is_some(),
            once: false,
            for_end,
            place,
            guard,
            outer: None,
            own: None,
            hold,
        };
        Some(Some(Sink { label, row, path, undecided }))
    }

    /// What a row does where its arguments cannot be seen.
    pub fn effect_without_arguments(&self, row: &CallRow) -> Option<Label> {
        let effect = row.held()?;
        let own = matches!(effect, Effect::Cpu | Effect::Input | Effect::File);
        let mut place = if row.native || own { WhereSet::ALL } else { WhereSet::EVENT_LOOP };
        for condition in &row.unless {
            if let Some(limit) = place_of(condition) {
                place = place.without(limit);
            }
        }
        let mut severity = row.severity.unwrap_or(match effect {
            Effect::File | Effect::Cpu => Severity::Warning,
            _ => Severity::Error,
        });
        let mut hold = match (effect, &row.timeout) {
            (Effect::File | Effect::Cpu, _) | (_, Some(_)) => Hold::Unstated,
            _ => Hold::Unbounded,
        };
        if effect == Effect::Wait && row.timeout.is_some() {
            severity = severity.min(Severity::Warning);
        }
        if severity == Severity::Note {
            hold = Hold::Brief;
        }
        if row.fails.is_some() {
            severity = Severity::Error;
        }
        Some(Label {
            effect,
            native: row.native,
            severity,
            fails: row.fails.is_some(),
            once: false,
            for_end: false,
            place,
            guard: None,
            outer: None,
            own: None,
            hold: LabelHold::Fixed(hold),
        })
    }

    /// Whether all of `when` are shown and none of `unless`.
    pub fn conditions_shown(&self, when: &[Condition], unless: &[Condition], site: SiteRef, env: EnvId) -> bool {
        when.iter().all(|condition| self.shown(condition, site, BoundId::NONE, env) == ConditionResult::Yes)
            && !unless.iter().any(|condition| self.shown(condition, site, BoundId::NONE, env) == ConditionResult::Yes)
    }

    /// Whether the argument of a condition is given at all.
    fn is_given(&self, condition: &Condition, site: SiteRef) -> bool {
        match &condition.subject {
            Subject::Argument(Argument::Receiver) => false,
            Subject::Argument(argument) => {
                self.argument(site, argument).is_some() || self.may_be_unpacked(site, argument)
            }
            _ => false,
        }
    }

    /// Whether one condition is shown.
    pub fn shown(&self, condition: &Condition, site: SiteRef, receiver: BoundId, env: EnvId) -> ConditionResult {
        match &condition.subject {
            Subject::Argument(argument) => {
                let form = self.argument(site, argument);
                let mut all = ConditionResult::Yes;
                for test in &condition.tests {
                    let one = match form {
                        Some(form) => self.test(test, site, form, argument, receiver, env),
                        None if self.may_be_unpacked(site, argument) => ConditionResult::Hidden,
                        None => match test {
                            Test::Absent(wanted) => yes_if(*wanted),
                            Test::Null(wanted) => yes_if(!*wanted).filter_absent(),
                            _ => ConditionResult::No,
                        },
                    };
                    match one {
                        ConditionResult::Yes => {}
                        other => {
                            all = other;
                            break;
                        }
                    }
                }
                all
            }
            // No unit's dependencies or switches are read yet: nothing of them is shown.
            Subject::Switch(_) | Subject::Library(_) => ConditionResult::Hidden,
            Subject::Context(_) | Subject::Runtime(_) => ConditionResult::Hidden,
        }
    }

    fn test(
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
            Test::State(state) => return yes_if(self.in_state(site, form, argument, receiver, state, env)),
            Test::Absent(wanted) => return yes_if(!*wanted),
            Test::From(_) | Test::Unbounded => return self.origin_test(test, site, form, env),
            Test::Unseen => return self.unseen_test(site, form, env),
            Test::Version(_) | Test::Feature(_) => return ConditionResult::Hidden,
            _ => {}
        }
        let constant = self.constant(site, form, env, 6);
        if matches!((test, &constant), (Test::Contains(_), Constant::Param(_) | Constant::Hidden))
            && let Some(known) = self.known_beginning(site, form)
        {
            return self.test_constant(test, &Constant::Head(known));
        }
        match constant {
            Constant::Param(index) => ConditionResult::Param(index),
            constant => self.test_constant(test, &constant),
        }
    }

    /// Whether a literal passes a test.
    pub fn test_constant(&self, test: &Test, constant: &Constant) -> ConditionResult {
        match (test, constant) {
            (_, Constant::Hidden | Constant::Param(_)) => ConditionResult::Hidden,
            // What a string that is put together holds beyond its beginning, nobody sees.
            (Test::Null(wanted), Constant::Head(_)) => yes_if(!*wanted),
            (Test::Contains(wanted), Constant::Head(head)) if head.contains(wanted.as_str()) => ConditionResult::Yes,
            (Test::Literal(wanted), Constant::Head(_)) => yes_if(!*wanted),
            (Test::Null(wanted), Constant::Empty) => yes_if(!*wanted),
            (_, Constant::Head(_) | Constant::Empty) => ConditionResult::Hidden,
            (Test::Equals(wanted), _) => yes_if(wanted.iter().any(|literal| constant.equals(literal))),
            (Test::Contains(wanted), Constant::Str(text)) => yes_if(text.contains(wanted.as_str())),
            (Test::Contains(_), _) => ConditionResult::No,
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
            _ => ConditionResult::Hidden,
        }
    }

    /// Whether what a form is has one of the types that a condition names.
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
        // A state of its own, which a local may be brought into by calls on it.
        let is_made = |test: &TypeTest| matches!(test, TypeTest::Type(blocklint_models::TypeExpr::Path { path, .. }) if path.contains('<'));
        let set_up = match language {
            Language::Java if wanted.iter().any(is_made) => self.set_up_as(site, form),
            _ => Vec::new(),
        };
        let mut any_known = false;
        for val in members.iter().copied().chain(set_up) {
            let mut types = self.types_through(val);
            types.extend(self.types_of_arguments(val));
            any_known |= !types.is_empty();
            for ty in types {
                let hit = wanted.iter().any(|test| match test {
                    TypeTest::Tag(tag) => self.library.has_tag(ty, tag),
                    TypeTest::Type(blocklint_models::TypeExpr::Path { path, .. }) => {
                        self.library.is_subtype(ty, self.library.path(language, path))
                    }
                    TypeTest::Type(blocklint_models::TypeExpr::Array(_)) => self.is_array(ty),
                    TypeTest::Type(_) => false,
                });
                if hit {
                    return ConditionResult::Yes;
                }
            }
        }
        // What is annotated as some file may be one in memory: that is for the callers to say.
        let may_be_another = |val: &Val| matches!(*val, Val::Library { ty, .. } if lang::python::names::is_abstract(&self.library.text(ty)));
        if language == Language::Python
            && members.iter().any(may_be_another)
            && let Constant::Param(index) = self.constant(site, form, env, 2)
        {
            return ConditionResult::Param(index);
        }
        if language == Language::Rust
            && members.iter().any(|val| self.is_any_reader(*val))
            && let Constant::Param(index) = self.constant(site, self.put_around(site, form), env, 2)
        {
            return ConditionResult::Param(index);
        }
        if language == Language::Java
            && members.iter().any(|val| self.is_any_stream(*val))
            && let Constant::Param(index) = self.constant(site, self.put_around(site, form), env, 2)
        {
            return ConditionResult::Param(index);
        }
        // What a generic struct holds is for those to say who made it: `self.input` of a `Parser<R>`.
        if language == Language::Rust
            && members.iter().any(|val| self.is_any_reader(*val))
            && let Form::Attr(base, _) = self.program.facts(site.file).form(self.put_around(site, form))
            && is_own_receiver(self.program.facts(site.file), base)
        {
            return ConditionResult::Param(0);
        }
        if any_known { ConditionResult::No } else { ConditionResult::Hidden }
    }

    /// Rust: the types that a generic struct of the project is made for: `File` of `Parser<File>`.
    fn types_of_arguments(&self, val: Val) -> Vec<PathId> {
        let Val::Instance { class, args, .. } = val else { return Vec::new() };
        if self.program.language(class.file) != Language::Rust {
            return Vec::new();
        }
        let given = self.values.list(args).into_iter().flat_map(|arg| self.values.members(arg));
        given.flat_map(|val| self.types_through(val)).collect()
    }

    /// Rust: whether a value is declared as anything that can be read or written.
    fn is_any_reader(&self, val: Val) -> bool {
        let bound = match val {
            Val::Param { .. } => self.bound_of(val),
            _ => Typed { value: self.values.one(val), inferred_steps: 0 },
        };
        let types = self.values.members(bound.value).into_iter().flat_map(|val| self.types_through(val));
        let mut types = types.peekable();
        types.peek().is_some() && types.any(|ty| lang::rust::names::is_reader(&self.library.text(ty)))
    }

    /// The library types a member has, seen through transparent ones and project classes' bases.
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

    /// Whether a receiver is a lock by its type's role.
    pub fn is_lock(&self, receiver: BoundId) -> bool {
        receiver.is_some()
            && self
                .types_through(self.values.single(receiver))
                .iter()
                .any(|&ty| self.library.role(ty).is_some_and(Role::is_lock))
    }

    /// Whether an object was put in a state: by the call that made it, or by a call on the same variable or field.
    fn in_state(
        &self,
        site: SiteRef,
        form: FormId,
        argument: &Argument,
        receiver: BoundId,
        state: &str,
        env: EnvId,
    ) -> bool {
        // Rows may make a state depend on another object's, and two on each other.
        const MOST: u32 = 8;
        let asked = self.states_asked.get();
        if asked == MOST {
            return false;
        }
        self.states_asked.set(asked + 1);
        let is_in = self.was_put_in(site, form, argument, receiver, state, env);
        self.states_asked.set(asked);
        is_in
    }

    fn was_put_in(
        &self,
        site: SiteRef,
        form: FormId,
        argument: &Argument,
        receiver: BoundId,
        state: &str,
        env: EnvId,
    ) -> bool {
        let val = if *argument == Argument::Receiver && receiver.is_some() {
            self.values.single(receiver)
        } else {
            match self.values.members(self.eval(self.scope_of(site, env), form).value).first() {
                Some(&val) => val,
                None => return false,
            }
        };
        if let Val::Library { made: Some(made), .. } = val
            && self.call_sets_state(made, state)
        {
            return true;
        }
        if self.program.language(site.file) == Language::Java && self.is_field_in_state(site.file, form, state) {
            return true;
        }
        // `s.setblocking(False)` on the same variable or field.
        let Val::Library { ty, .. } = val else { return false };
        let facts = self.program.facts(site.file);
        let holder = facts.form(form);
        for name in self.library.state_names(ty, state) {
            let Some(name) = self.program.name(&name) else { continue };
            for &(file, sym) in self.program.occurrences(name) {
                let other = self.program.facts(file);
                for &setter in self.program.index_of(file).sites_named(sym) {
                    let setter = file.site_ref(setter);
                    let Some(on) = self.receiver_form(setter) else { continue };
                    let same = match (holder, other.form(on)) {
                        (Form::Var(a), Form::Var(b)) => file == site.file && a == b,
                        (Form::Attr(_, a), Form::Attr(_, b)) => {
                            facts.text(a) == other.text(b) && self.same_owner(site, form, setter, on)
                        }
                        _ => false,
                    };
                    if same && self.call_sets_state(setter, state) {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Whether conditions on the receiver alone are shown by the value it has.
    pub fn receiver_passes(&self, conditions: &[Condition], receiver: Val) -> bool {
        conditions.iter().all(|condition| {
            let about = matches!(&condition.subject, Subject::Argument(Argument::Receiver));
            about
                && condition.tests.iter().all(|test| match (test, receiver) {
                    (Test::State(state), Val::Library { made: Some(made), .. }) => self.call_sets_state(made, state),
                    _ => false,
                })
        })
    }

    /// Whether two attribute forms are of one class.
    fn same_owner(&self, a: SiteRef, a_form: FormId, b: SiteRef, b_form: FormId) -> bool {
        let class = |site: SiteRef, form: FormId| {
            let facts = self.program.facts(site.file);
            let Form::Attr(base, _) = facts.form(form) else { return None };
            match self.values.members(self.eval(self.scope_of(site, EnvId::NONE), base).value)[..] {
                [Val::Instance { class, .. }] => Some(class),
                _ => None,
            }
        };
        match (class(a, a_form), class(b, b_form)) {
            (Some(a), Some(b)) => self.is_subclass(a, b) || self.is_subclass(b, a),
            _ => false,
        }
    }

    pub(crate) fn call_sets_state(&self, site: SiteRef, state: &str) -> bool {
        let callee = self.callee(site, EnvId::NONE);
        self.values.members(callee.value).iter().any(|val| {
            let (Val::External(path) | Val::Method { path, .. }) = *val else { return false };
            self.rows_at(path, site).with(|row| row.state.is_some()).any(|row| {
                row.state.as_deref() == Some(state) && self.conditions_shown(&row.when, &row.unless, site, EnvId::NONE)
            })
        })
    }
}

/// Whether a guard asks what type an argument has, and wants one, or that nobody tells.
fn asks_type(guard: &Guard) -> bool {
    let Question::Condition(condition) = &*guard.question else { return false };
    guard.source == Source::When
        && guard.wanted
        && condition.tests.iter().all(|test| matches!(test, Test::Type(_) | Test::Unseen))
}

fn yes_if(condition: bool) -> ConditionResult {
    if condition { ConditionResult::Yes } else { ConditionResult::No }
}

impl ConditionResult {
    /// An argument that is not given is neither null nor visibly something else.
    fn filter_absent(self) -> ConditionResult {
        ConditionResult::No
    }
}

/// The contexts or runtimes that a condition limits its row to, if it is about those.
fn place_of(condition: &Condition) -> Option<WhereSet> {
    match &condition.subject {
        Subject::Context(contexts) => Some(
            contexts.iter().fold(WhereSet::EMPTY, |set, context: &Context| set.union(WhereSet::of_context(*context))),
        ),
        Subject::Runtime(runtimes) => Some(
            runtimes.iter().fold(WhereSet::EMPTY, |set, runtime: &Runtime| set.union(WhereSet::of_runtime(*runtime))),
        ),
        _ => None,
    }
}

/// Whether a row fails besides holding, for messages.
pub fn fails(row: &CallRow) -> Option<Fails> {
    row.fails
}
