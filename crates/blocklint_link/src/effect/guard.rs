//! Conditions over a parameter or over the object's own state (guards), under which a label holds. Plain data.

use crate::effect::constant::Constant;
use crate::effect::label::is_rare_scheme;
use crate::program::ids::{BodyRef, ClassRef, Name, PathId};
use blocklint_models::{Condition, Test};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// Where a guard comes from: what an answer that cannot be seen means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// A `when`: not visible means no.
    When,
    /// An `unless`: not visible means yes, less surely.
    Unless,
    /// An `unless` that hardly any value meets, `contains = "data:"`, and the state an object was made in: not visible means
    /// yes.
    Exempt,
    /// A timeout: not visible means yes.
    Timeout,
    /// A branch: not visible means yes, in practice it is taken.
    Branch,
}

/// The question that a guard asks about an argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Question {
    /// A row's condition is shown.
    Condition(Condition),
    /// The argument is zero.
    Zero,
    /// The test of a branch holds.
    Choice(Choice),
}

/// The test of a branch over a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// It is true in the language's sense.
    Truth,
    /// It is `None`.
    Null,
    /// It is one of these literals.
    Equals(smallvec::SmallVec<[crate::effect::constant::Constant; 1]>),
    /// It is a string that begins with one of these.
    Begins(smallvec::SmallVec<[String; 1]>),
    /// It is an instance of one of these types.
    OfType(Vec<AskedType>),
    /// It is a string that ends so.
    Ends(String),
    /// Its method of this name, which takes no arguments, returns true.
    Says(String),
    /// It is a mapping in which nothing lies under this key.
    Lacks(String),
}

/// A type that a branch asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AskedType {
    /// One that literals have.
    Literal(PathId),
    /// Python: a class of the project.
    Class(ClassRef),
    /// Python: another class of a library.
    Library(PathId),
}

impl Question {
    /// Returns a number that is equal for equal questions and mostly another for others: a parameter may be compared
    /// with hundreds of texts.
    fn hint(&self) -> u64 {
        let text = match self {
            Question::Choice(Choice::Equals(list)) => match list.first() {
                Some(Constant::Str(text)) => text,
                _ => return 1,
            },
            Question::Choice(Choice::Begins(parts)) => match parts.first() {
                Some(text) => text,
                None => return 2,
            },
            Question::Choice(Choice::Truth) => return 3,
            Question::Choice(Choice::Null) => return 4,
            _ => return 0,
        };
        let mut hasher = FxHasher::default();
        text.hash(&mut hasher);
        hasher.finish()
    }
}

/// A condition on one parameter of the body.
#[derive(Clone, Debug, PartialEq)]
pub struct Guard {
    /// Which parameter.
    pub param: u32,
    /// Where it comes from.
    pub source: Source,
    /// The question about the parameter.
    pub question: Rc<Question>,
    /// The answer for which the label holds.
    pub wanted: bool,
    /// How often it was passed on.
    pub passed: u8,
    /// The parameter that makes the answer moot where it is true: the body assigns the other one a value of its own.
    pub escape: Option<u32>,
    /// The inferred steps where no caller decides it: of a branch that is one of many.
    pub rare: u8,
    /// By what a call names the parameter, if not by its place here.
    pub asked: Option<Rc<GuardKey>>,
    /// True if the body assigns the parameter a value of its own when the caller passes none:
    /// `if name is None: name = look_up()`.
    pub filled_in: bool,
}

/// The name by which a guard finds its argument where a function passes everything on: `def wrapper(*args, **kwargs):
/// return f(*args, **kwargs)`.
#[derive(Clone, Debug, PartialEq)]
pub enum GuardKey {
    /// This parameter of a body further down.
    Param(BodyRef, u32),
    /// A key of `**kwargs`, and its default if a call does not pass it.
    Key(String, Constant),
}

impl Guard {
    /// Returns the guard, asked of the argument that callers pass under a key, or of `default` if they pass none.
    pub fn under_key(self, key: String, default: Constant) -> Self {
        Guard { passed: self.passed + 1, asked: Some(Rc::new(GuardKey::Key(key, default))), ..self }
    }

    /// True if it asks for a literal.
    pub fn is_choice_of_literal(&self) -> bool {
        matches!(&*self.question, Question::Choice(Choice::Equals(_)))
    }

    /// True if it holds for one text or a few, so that most other texts fail it.
    pub fn asks_for_text(&self) -> bool {
        let is_text = |constant: &Constant| matches!(constant, Constant::Str(_));
        matches!(&*self.question, Question::Choice(Choice::Equals(list)) if self.wanted && list.iter().all(is_text))
    }

    /// True if it holds only where a branch finds that an argument is `None` or `null`.
    pub fn asks_for_null(&self) -> bool {
        self.wanted && matches!(&*self.question, Question::Choice(Choice::Null))
    }

    /// True if one of the tests of its condition is meant.
    fn tests(&self, is_meant: impl Fn(&Test) -> bool) -> bool {
        matches!(&*self.question, Question::Condition(condition) if condition.tests.iter().any(is_meant))
    }

    /// True if it asks where an argument comes from or how much of it there is.
    pub fn asks_for_origin(&self) -> bool {
        self.tests(|test| matches!(test, Test::From(_) | Test::Unbounded))
    }

    /// True if it asks for the type of an argument, or for a stream whose source is unknown (`unseen`).
    pub fn asks_for_type(&self) -> bool {
        self.tests(|test| matches!(test, Test::Type(_) | Test::Unseen))
    }

    /// True if it asks for a stream whose source is unknown (`unseen`).
    pub fn asks_for_unseen(&self) -> bool {
        self.tests(|test| *test == Test::Unseen)
    }

    /// True if it asks for an address of a scheme other than those of files and the web (`s3://`). It is one scheme of
    /// many, so a caller whose code does not show a scheme mostly uses another one.
    pub fn asks_for_scheme(&self) -> bool {
        match &*self.question {
            Question::Choice(Choice::Begins(parts)) if self.wanted => parts.iter().all(|part| is_rare_scheme(part)),
            _ => false,
        }
    }

    /// True if the body replaces this literal by a value of its own, so that the literal does not answer the guard. It
    /// does so with `None`, false, zero and the empty text.
    pub fn replaces(&self, constant: &Constant) -> bool {
        let is_nothing = match constant {
            Constant::Null | Constant::Bool(false) | Constant::Int(0) => true,
            Constant::Str(text) => text.is_empty(),
            _ => false,
        };
        self.filled_in && is_nothing
    }

    /// True if it asks the same about the same parameter, however far both were passed on.
    pub fn is_same_as(&self, other: &Guard) -> bool {
        self.param == other.param
            && self.asked == other.asked
            && self.question == other.question
            && self.wanted == other.wanted
    }

    /// Returns a guard that no call has passed on yet.
    pub fn new(param: u32, source: Source, question: Question, wanted: bool) -> Self {
        Guard {
            param,
            source,
            question: Rc::new(question),
            wanted,
            passed: 0,
            escape: None,
            rare: 0,
            asked: None,
            filled_in: false,
        }
    }
}

/// One of several implementations of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Own {
    /// The method's name.
    pub name: Name,
    /// The implementation.
    pub body: BodyRef,
}

/// A key by which guards are compared quickly.
pub(crate) type Quick = (u32, bool, u8, u8, u64);

/// Guards with numbers, equal for equal ones.
#[derive(Debug, Default)]
pub struct Guards {
    rows: Vec<Guard>,
    /// By what is quickly compared of them.
    alike: FxHashMap<Quick, smallvec::SmallVec<[u32; 4]>>,
}

impl Guards {
    /// Returns the number of a guard.
    pub fn id(&mut self, guard: &Guard) -> u32 {
        let key = (guard.param, guard.wanted, guard.passed, guard.rare, guard.question.hint());
        let alike = self.alike.entry(key).or_default();
        match alike.iter().copied().find(|&at| self.rows[at as usize] == *guard) {
            Some(at) => at,
            None => {
                let at = self.rows.len() as u32;
                self.rows.push(guard.clone());
                alike.push(at);
                at
            }
        }
    }
}
