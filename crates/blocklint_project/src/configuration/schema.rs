//! Generates the JSON schema of the configuration, for editors.

// The structures have the types of the keys; the descriptions come from the table of keys. No field is ever read.
#![allow(dead_code)]

use std::collections::BTreeMap;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::KEYS;

/// Every key with the type of its value.
#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Settings {
    extend: Option<String>,
    select: Option<Vec<String>>,
    extend_select: Option<Vec<String>>,
    ignore: Option<Vec<String>>,
    per_file_ignores: Option<BTreeMap<String, Vec<String>>>,
    exclude: Option<Vec<String>>,
    extend_exclude: Option<Vec<String>>,
    severity: Option<BTreeMap<String, SeverityName>>,
    min_severity: Option<SeverityName>,
    min_confidence: Option<ConfidenceName>,
    persona: Option<PersonaName>,
    models: Option<Paths>,
    switches: Option<Vec<String>>,
    require_reason: Option<bool>,
    baseline: Option<String>,
    max_file_size: Option<Size>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum SeverityName {
    Note,
    Warning,
    Error,
}

#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum ConfidenceName {
    Low,
    Medium,
    High,
}

#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum PersonaName {
    Regular,
    Pedantic,
    Auditor,
}

#[derive(JsonSchema)]
#[serde(untagged)]
enum Paths {
    One(String),
    Several(Vec<String>),
}

#[derive(JsonSchema)]
#[serde(untagged)]
enum Size {
    Bytes(u32),
    WithUnit(String),
}

/// Returns the JSON schema of a blocklint.toml, and of the tables in other files.
pub fn schema() -> Value {
    // SchemaStore accepts draft 7 and serves the schema at this address.
    let mut schema = SchemaSettings::draft07().into_generator().into_root_schema_for::<Settings>().to_value();
    schema["$id"] = json!("https://www.schemastore.org/blocklint.json");
    schema["title"] = json!("blocklint");
    schema["description"] =
        json!("The configuration of blocklint: a blocklint.toml, or `[tool.blocklint]` of a pyproject.toml.");
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        for key in KEYS {
            // A key is optional, but its value cannot be null, because TOML has no null.
            let Some(property) = properties.get_mut(key.name).and_then(Value::as_object_mut) else { continue };
            remove_null(property);
            property.insert("description".to_owned(), json!(key.says.split_whitespace().collect::<Vec<_>>().join(" ")));
            if let Ok(default) = serde_json::from_str::<Value>(key.default.trim_matches('`')) {
                property.insert("default".to_owned(), default);
            }
        }
    }
    schema
}

/// Removes `null` from the types that a property accepts.
fn remove_null(property: &mut serde_json::Map<String, Value>) {
    if let Some(Value::Array(types)) = property.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [choice] = types.as_slice() {
            let choice = choice.clone();
            property.insert("type".to_owned(), choice);
        }
    }
    if let Some(Value::Array(choices)) = property.get_mut("anyOf") {
        choices.retain(|choice| choice.get("type").is_none_or(|kind| kind != "null"));
        if let [Value::Object(choice)] = choices.as_slice() {
            let choice = choice.clone();
            property.remove("anyOf");
            property.extend(choice);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_has_exactly_the_known_keys() {
        let schema = schema();
        let properties = schema["properties"].as_object().expect("an object");
        let mut known = KEYS.map(|key| key.name.to_owned());
        let mut written: Vec<String> = properties.keys().cloned().collect();
        known.sort();
        written.sort();
        assert_eq!(written, known);
        assert!(properties.values().all(|property| property["description"].is_string()));
        assert_eq!(schema["additionalProperties"], json!(false));
    }
}
