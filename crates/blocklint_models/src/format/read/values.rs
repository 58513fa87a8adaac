//! The parsers of the values of keys: strings, words, arguments, paths, types, versions. Each reports a value that it
//! cannot parse.

use blocklint_core::Runtime;
use toml::de::{DeTable, DeValue};

use super::super::argument::Argument;
use super::super::condition::Literal;
use super::super::error::did_you_mean;
use super::super::path::{Path, expand};
use super::super::rows::{Instead, Rewrite};
use super::super::template::Template;
use super::super::type_expr::TypeExpr;
use super::super::version::{Version, VersionRange};
use super::reader::{Reader, TableKey, Value};

impl Reader<'_> {
    pub(super) fn string(&mut self, table_key: TableKey<'_>, value: &Value<'_>) -> Option<String> {
        match value.get_ref() {
            DeValue::String(text) if !text.is_empty() => Some(text.to_string()),
            _ => {
                self.error(table_key, value, "must be a non-empty string");
                None
            }
        }
    }

    /// Parses a non-empty string or a list of non-empty strings.
    pub(super) fn strings(&mut self, table_key: TableKey<'_>, value: &Value<'_>) -> Vec<String> {
        let items = self.strings_with_offsets(table_key, value);
        items.into_iter().map(|(text, _)| text).collect()
    }

    fn strings_with_offsets(&mut self, table_key: TableKey<'_>, value: &Value<'_>) -> Vec<(String, usize)> {
        let string = |value: &Value<'_>| match value.get_ref() {
            DeValue::String(text) if !text.is_empty() => Some((text.to_string(), value.span().start)),
            _ => None,
        };
        let items: Option<Vec<_>> = match value.get_ref() {
            DeValue::Array(items) if !items.is_empty() => items.iter().map(string).collect(),
            DeValue::Array(_) => None,
            _ => string(value).map(|item| vec![item]),
        };
        items.unwrap_or_else(|| {
            self.error(table_key, value, "must be a string or a list of strings");
            Vec::new()
        })
    }

    pub(super) fn boolean(&mut self, table_key: TableKey<'_>, value: &Value<'_>) -> Option<bool> {
        match value.get_ref() {
            DeValue::Boolean(value) => Some(*value),
            _ => {
                self.error(table_key, value, "must be true or false");
                None
            }
        }
    }

    pub(super) fn number(&mut self, table_key: TableKey<'_>, value: &Value<'_>) -> Option<f64> {
        match literal(value.get_ref()) {
            Some(Literal::Int(number)) => Some(number as f64),
            Some(Literal::Float(number)) => Some(number),
            _ => {
                self.error(table_key, value, "must be a number");
                None
            }
        }
    }

    /// Parses one word of a closed set.
    pub(super) fn word<T>(
        &mut self,
        table_key: TableKey<'_>,
        value: &Value<'_>,
        words: &[&str],
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let word_list = || words.join(", ");
        let DeValue::String(text) = value.get_ref() else {
            self.error(table_key, value, format!("must be one of {}", word_list()));
            return None;
        };
        let parsed = parse(text);
        if parsed.is_none() {
            let suggestion = did_you_mean(text, words.iter().copied());
            self.error(table_key, value, format!("`{text}` is not one of {}{suggestion}", word_list()));
        }
        parsed
    }

    /// Parses one word, or a list of words, of a closed set.
    pub(super) fn words<T>(
        &mut self,
        table_key: TableKey<'_>,
        value: &Value<'_>,
        words: &[&str],
        parse: impl Fn(&str) -> Option<T>,
    ) -> Vec<T> {
        match value.get_ref() {
            DeValue::Array(items) if !items.is_empty() => {
                items.iter().filter_map(|item| self.word(table_key, item, words, &parse)).collect()
            }
            DeValue::Array(_) => {
                self.error(table_key, value, "must not be empty");
                Vec::new()
            }
            _ => self.word(table_key, value, words, parse).into_iter().collect(),
        }
    }

    /// Parses a list of runtimes.
    pub(super) fn runtimes(&mut self, table_key: TableKey<'_>, value: &Value<'_>) -> Vec<Runtime> {
        if !matches!(value.get_ref(), DeValue::Array(_)) {
            self.error(table_key, value, "must be a list of runtimes");
            return Vec::new();
        }
        self.words(table_key, value, &runtime_words(), Runtime::parse)
    }

    pub(super) fn argument(&mut self, table_key: TableKey<'_>, value: &Value<'_>) -> Option<Argument> {
        let argument = argument(value.get_ref());
        if argument.is_none() {
            self.error(table_key, value, format!("must be an argument: {}", Argument::EXPECTED_FORMS));
        }
        argument
    }

    pub(super) fn version(&mut self, table_key: TableKey<'_>, value: &Value<'_>) -> Option<VersionRange> {
        let DeValue::String(text) = value.get_ref() else {
            self.error(table_key, value, r#"must be a version range such as ">=2,<3""#);
            return None;
        };
        let range = VersionRange::parse(text);
        if range.is_none() {
            self.error(table_key, value, format!(r#"`{text}` is not a version range such as ">=2,<3""#));
        }
        range
    }

    pub(super) fn since(&mut self, table_key: TableKey<'_>, value: &Value<'_>) -> Option<Version> {
        let version = value.get_ref().as_str().and_then(Version::parse);
        if version.is_none() {
            self.error(table_key, value, r#"must be a version such as "3.3""#);
        }
        version
    }

    pub(super) fn type_expr(&mut self, table_key: TableKey<'_>, value: &Value<'_>) -> Option<TypeExpr> {
        let text = self.string(table_key, value)?;
        let language = self.language?;
        let parsed = TypeExpr::parse(&text, language);
        if parsed.is_none() {
            self.error(table_key, value, format!("`{text}` is not a type of {language}"));
        }
        parsed
    }

    /// Parses a type or a list of types.
    pub(super) fn type_exprs(&mut self, table_key: TableKey<'_>, value: &Value<'_>) -> Vec<TypeExpr> {
        match value.get_ref() {
            DeValue::Array(items) => items.iter().filter_map(|item| self.type_expr(table_key, item)).collect(),
            _ => self.type_expr(table_key, value).into_iter().collect(),
        }
    }

    /// Parses a path or a list of paths, and expands their braces; empty if the language is unknown.
    pub(super) fn paths(&mut self, table_key: TableKey<'_>, value: &Value<'_>) -> Vec<Path> {
        let texts = self.strings_with_offsets(table_key, value);
        let Some(language) = self.language else { return Vec::new() };
        let mut paths = Vec::new();
        for (text, offset) in texts {
            match expand(&text) {
                Err(why) => self.error_in(table_key.table, table_key.key, offset, why),
                Ok(expanded) => {
                    for text in expanded {
                        match Path::parse(&text, self.line(offset), language) {
                            Some(path) => paths.push(path),
                            None => {
                                self.error_in(
                                    table_key.table,
                                    table_key.key,
                                    offset,
                                    format!("`{text}` is not a path of {language}"),
                                );
                            }
                        }
                    }
                }
            }
        }
        paths
    }

    /// Parses a path or a list of paths, and returns the expanded texts.
    pub(super) fn path_texts(&mut self, table_key: TableKey<'_>, value: &Value<'_>) -> Vec<String> {
        self.paths(table_key, value).into_iter().map(|path| path.text).collect()
    }

    pub(super) fn template(&mut self, table_key: TableKey<'_>, value: &Value<'_>) -> Option<Template> {
        let text = self.string(table_key, value)?;
        match Template::parse(&text) {
            Ok(template) => Some(template),
            Err(why) => {
                self.error(table_key, value, why);
                None
            }
        }
    }

    pub(super) fn instead(&mut self, table_key: TableKey<'_>, value: &Value<'_>) -> Option<Instead> {
        let DeValue::Table(table) = value.get_ref() else {
            return Some(Instead::Any(self.path_texts(table_key, value)));
        };
        Some(Instead::ByRuntime(
            self.by_runtime(table_key, table, |reader, value| Some(reader.path_texts(table_key, value))),
        ))
    }

    pub(super) fn rewrite(&mut self, table_key: TableKey<'_>, value: &Value<'_>) -> Option<Rewrite> {
        let DeValue::Table(table) = value.get_ref() else {
            return self.template(table_key, value).map(Rewrite::Any);
        };
        Some(Rewrite::ByRuntime(self.by_runtime(table_key, table, |reader, value| reader.template(table_key, value))))
    }

    /// Parses a table with a value for each runtime.
    fn by_runtime<T>(
        &mut self,
        table_key: TableKey<'_>,
        table: &DeTable<'_>,
        mut read: impl FnMut(&mut Self, &Value<'_>) -> Option<T>,
    ) -> Vec<(Runtime, T)> {
        let mut pairs = Vec::new();
        for (key, value) in table.iter() {
            let read = read(self, value);
            match Runtime::parse(key.get_ref()) {
                Some(runtime) => pairs.extend(read.map(|read| (runtime, read))),
                None => {
                    let words = runtime_words();
                    let suggestion = did_you_mean(key.get_ref(), words.iter().copied());
                    let message = format!("`{}` is not a runtime{suggestion}", key.get_ref());
                    self.error_in(table_key.table, table_key.key, key.span().start, message);
                }
            }
        }
        pairs
    }
}

/// Returns the written forms of all runtimes.
pub(super) fn runtime_words() -> Vec<&'static str> {
    Runtime::ALL.iter().map(|runtime| runtime.as_str()).collect()
}

/// Parses an argument, which is a number or a string.
pub(super) fn argument(value: &DeValue<'_>) -> Option<Argument> {
    match value {
        DeValue::String(text) => Argument::parse(text),
        _ => match literal(value)? {
            Literal::Int(position) => i32::try_from(position).ok().map(Argument::Position),
            _ => None,
        },
    }
}

/// Parses a literal; `None` if the value is a date, a list or a table.
pub(super) fn literal(value: &DeValue<'_>) -> Option<Literal> {
    Some(match value {
        DeValue::Boolean(value) => Literal::Bool(*value),
        DeValue::String(text) => Literal::Str(text.to_string()),
        DeValue::Integer(number) => Literal::Int(i64::from_str_radix(number.as_str(), number.radix()).ok()?),
        DeValue::Float(number) => Literal::Float(number.as_str().parse().ok()?),
        DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => return None,
    })
}
