//! Generated uses of `[[call]]` rows in Python, with the findings that the effects of the rows must give.

use blocklint_core::{Effect, Hold, Language, Severity, WorkKind};
use blocklint_models::{Argument, CallRow, RowEffect, SeverityTable, expand_twin};

use super::draft::{Draft, Reason};
use super::python::{Spelling, Wish, World, sample};
use super::uses::{Expected, RowPath, Use};

/// A lazy iterator whose consumption blocks.
const LAZY: (&str, &str) = ("import os", "os.walk('.')");

/// The uses of a path of a row.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    /// Uses whose expected findings are those of the row.
    pub effect_uses: Vec<Use>,
    /// Uses that expect a finding at each call, for models in which every call sleeps.
    pub path_uses: Vec<Use>,
    /// The parts of the row without a use.
    pub skipped: Vec<(RowPath, Reason)>,
}

impl Uses {
    /// Adds the uses of another row.
    pub(crate) fn add(&mut self, other: Uses) {
        self.effect_uses.extend(other.effect_uses);
        self.path_uses.extend(other.path_uses);
        self.skipped.extend(other.skipped);
    }
}

/// Returns the uses for the effect of a path of a row.
pub(crate) fn uses(world: &World<'_>, row_path: &RowPath, row: &CallRow, number: &mut usize) -> Uses {
    let mut uses = Uses::default();
    match call_of_any_row(world, row_path, row, number) {
        Ok(one) => uses.path_uses.push(one),
        Err(reason) => uses.skipped.push((row_path.clone(), reason)),
    }
    // If another row of the path has the effect, this row only adds conditions or advice to it.
    if row.has_effect_group() || world.lang.calls(&row_path.path).effect().next().is_none() {
        match call_with_effect(world, row_path, row, number) {
            Ok(one) => uses.effect_uses.push(one),
            Err(reason) => uses.skipped.push((row_path.clone(), reason)),
        }
    }
    for argument in [row.consumes.clone(), argument_passed_on(&row_path.path, row)].into_iter().flatten() {
        match consuming_use(world, row_path, row, &argument, number) {
            Ok(one) => uses.effect_uses.push(one),
            Err(reason) => uses.skipped.push((row_path.clone(), reason)),
        }
    }
    uses
}

/// Returns uses of the async twins of a path of a row.
pub(crate) fn twins(
    world: &World<'_>,
    row_path: &RowPath,
    row: &CallRow,
    number: &mut usize,
) -> Vec<Result<Use, Reason>> {
    let twins = row.instead.iter().flat_map(|instead| instead.all());
    twins
        .map(|twin| {
            let path = sample(&expand_twin(twin, &row_path.path, &sample(&row_path.path), Language::Python));
            // This is the condition of check 8 of model files.
            if world.lang.calls(&path).effect().any(|row| row.severity == Some(Severity::Note)) {
                return Err("a twin that holds its thread briefly");
            }
            let mut draft = Draft::default();
            let spelling = match world.call(&mut draft, &path, false, &Wish::default(), world.depth())? {
                // The call is not awaited, because the effect of an awaited call would not count.
                Spelling::With(text) => Spelling::AsyncWith(text),
                Spelling::For(text) => Spelling::AsyncFor(text),
                other => other,
            };
            draft.line(spelling.statement());
            Ok(draft.finish(row_path, next(number), Expected::Silent { call: String::new() }))
        })
        .collect()
}

/// Returns the next number of a use.
pub(crate) fn next(number: &mut usize) -> usize {
    *number += 1;
    *number
}

/// Returns the argument whose laziness a lazy row without effect passes on: the one whose elements it returns, else the
/// first.
fn argument_passed_on(path: &str, row: &CallRow) -> Option<Argument> {
    let carries = row.lazy && row.effect.is_none();
    let mut argument = None;
    if let Some(returns) = &row.returns {
        returns.visit(&mut |part| {
            if let blocklint_models::TypeExpr::Element(row_path) = part
                && let blocklint_models::TypeExpr::Argument(row_path) = &**row_path
            {
                argument = Some(row_path.clone());
            }
        });
    }
    // These take a function first.
    let behind_function = matches!(path, "builtins.map" | "itertools.starmap");
    carries.then(|| argument.unwrap_or(Argument::Position(i32::from(behind_function))))
}

fn call_of_any_row(world: &World<'_>, row_path: &RowPath, row: &CallRow, number: &mut usize) -> Result<Use, Reason> {
    let mut draft = Draft::default();
    let spelling = world.call(&mut draft, &row_path.path, row.property, &Wish::default(), world.depth())?;
    draft.line(spelling.statement());
    let expected_finding = Expected::Found { rule: "BLT101", severity: None, hold: None, call: sample(&row_path.path) };
    Ok(draft.finish(row_path, next(number), expected_finding))
}

fn call_with_effect(world: &World<'_>, row_path: &RowPath, row: &CallRow, number: &mut usize) -> Result<Use, Reason> {
    let mut draft = Draft::default();
    let mut wish = Wish::default();
    world.satisfy(&mut draft, &mut wish, &row_path.path, &row.when, world.depth())?;
    for condition in &row.unless {
        // An argument whose absence would be an exception is passed.
        if condition.tests.contains(&blocklint_models::Test::Absent(true))
            && let blocklint_models::Subject::Argument(argument) = &condition.subject
        {
            wish.arguments.put(argument, "2.5", false);
        }
    }
    if row.has_effect_group() {
        // Rows with precedence over this one must not match.
        for earlier in world.lang.calls(&row_path.path).effect().take_while(|earlier| earlier.row != row) {
            if earlier.when.is_empty() {
                let excuse = earlier.unless.first().ok_or("a row before it always holds")?;
                world.satisfy_condition(&mut draft, &mut wish, &row_path.path, excuse, world.depth())?;
            }
        }
    }
    let spelling = world.call(&mut draft, &row_path.path, row.property, &wish, world.depth())?;
    let spelling = match spelling {
        Spelling::Expression(text) if row.lazy => Spelling::For(text),
        Spelling::Expression(text) if row.is_async == Some(true) => Spelling::Expression(format!("await {text}")),
        other => other,
    };
    draft.line(spelling.statement());
    let owner = row_path.path.rsplit_once('.').map_or("", |(owner, _)| owner);
    let is_lock = world.is_lock(owner);
    let iterated = matches!(spelling, Spelling::For(_));
    let expected_finding = expected_finding(row_path, row, &wish, is_lock, iterated, world.is_class(owner));
    Ok(draft.finish(row_path, next(number), expected_finding))
}

/// Returns the rule that reports an effect on an event loop.
pub(crate) fn rule_of(effect: Effect) -> &'static str {
    match effect {
        Effect::Sleep => "BLT101",
        Effect::Network => "BLT102",
        Effect::Database => "BLT103",
        Effect::File => "BLT104",
        Effect::Subprocess => "BLT105",
        Effect::Wait => "BLT106",
        Effect::NestedLoop => "BLT107",
        Effect::Cpu => "BLT108",
        Effect::Input => "BLT109",
    }
}

/// Returns the expected finding at a line for which the row matches; `wish` has the passed arguments.
pub(crate) fn expected_finding(
    row_path: &RowPath,
    row: &CallRow,
    wish: &Wish,
    is_lock: bool,
    iterated: bool,
    on_object: bool,
) -> Expected {
    let silent = Expected::Silent { call: sample(&row_path.path) };
    let Some(RowEffect::Holds(effect)) = row.effect else { return silent };
    let rule = match effect {
        // Acquiring a lock alone is no finding.
        Effect::Wait if is_lock => return silent,
        _ => rule_of(effect),
    };
    let mut severity = SeverityTable::default().severity_of_row(row, effect);
    let given = row.timeout.as_ref().and_then(|argument| wish.arguments.get(argument));
    let mut hold = match given {
        Some(text) => text.parse().map_or(Hold::Unstated, |number: f64| {
            Hold::Seconds(number * row.unit.map_or(1.0, blocklint_models::Unit::seconds))
        }),
        None => match row.default {
            None => Hold::Unbounded,
            // The object may have been created with another limit than the default.
            Some(_) if on_object => Hold::Unstated,
            Some(limit) => Hold::Seconds(limit),
        },
    };
    // Short holds are at most warnings.
    let is_short = matches!(hold, Hold::Seconds(seconds) if seconds <= 0.01);
    if is_short || given.is_some() && effect == Effect::Wait {
        severity = severity.min(Severity::Warning);
    }
    if matches!(effect, Effect::File | Effect::Cpu) || row.kind == Some(WorkKind::Embedded) {
        hold = Hold::Unstated;
    }
    // The size of the value is unknown.
    let is_sized = row.when.iter().any(|condition| condition.tests.contains(&blocklint_models::Test::Unbounded));
    if is_sized {
        severity = Severity::Note;
    }
    if severity == Severity::Note {
        hold = Hold::Brief;
        if iterated {
            // In a loop a `brief` hold becomes a warning.
            severity = Severity::Warning;
        }
    }
    if row.fails.is_some() {
        severity = Severity::Error;
    }
    Expected::Found { rule, severity: Some(severity), hold: Some(hold), call: sample(&row_path.path) }
}

/// Adds a use that passes a lazy iterator to a row that consumes it, or passes it on to a loop.
fn consuming_use(
    world: &World<'_>,
    row_path: &RowPath,
    row: &CallRow,
    argument: &Argument,
    number: &mut usize,
) -> Result<Use, Reason> {
    if *argument == Argument::Receiver {
        return Err("a receiver that is lazy");
    }
    let mut draft = Draft::default();
    let mut wish = Wish::default();
    world.satisfy(&mut draft, &mut wish, &row_path.path, &row.when, world.depth())?;
    draft.import(LAZY.0);
    wish.arguments.put(argument, LAZY.1, false);
    let spelling = world.call(&mut draft, &row_path.path, row.property, &wish, world.depth())?;
    let spelling = match spelling {
        Spelling::Expression(text) if row.lazy => Spelling::For(text),
        other => other,
    };
    draft.line(spelling.statement());
    let expected_finding =
        Expected::Found { rule: "BLT104", severity: Some(Severity::Warning), hold: None, call: "os.walk".to_owned() };
    Ok(draft.finish(row_path, next(number), expected_finding))
}
