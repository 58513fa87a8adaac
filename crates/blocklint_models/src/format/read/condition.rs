//! The parser of conditions: the values of `when` and `unless`.

use blocklint_core::{Context, Runtime};
use toml::de::{DeTable, DeValue};

use super::super::condition::{Condition, Literal, Subject, Test, TypeTest};
use super::super::error::did_you_mean;
use super::super::type_expr::TypeExpr;
use super::super::words::Source;
use super::reader::{Reader, TableKey, Value};
use super::values::{literal, runtime_words};

const SUBJECTS: &[&str] = &["argument", "context", "runtime", "switch", "library"];
const ARGUMENT_TESTS: &[&str] = &[
    "equals", "contains", "symbol", "null", "absent", "literal", "less", "greater", "type", "state", "from", "size",
    "sql", "unseen",
];
const LIBRARY_TESTS: &[&str] = &["version", "feature"];

impl Reader<'_> {
    /// Parses a condition or a list of conditions.
    pub(super) fn conditions(&mut self, table_key: TableKey<'_>, value: &Value<'_>) -> Vec<Condition> {
        match value.get_ref() {
            DeValue::Table(table) => self.condition(table_key, value, table).into_iter().collect(),
            DeValue::Array(items) if !items.is_empty() => {
                let mut conditions = Vec::new();
                for item in items {
                    match item.get_ref() {
                        DeValue::Table(table) => conditions.extend(self.condition(table_key, item, table)),
                        _ => self.error(table_key, item, "must be a condition or a list of conditions"),
                    }
                }
                conditions
            }
            _ => {
                self.error(table_key, value, "must be a condition or a list of conditions");
                Vec::new()
            }
        }
    }

    fn condition(&mut self, table_key: TableKey<'_>, value: &Value<'_>, table: &DeTable<'_>) -> Option<Condition> {
        let mut subjects = table.iter().filter(|(key, _)| SUBJECTS.contains(&key.get_ref().as_ref()));
        let (Some((subject_key, subject)), None) = (subjects.next(), subjects.next()) else {
            let unknown = table.keys().find(|key| !is_known(key.get_ref()));
            let suggestion = unknown.map_or(String::new(), |key| did_you_mean(key.get_ref(), SUBJECTS.iter().copied()));
            self.error(table_key, value, format!("a condition has exactly one of {}{suggestion}", SUBJECTS.join(", ")));
            return None;
        };
        let subject_key = subject_key.get_ref().as_ref();
        let subject = self.subject(table_key, subject_key, subject);
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
                tests.extend(self.test(table_key, key, value));
            } else if is_known(key) {
                self.error(table_key, value, format!("`{key}` is no test of `{subject_key}`"));
            } else {
                let suggestion = did_you_mean(key, allowed.iter().copied());
                self.error(table_key, value, format!("unknown test `{key}`{suggestion}"));
            }
        }
        if subject_key == "argument" && table.len() == 1 {
            self.error(table_key, value, "a condition on an argument needs a test");
            return None;
        }
        Some(Condition { subject: subject?, tests })
    }

    fn subject(&mut self, table_key: TableKey<'_>, key: &str, value: &Value<'_>) -> Option<Subject> {
        match key {
            "argument" => self.argument(table_key, value).map(Subject::Argument),
            "context" => {
                let words: Vec<_> = Context::ALL.iter().map(|context| context.as_str()).collect();
                non_empty(self.words(table_key, value, &words, Context::parse)).map(Subject::Context)
            }
            "runtime" => {
                non_empty(self.words(table_key, value, &runtime_words(), Runtime::parse)).map(Subject::Runtime)
            }
            "switch" => non_empty(self.strings(table_key, value)).map(Subject::Switch),
            _ => self.string(table_key, value).map(Subject::Library),
        }
    }

    fn test(&mut self, table_key: TableKey<'_>, key: &str, value: &Value<'_>) -> Option<Test> {
        Some(match key {
            "equals" => Test::Equals(self.literals(table_key, value)?),
            "contains" => Test::Contains(self.string(table_key, value)?),
            "symbol" => Test::Symbol(non_empty(self.path_texts(table_key, value))?),
            "null" => Test::Null(self.boolean(table_key, value)?),
            "absent" => Test::Absent(self.boolean(table_key, value)?),
            "literal" => Test::Literal(self.boolean(table_key, value)?),
            "less" => Test::Less(self.number(table_key, value)?),
            "greater" => Test::Greater(self.number(table_key, value)?),
            "type" => Test::Type(non_empty(self.type_tests(table_key, value))?),
            "state" => Test::State(self.string(table_key, value)?),
            "from" => Test::From(non_empty(self.words(table_key, value, Source::WORDS, Source::parse))?),
            "size" => {
                self.word(table_key, value, &["unbounded"], |word| (word == "unbounded").then_some(Test::Unbounded))?
            }
            "sql" => self.word(table_key, value, &["short"], |word| (word == "short").then_some(Test::ShortSql))?,
            "unseen" => {
                if self.boolean(table_key, value)? {
                    Test::Unseen
                } else {
                    self.error(table_key, value, "must be `true`; leave it out otherwise");
                    return None;
                }
            }
            "version" => Test::Version(self.version(table_key, value)?),
            _ => Test::Feature(self.string(table_key, value)?),
        })
    }

    fn literals(&mut self, table_key: TableKey<'_>, value: &Value<'_>) -> Option<Vec<Literal>> {
        let literals: Option<Vec<_>> = match value.get_ref() {
            DeValue::Array(items) if !items.is_empty() => items.iter().map(|item| literal(item.get_ref())).collect(),
            other => literal(other).map(|literal| vec![literal]),
        };
        if literals.is_none() {
            self.error(table_key, value, "must be a literal (true, a number, a string) or a list of literals");
        }
        literals
    }

    fn type_tests(&mut self, table_key: TableKey<'_>, value: &Value<'_>) -> Vec<TypeTest> {
        let texts = self.strings(table_key, value);
        let Some(language) = self.language else { return Vec::new() };
        let mut tests = Vec::new();
        for text in texts {
            if let Some(tag) = text.strip_prefix('#') {
                tests.push(TypeTest::Tag(tag.to_owned()));
            } else if let Some(parsed) = TypeExpr::parse(&text, language) {
                tests.push(TypeTest::Type(parsed));
            } else {
                self.error(table_key, value, format!("`{text}` is not a type of {language}"));
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
