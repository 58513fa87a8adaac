//! The check that the names in rows are declared: tags, switches, type parameters, libraries in `green`.

use blocklint_core::Language;
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::condition::{Condition, Subject, Test, TypeTest};
use super::super::error::{ModelError, Table, did_you_mean};
use super::super::path::{parent, split_parameters};
use super::super::rows::{Entry, File, FileInfo, Switch};
use super::super::type_expr::TypeExpr;
use super::DeclaredNames;

pub(super) fn check(files: &[File], lower_layers: &dyn DeclaredNames, errors: &mut Vec<ModelError>) {
    let declared = KnownNames::collect(files, lower_layers);
    for file in files {
        let mut names = NameCheck { info: &file.info, known: &declared, errors };
        for entry in &file.calls {
            names.check_conditions(Table::Call, entry, "when", &entry.row.when);
            names.check_conditions(Table::Call, entry, "unless", &entry.row.unless);
            names.check_types(Table::Call, entry, "returns", entry.row.returns.iter());
        }
        for entry in &file.types {
            let row = &entry.row;
            names.check_types(Table::Type, entry, "bases", row.bases.iter());
            names.check_types(Table::Type, entry, "fields", row.fields.iter().map(|(_, ty)| ty));
            names.check_types(Table::Type, entry, "element", row.element.iter());
            names.check_types(Table::Type, entry, "awaits", row.awaits.iter());
            names.check_types(Table::Type, entry, "enters", row.enters.iter());
        }
        for entry in &file.handovers {
            names.check_conditions(Table::Handover, entry, "when", &entry.row.when);
            names.check_conditions(Table::Handover, entry, "unless", &entry.row.unless);
            names.check_types(Table::Handover, entry, "gives", entry.row.gives.iter());
        }
        for switch in &file.switches {
            names.check_switch(switch);
        }
    }
}

/// The names that this layer and those below declare.
struct KnownNames<'f> {
    tags: FxHashMap<Language, FxHashSet<String>>,
    switches: FxHashMap<Language, FxHashSet<String>>,
    /// The first file and line that declare each switch of this layer.
    switch_places: FxHashMap<&'f str, (&'f str, u32)>,
    params: FxHashMap<(Language, &'f str), &'f [String]>,
    libraries: FxHashMap<(Language, &'f str), bool>,
    lower_layers: &'f dyn DeclaredNames,
}

impl<'f> KnownNames<'f> {
    fn collect(files: &'f [File], lower_layers: &'f dyn DeclaredNames) -> Self {
        let mut known = KnownNames {
            tags: FxHashMap::default(),
            switches: FxHashMap::default(),
            switch_places: FxHashMap::default(),
            params: FxHashMap::default(),
            libraries: FxHashMap::default(),
            lower_layers,
        };
        for language in Language::ALL {
            known.tags.insert(*language, lower_layers.tags(*language).into_iter().collect());
            known.switches.insert(*language, lower_layers.switches(*language).into_iter().collect());
        }
        for file in files {
            let language = file.info.language;
            let tags = file.types.iter().flat_map(|entry| entry.row.tags.iter().cloned());
            known.tags.entry(language).or_default().extend(tags);
            for switch in &file.switches {
                let name = &switch.row.name;
                known.switches.entry(language).or_default().insert(name.clone());
                let place = (file.info.label.as_str(), switch.line);
                let first = known.switch_places.entry(name).or_insert(place);
                *first = (*first).min(place);
            }
            for entry in file.types.iter().filter(|entry| !entry.row.params.is_empty()) {
                for path in &entry.paths {
                    known.params.insert((language, path.text.as_str()), &entry.row.params);
                }
            }
            let native = file.calls.iter().any(|entry| entry.row.native);
            for library in &file.info.libraries {
                *known.libraries.entry((language, library)).or_default() |= native;
            }
        }
        known
    }

    fn has_param(&self, language: Language, ty: &str, name: &str) -> bool {
        match self.params.get(&(language, ty)) {
            Some(params) => params.iter().any(|param| param == name),
            None => self.lower_layers.params(language, ty).iter().any(|param| param == name),
        }
    }
}

struct NameCheck<'c> {
    info: &'c FileInfo,
    known: &'c KnownNames<'c>,
    errors: &'c mut Vec<ModelError>,
}

impl NameCheck<'_> {
    fn check_conditions<R>(&mut self, table: Table, entry: &Entry<R>, key: &str, conditions: &[Condition]) {
        let language = self.info.language;
        for condition in conditions {
            if let (Subject::Switch(names), Some(switches)) = (&condition.subject, self.known.switches.get(&language)) {
                for name in names.iter().filter(|name| !switches.contains(*name)) {
                    let suggestion = did_you_mean(name, switches.iter().map(String::as_str));
                    self.errors.push(entry.error(
                        self.info,
                        table,
                        key,
                        format!("no switch is named `{name}`{suggestion}"),
                    ));
                }
            }
            for test in &condition.tests {
                let (Test::Type(types), Some(tags)) = (test, self.known.tags.get(&language)) else { continue };
                for test in types {
                    match test {
                        TypeTest::Tag(tag) if !tags.contains(tag) => {
                            let marked: Vec<String> = tags.iter().map(|known| format!("#{known}")).collect();
                            let suggestion = did_you_mean(&format!("#{tag}"), marked.iter().map(String::as_str));
                            let message = format!("no type has the tag `#{tag}`{suggestion}");
                            self.errors.push(entry.error(self.info, table, key, message));
                        }
                        TypeTest::Tag(_) => {}
                        TypeTest::Type(ty) => self.check_types(table, entry, key, std::iter::once(ty)),
                    }
                }
            }
        }
    }

    /// Reports single-segment names in types that are no type parameter (`T`). A row of a type has the parameters of
    /// that type; a row of a member has those of the member's type.
    fn check_types<'t, R>(
        &mut self,
        table: Table,
        entry: &Entry<R>,
        key: &str,
        types: impl Iterator<Item = &'t TypeExpr>,
    ) {
        let language = self.info.language;
        let mut unknown: Vec<&str> = Vec::new();
        for expression in types {
            expression.visit(&mut |part| {
                let name = match part {
                    TypeExpr::Parameter(name) => name,
                    TypeExpr::Path { path, .. } if !path.contains(super::super::separator(language)) => path,
                    _ => return,
                };
                let declared = entry.paths.iter().any(|path| {
                    let body = split_parameters(&path.text).0;
                    self.known.has_param(language, body, name)
                        || self.known.has_param(language, parent(body, language), name)
                });
                if !declared {
                    unknown.push(name);
                }
            });
        }
        for name in unknown {
            let suggestion =
                builtin_type_path(name, language).map_or(String::new(), |path| format!("; did you mean `{path}`?"));
            let message = format!("`{name}` is neither a path nor one of the type's params{suggestion}");
            self.errors.push(entry.error(self.info, table, key, message));
        }
    }

    fn check_switch(&mut self, entry: &Entry<Switch>) {
        let switch = &entry.row;
        let mut error = |key: &str, message: String| {
            self.errors.push(entry.error(self.info, Table::Switch, key, message));
        };
        if let Some((label, line)) = self.known.switch_places.get(switch.name.as_str())
            && (*label, *line) != (self.info.label.as_str(), entry.line)
        {
            error("name", format!("switch `{}` is already declared in {label}:{line}", switch.name));
        }
        let language = self.info.language;
        for library in &switch.green {
            let is_native_below = || self.known.lower_layers.library(language, library);
            match self.known.libraries.get(&(language, library.as_str())).copied().or_else(is_native_below) {
                Some(true) => {}
                Some(false) => error("green", format!("`{library}` has no row with `native`")),
                None => {
                    let names = self.known.libraries.keys().filter(|(own, _)| *own == language).map(|(_, name)| *name);
                    error("green", format!("no model has library `{library}`{}", did_you_mean(library, names)));
                }
            }
        }
    }
}

/// Returns the path of a type whose name programs may use without an import: `builtins.str` for `str`.
fn builtin_type_path(name: &str, language: Language) -> Option<String> {
    let (names, module) = match language {
        Language::Python => {
            let names: &[&str] = &[
                "bool",
                "bytearray",
                "bytes",
                "dict",
                "float",
                "frozenset",
                "int",
                "list",
                "memoryview",
                "object",
                "range",
                "set",
                "slice",
                "str",
                "tuple",
                "type",
            ];
            (names, "builtins.")
        }
        Language::Java => {
            let names: &[&str] = &["Boolean", "Integer", "Iterable", "Long", "Object", "Runnable", "String", "Thread"];
            (names, "java.lang.")
        }
        Language::Rust => {
            let module = match name {
                "Option" => "core::option::",
                "Result" => "core::result::",
                "Vec" => "alloc::vec::",
                "String" => "alloc::string::",
                "Box" => "std::boxed::",
                _ => return None,
            };
            return Some(format!("{module}{name}"));
        }
    };
    names.contains(&name).then(|| format!("{module}{name}"))
}
