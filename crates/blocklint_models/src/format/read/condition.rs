//! `when` and `unless`.

use blocklint_core::{Context, Runtime};
use toml::de::{DeTable, DeValue};

use super::super::condition::{Condition, Literal, Subject, Test, TypeTest};
use super::super::error::near;
use super::super::type_expr::TypeExpr;
use super::super::words::Source;
use super::reader::{At, Reader, Value};
use super::values::{literal, runtime_words};

const SUBJECTS: &[&str] = &["argument", "context", "runtime", "switch", "library"];
const ARGUMENT_TESTS: &[&str] = &[
    "equals", "contains", "symbol", "null", "absent", "literal", "less", "greater", "type", "state", "from", "size",
    "sql", "unseen",
];
const LIBRARY_TESTS: &[&str] = &["version", "feature"];

impl Reader<'_> {
    /// One condition or a list of them.
    pub(super) fn conditions(&mut self, at: At<'_>, value: &Value<'_>) -> Vec<Condition> {
        match value.get_ref() {
            DeValue::Table(table) => self.condition(at, value, table).into_iter().collect(),
            DeValue::Array(items) if !items.is_empty() => {
                let mut conditions = Vec::new();
                for item in items {
                    match item.get_ref() {
                        DeValue::Table(table) => conditions.extend(self.condition(at, item, table)),
                        _ => self.error(at, item, "must be a condition or a list of conditions"),
                    }
                }
                conditions
            }
            _ => {
                self.error(at, value, "must be a condition or a list of conditions");
                Vec::new()
            }
        }
    }

    fn condition(&mut self, at: At<'_>, value: &Value<'_>, table: &DeTable<'_>) -> Option<Condition> {
        let mut subjects = table.iter().filter(|(key, _)| SUBJECTS.contains(&key.get_ref().as_ref()));
        let (Some((subject_key, subject)), None) = (subjects.next(), subjects.next()) else {
            let unknown = table.keys().find(|key| !is_known(key.get_ref()));
            let near = unknown.map_or(String::new(), |key| near(key.get_ref(), SUBJECTS.iter().copied()));
            self.error(at, value, format!("a condition has exactly one of {}{near}", SUBJECTS.join(", ")));
            return None;
        };
        let subject_key = subject_key.get_ref().as_ref();
        let subject = self.subject(at, subject_key, subject);
        let mut tests = Vec::new();
        for (key, value) in table.iter() {
            let key: &str = key.get_ref();
            if key == subject_key {
                continue;
            }
            let allowed = match subject_key {
                "argument" => ARGUMENT_TESTS,
                "library" => LIBRARY_TESTS,
                _ => &[],
            };
            if allowed.contains(&key) {
                tests.extend(self.test(at, key, value));
            } else if is_known(key) {
                self.error(at, value, format!("`{key}` is no test of `{subject_key}`"));
            } else {
                let near = near(key, allowed.iter().copied());
                self.error(at, value, format!("unknown test `{key}`{near}"));
            }
        }
        if subject_key == "argument" && table.len() == 1 {
            self.error(at, value, "a condition on an argument needs a test");
            return None;
        }
        Some(Condition { subject: subject?, tests })
    }

    fn subject(&mut self, at: At<'_>, key: &str, value: &Value<'_>) -> Option<Subject> {
        match key {
            "argument" => self.argument(at, value).map(Subject::Argument),
            "context" => {
                let words: Vec<_> = Context::ALL.iter().map(|context| context.as_str()).collect();
                non_empty(self.words(at, value, &words, Context::parse)).map(Subject::Context)
            }
            "runtime" => non_empty(self.words(at, value, &runtime_words(), Runtime::parse)).map(Subject::Runtime),
            "switch" => non_empty(self.strings(at, value)).map(Subject::Switch),
            _ => self.string(at, value).map(Subject::Library),
        }
    }

    fn test(&mut self, at: At<'_>, key: &str, value: &Value<'_>) -> Option<Test> {
        Some(match key {
            "equals" => Test::Equals(self.literals(at, value)?),
            "contains" => Test::Contains(self.string(at, value)?),
            "symbol" => Test::Symbol(non_empty(self.path_texts(at, value))?),
            "null" => Test::Null(self.boolean(at, value)?),
            "absent" => Test::Absent(self.boolean(at, value)?),
            "literal" => Test::Literal(self.boolean(at, value)?),
            "less" => Test::Less(self.number(at, value)?),
            "greater" => Test::Greater(self.number(at, value)?),
            "type" => Test::Type(non_empty(self.type_tests(at, value))?),
            "state" => Test::State(self.string(at, value)?),
            "from" => Test::From(non_empty(self.words(at, value, Source::WORDS, Source::parse))?),
            "size" => self.word(at, value, &["unbounded"], |word| (word == "unbounded").then_some(Test::Unbounded))?,
            "sql" => self.word(at, value, &["short"], |word| (word == "short").then_some(Test::ShortSql))?,
            "unseen" => match self.boolean(at, value)? {
                true => Test::Unseen,
                false => {
                    self.error(at, value, "must be `true`; leave it out otherwise");
                    return None;
                }
            },
            "version" => Test::Version(self.version(at, value)?),
            _ => Test::Feature(self.string(at, value)?),
        })
    }

    fn literals(&mut self, at: At<'_>, value: &Value<'_>) -> Option<Vec<Literal>> {
        let literals: Option<Vec<_>> = match value.get_ref() {
            DeValue::Array(items) if !items.is_empty() => items.iter().map(|item| literal(item.get_ref())).collect(),
            other => literal(other).map(|one| vec![one]),
        };
        if literals.is_none() {
            self.error(at, value, "must be a literal (true, a number, a string) or a list of literals");
        }
        literals
    }

    fn type_tests(&mut self, at: At<'_>, value: &Value<'_>) -> Vec<TypeTest> {
        let texts = self.strings(at, value);
        let Some(language) = self.language else { return Vec::new() };
        let mut tests = Vec::new();
        for text in texts {
            if let Some(tag) = text.strip_prefix('#') {
                tests.push(TypeTest::Tag(tag.to_owned()));
            } else if let Some(parsed) = TypeExpr::parse(&text, language) {
                tests.push(TypeTest::Type(parsed));
            } else {
                self.error(at, value, format!("`{text}` is not a type of {language}"));
            }
        }
        tests
    }
}

fn is_known(key: &str) -> bool {
    [SUBJECTS, ARGUMENT_TESTS, LIBRARY_TESTS].iter().any(|keys| keys.contains(&key))
}

fn non_empty<T>(items: Vec<T>) -> Option<Vec<T>> {
    (!items.is_empty()).then_some(items)
}
