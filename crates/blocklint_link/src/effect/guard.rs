//! Guards: conditions on a parameter, decided by callers, under which a label holds. Plain data; `guards/branch.rs`
//! derives guards from branches.

use crate::effect::constant::Constant;
use crate::effect::label::is_rare_scheme;
use crate::program::ids::{BodyRef, ClassRef, Name, PathId};
use blocklint_models::{Condition, Test};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// The origin of a guard, which decides the meaning of an unknown answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// A `when` of a row: an unknown answer means no.
    When,
    /// An `unless` of a row: an unknown answer means that the label holds, with less confidence.
    Unless,
    /// An `unless` that few values meet (`contains = "data:"`), or a state of the receiver: an unknown answer means
    /// that the label holds.
    Exempt,
    /// A timeout: an unknown answer means that the label holds.
    Timeout,
    /// A branch: an unknown answer means that the label holds, because the branch is mostly taken.
    Branch,
}

/// The test that a guard applies to an argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Question {
    /// The condition of a row holds.
    Condition(Condition),
    /// The argument is zero.
    Zero,
    /// The test of a branch holds.
    Choice(Choice),
}

/// The test of a branch over a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// It is true in a Boolean context.
    Truth,
    /// It is `None`.
    Null,
    /// It is one of these literals.
    Equals(smallvec::SmallVec<[Constant; 1]>),
    /// It is a string that starts with one of these prefixes.
    StartsWith(smallvec::SmallVec<[String; 1]>),
    /// It is an instance of one of these types.
    IsInstance(Vec<TestedType>),
    /// It is a string that ends with this suffix.
    EndsWith(String),
    /// Its method of this name, called without arguments, returns true.
    MethodReturnsTrue(String),
    /// It is a mapping without a value under this key.
    LacksKey(String),
}

/// A type for which a branch tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TestedType {
    /// The type of literals: `str`, `int`.
    Literal(PathId),
    /// A class of the project (Python).
    Class(ClassRef),
    /// Another class of a library (Python).
    Library(PathId),
}

impl Question {
    /// Returns a hash of the question, because a parameter may be compared with hundreds of strings.
    fn hash_of_text(&self) -> u64 {
        let text = match self {
            Question::Choice(Choice::Equals(list)) => match list.first() {
                Some(Constant::Str(text)) => text,
                _ => return 1,
            },
            Question::Choice(Choice::StartsWith(parts)) => match parts.first() {
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
    /// The index of the parameter.
    pub param: u32,
    /// The origin of the guard.
    pub source: Source,
    /// The question about the parameter.
    pub question: Rc<Question>,
    /// The answer for which the label holds.
    pub wanted: bool,
    /// The number of calls through which the parameter was passed on.
    pub passed: u8,
    /// A parameter that invalidates the guard if it is true, because the body then assigns another value to `param`.
    pub escape: Option<u32>,
    /// The inferred steps if no caller decides the guard, because its branch is one of many.
    pub rare: u8,
    /// The key by which calls refer to the parameter, if not by its index in this body.
    pub asked: Option<Rc<GuardKey>>,
    /// True if the body assigns a value to the parameter when the caller passes none:
    /// `if name is None: name = look_up()`.
    pub filled_in: bool,
}

/// The key by which a guard finds its argument behind a function that forwards all arguments: `def wrapper(*args,
/// **kwargs): return f(*args, **kwargs)`.
#[derive(Clone, Debug, PartialEq)]
pub enum GuardKey {
    /// A parameter of a body that the function calls.
    Param(BodyRef, u32),
    /// A key of `**kwargs`, with its default.
    Key(String, Constant),
}

impl Guard {
    /// Returns the guard for the argument that callers pass under a key, or for `default` if they pass none.
    pub fn for_key(self, key: String, default: Constant) -> Self {
        Guard { passed: self.passed + 1, asked: Some(Rc::new(GuardKey::Key(key, default))), ..self }
    }

    /// True if the guard compares the argument with literals.
    pub fn is_choice_of_literal(&self) -> bool {
        matches!(&*self.question, Question::Choice(Choice::Equals(_)))
    }

    /// True if the guard requires one of a few strings, so that most strings do not meet it.
    pub fn tests_text(&self) -> bool {
        let is_text = |constant: &Constant| matches!(constant, Constant::Str(_));
        matches!(&*self.question, Question::Choice(Choice::Equals(list)) if self.wanted && list.iter().all(is_text))
    }

    /// True if the guard requires an argument that is `None` or `null`.
    pub fn tests_null(&self) -> bool {
        self.wanted && matches!(&*self.question, Question::Choice(Choice::Null))
    }

    /// True if the guard is a condition with a test that meets a predicate.
    fn has_test(&self, predicate: impl Fn(&Test) -> bool) -> bool {
        matches!(&*self.question, Question::Condition(condition) if condition.tests.iter().any(predicate))
    }

    /// True if the guard tests the origin or the size of an argument.
    pub fn tests_origin(&self) -> bool {
        self.has_test(|test| matches!(test, Test::From(_) | Test::Unbounded))
    }

    /// True if the guard tests the type of an argument, or for a stream whose source is unknown (`unseen`).
    pub fn tests_type(&self) -> bool {
        self.has_test(|test| matches!(test, Test::Type(_) | Test::Unseen))
    }

    /// True if the guard tests for a stream whose source is unknown (`unseen`).
    pub fn tests_unseen(&self) -> bool {
        self.has_test(|test| *test == Test::Unseen)
    }

    /// True if the guard requires an address with a rare scheme (`s3://`), and not one of files or the web. A caller
    /// whose scheme is unknown mostly uses another one.
    pub fn tests_scheme(&self) -> bool {
        match &*self.question {
            Question::Choice(Choice::StartsWith(parts)) if self.wanted => parts.iter().all(|part| is_rare_scheme(part)),
            _ => false,
        }
    }

    /// True if the body replaces this argument with another value, so that the argument does not decide the guard. It
    /// replaces `None`, false, zero and the empty string.
    pub fn replaces(&self, constant: &Constant) -> bool {
        let is_missing = match constant {
            Constant::Null | Constant::Bool(false) | Constant::Int(0) => true,
            Constant::Str(text) => text.is_empty(),
            _ => false,
        };
        self.filled_in && is_missing
    }

    /// True if both guards have the same question about the same parameter. The number of calls through which they were
    /// passed on does not count.
    pub fn has_same_question(&self, other: &Guard) -> bool {
        self.param == other.param
            && self.asked == other.asked
            && self.question == other.question
            && self.wanted == other.wanted
    }

    /// Returns a guard that was not passed on through a call.
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

/// The implementation that a label belongs to, if a method has several: the label holds only for objects whose class
/// finds this implementation under the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OwnImplementation {
    /// The method's name.
    pub name: Name,
    /// The implementation.
    pub body: BodyRef,
}

/// A hash of a guard.
pub(crate) type GuardHash = (u32, bool, u8, u8, u64);

/// Interned guards.
#[derive(Debug, Default)]
pub struct Guards {
    rows: Vec<Guard>,
    /// The numbers of guards, by hash.
    by_hash: FxHashMap<GuardHash, smallvec::SmallVec<[u32; 4]>>,
}

impl Guards {
    /// Returns the number of a guard.
    pub fn id(&mut self, guard: &Guard) -> u32 {
        let key = (guard.param, guard.wanted, guard.passed, guard.rare, guard.question.hash_of_text());
        let candidates = self.by_hash.entry(key).or_default();
        match candidates.iter().copied().find(|&id| self.rows[id as usize] == *guard) {
            Some(id) => id,
            None => {
                let id = self.rows.len() as u32;
                self.rows.push(guard.clone());
                candidates.push(id);
                id
            }
        }
    }
}
