//! Generated uses of `[[handover]]` rows in Python: the thread on which a callable runs that a library gets.

use blocklint_core::{Context, Severity};
use blocklint_models::{Argument, HandoverContext, HandoverRow, Phase, Runs, Selector, Subject, Test, Via};

use super::calls::{Uses, next, rule_of};
use super::draft::{Draft, Reason};
use super::python::{Spelling, Wish, World};
use super::uses::{Expected, RowPath, Use};

/// The callable that the library gets.
const SLEEPER: &str = "# A function to hand over.\nimport time\ndef sleeper(*args):\n    time.sleep(1)";

/// The callable for a row that describes its result too.
const QUIET: &str = "# A function to wrap.\ndef quiet(*args):\n    pass";

/// The models with which a use is checked.
#[derive(Clone, Copy, PartialEq)]
enum Models {
    /// The unchanged models.
    Real,
    /// Models in which every handover runs its callable where it gets it.
    Running,
}

/// Returns the uses for the callable of a path of a row.
pub(crate) fn uses(world: &World<'_>, row_path: &RowPath, row: &HandoverRow, number: &mut usize) -> Uses {
    let mut uses = Uses::default();
    for models in [Models::Real, Models::Running] {
        let made = match &row.selector {
            Selector::Argument(argument) => argument_uses(world, row_path, row, argument, models, number),
            Selector::Via(via) => definition(world, row_path, row, *via, models, number).map(|one| vec![one]),
        };
        match made {
            Ok(made) if models == Models::Real => uses.effect_uses.extend(made),
            Ok(made) => uses.path_uses.extend(made),
            Err(reason) => uses.skipped.push((row_path.clone(), reason)),
        }
    }
    if let Some(effect) = row.called.as_ref().and_then(|called| called.held_effect()) {
        match wrapper_call(world, row_path, row, rule_of(effect), number) {
            Ok(made) => uses.effect_uses.push(made),
            Err(reason) => uses.skipped.push((row_path.clone(), reason)),
        }
    }
    uses
}

/// Returns a call of the wrapper that the row returns for an empty function.
fn wrapper_call(
    world: &World<'_>,
    row_path: &RowPath,
    row: &HandoverRow,
    rule: &'static str,
    number: &mut usize,
) -> Result<Use, Reason> {
    let mut draft = Draft::default();
    let mut wish = Wish::default();
    world.satisfy(&mut draft, &mut wish, &row_path.path, &row.when, world.depth())?;
    for condition in &row.unless {
        // An argument whose absence would be an exception is passed.
        if condition.tests.contains(&Test::Absent(true))
            && let Subject::Argument(argument) = &condition.subject
        {
            wish.arguments.put(argument, "2.5", false);
        }
    }
    let expected_finding = Expected::Found { rule, severity: None, hold: None, call: row_path.path.clone() };
    let number = next(number);
    let Selector::Argument(argument) = &row.selector else {
        let arguments = draft.arguments(&wish.arguments);
        let name = world.name(&mut draft, &row_path.path)?;
        let called = if arguments.is_empty() { String::new() } else { format!("({arguments})") };
        let lines = [
            format!("@{name}{called}"),
            format!("def wrapped_{number}(*args):"),
            "    pass".to_owned(),
            format!("async def use_{number}():"),
            format!("    wrapped_{number}()"),
        ];
        return Ok(draft.finish_as(row_path, lines.to_vec(), 4, expected_finding));
    };
    draft.import(QUIET);
    wish.arguments.put(argument, "quiet", false);
    let spelling = world.call(&mut draft, &row_path.path, false, &wish, world.depth())?;
    let Spelling::Expression(text) = spelling else { return Err("a statement gives no callable") };
    draft.line(format!("{text}()"));
    Ok(draft.finish(row_path, number, expected_finding))
}

/// Returns the place at which a plain function runs that the row gets.
fn expected_thread(row: &HandoverRow, models: Models) -> Result<Runs, Reason> {
    match (&row.context, models) {
        (_, Models::Running) if row.wraps => Ok(Runs::Caller),
        (_, Models::Running) => Ok(Runs::In(Context::EventLoop)),
        (HandoverContext::Is(expected_thread), _) => Ok(*expected_thread),
        (HandoverContext::BySync { sync, .. }, _) => Ok(*sync),
        (HandoverContext::Of(_), _) => Err("the executor in an argument decides"),
    }
}

fn expected_finding(row: &HandoverRow, models: Models) -> Result<Expected, Reason> {
    let call = "time.sleep".to_owned();
    Ok(match expected_thread(row, models)? {
        Runs::Chain => return Err("a position in a reactive chain"),
        Runs::Caller | Runs::In(Context::EventLoop) => {
            // Code that runs only before or after serving is a note, and that of tests one level lower.
            let severity = match row.phase.filter(|_| models == Models::Real) {
                Some(Phase::Startup | Phase::Exit | Phase::Reload) => Severity::Note,
                Some(Phase::Test) => Severity::Warning,
                Some(Phase::Command | Phase::Request | Phase::Message | Phase::Tick | Phase::Task) | None => {
                    Severity::Error
                }
            };
            Expected::Found { rule: "BLT101", severity: Some(severity), hold: None, call }
        }
        Runs::In(_) => Expected::Silent { call },
    })
}

/// Returns uses that pass the callable as an argument, by name and by position.
fn argument_uses(
    world: &World<'_>,
    row_path: &RowPath,
    row: &HandoverRow,
    argument: &Argument,
    models: Models,
    number: &mut usize,
) -> Result<Vec<Use>, Reason> {
    let both = matches!(argument, Argument::Either(..));
    let ways = if both { &[false, true][..] } else { &[false] };
    ways.iter()
        .map(|by_position| {
            let mut draft = Draft::default();
            draft.import(SLEEPER);
            let mut wish = Wish::default();
            world.satisfy(&mut draft, &mut wish, &row_path.path, &row.when, world.depth())?;
            wish.arguments.put(argument, "sleeper", *by_position);
            let calls = world.lang.calls(&row_path.path);
            let is = |test: fn(&blocklint_models::CallRow) -> bool| calls.iter().any(|found| test(found.row));
            let spelling = world.call(&mut draft, &row_path.path, false, &wish, world.depth())?;
            let spelling = match spelling {
                Spelling::Expression(text) if row.wraps => Spelling::Expression(format!("{text}()")),
                Spelling::Expression(text) if is(|row| row.lazy) => Spelling::For(text),
                Spelling::Expression(text) if is(|row| row.is_async == Some(true)) => {
                    Spelling::Expression(format!("await {text}"))
                }
                other => other,
            };
            draft.line(spelling.statement());
            Ok(draft.finish(row_path, next(number), expected_finding(row, models)?))
        })
        .collect()
}

/// Returns a use with a definition that the path decorates or that overrides it.
fn definition(
    world: &World<'_>,
    row_path: &RowPath,
    row: &HandoverRow,
    via: Via,
    models: Models,
    number: &mut usize,
) -> Result<Use, Reason> {
    let mut draft = Draft::default();
    draft.import("import time");
    let number = next(number);
    let (owner, member) = row_path.path.rsplit_once('.').ok_or("a path of one segment")?;
    let mut expected_finding = expected_finding(row, models)?;
    if via == Via::Override {
        let class = world.name(&mut draft, owner)?;
        let lines = [
            format!("class Use{number}({class}):"),
            format!("    def {member}(self, *args):"),
            "        time.sleep(1)".to_owned(),
        ];
        return Ok(draft.finish_as(row_path, lines.to_vec(), 2, expected_finding));
    }
    if row.when.iter().any(|condition| condition.subject == Subject::Argument(Argument::Receiver)) {
        return Err("the methods of a class that a request fills");
    }
    let mut wish = Wish::default();
    world.satisfy(&mut draft, &mut wish, &row_path.path, &row.when, world.depth())?;
    let arguments = draft.arguments(&wish.arguments);
    let mut lines = Vec::new();
    let decorator = if world.is_class(owner) {
        let class = world.name(&mut draft, owner)?;
        lines.push(format!("object_{number} = {class}()"));
        format!("@object_{number}.{member}({arguments})")
    } else if row.wraps {
        format!("@{}", world.name(&mut draft, &row_path.path)?)
    } else {
        format!("@{}({arguments})", world.name(&mut draft, &row_path.path)?)
    };
    lines.extend([decorator, format!("def use_{number}(*args):"), "    time.sleep(1)".to_owned()]);
    let mut at = lines.len() - 1;
    if row.wraps {
        // A decorated function runs in this way when it is called.
        lines.extend([format!("async def caller_{number}():"), format!("    use_{number}()")]);
        at = lines.len() - 1;
        if expected_thread(row, models)? == Runs::In(Context::EventLoop) {
            // The callable is not called in this thread, but runs on a loop in it, which has no rule yet.
            expected_finding = Expected::Silent { call: "time.sleep".to_owned() };
        }
    }
    Ok(draft.finish_as(row_path, lines, at, expected_finding))
}
