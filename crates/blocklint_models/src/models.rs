//! All models of a run (`Models`): the built-in ones, those that packages ship, and the user's; and the checks of model
//! files.

use std::sync::{Arc, OnceLock};

use blocklint_builtin::{JAVA, PYTHON, RUST};
use blocklint_core::{Language, Severity, Work};

use crate::format::{self, DeclaredNames, Layer, NoDeclarations, Origin};
use crate::language_models::LanguageModels;
use crate::matches::LayerKind;
use crate::severity::SeverityTable;
use crate::{File, ModelError};

/// Returns the built-in table of a language, which is decoded at the first call in the process.
fn builtin(language: Language) -> Arc<Layer> {
    static LAYERS: [OnceLock<Arc<Layer>>; 3] = [const { OnceLock::new() }; 3];
    let (cell, bytes) = match language {
        Language::Python => (&LAYERS[0], PYTHON),
        Language::Rust => (&LAYERS[1], RUST),
        Language::Java => (&LAYERS[2], JAVA),
    };
    // The build script has read these bytes, so the empty layer is never used.
    Arc::clone(cell.get_or_init(|| Arc::new(Layer::from_bytes(bytes).unwrap_or_else(|_| Layer::empty(language)))))
}

/// The models of all languages.
#[derive(Debug)]
pub struct Models {
    languages: [OnceLock<LanguageModels>; 3],
    user: Vec<Arc<Layer>>,
    shipped: Vec<Arc<Layer>>,
    builtin: bool,
    severities: SeverityTable,
}

/// A table could not be compiled. Files without errors never cause it.
#[derive(Debug, thiserror::Error)]
#[error("cannot compile models: {0}")]
pub struct CompileError(#[from] postcard::Error);

impl Models {
    /// Returns the models that are compiled into blocklint.
    pub fn builtin() -> Self {
        Models {
            languages: Default::default(),
            user: Vec::new(),
            shipped: Vec::new(),
            builtin: true,
            severities: SeverityTable::default(),
        }
    }

    /// Returns the user's models, which take precedence, and the built-in ones. The files must be free of errors
    /// (`check_user_files`).
    ///
    /// # Errors
    /// Returns an error if the user's table cannot be compiled.
    pub fn with_user(files: &[File]) -> Result<Self, CompileError> {
        Ok(Models { user: compile_layers(files)?, ..Self::builtin() })
    }

    /// Returns the user's models, those that packages ship (from [`read_shipped`]), and the built-in ones, in this
    /// order of precedence.
    ///
    /// # Errors
    /// Returns an error if a table cannot be compiled.
    pub fn with_shipped(user: &[File], shipped: &[File]) -> Result<Self, CompileError> {
        Ok(Models { user: compile_layers(user)?, shipped: compile_layers(shipped)?, ..Self::builtin() })
    }

    /// Returns only the models of these files, as if they were the built-in ones, for tests and tools.
    ///
    /// # Errors
    /// Returns an error if the table cannot be compiled.
    pub fn only(files: &[File]) -> Result<Self, CompileError> {
        Ok(Models { user: compile_layers(files)?, builtin: false, ..Self::builtin() })
    }

    /// Returns the models with the user's severities of kinds of work.
    pub fn with_severities(mut self, lines: impl IntoIterator<Item = (Work, Severity)>) -> Self {
        for (work, severity) in lines {
            self.severities.set(work, severity);
        }
        self
    }

    /// Returns the severities of the kinds of work.
    pub fn severities(&self) -> &SeverityTable {
        &self.severities
    }

    /// Returns the models of one language.
    pub fn lang(&self, language: Language) -> &LanguageModels {
        let cell = match language {
            Language::Python => &self.languages[0],
            Language::Rust => &self.languages[1],
            Language::Java => &self.languages[2],
        };
        cell.get_or_init(|| {
            let kind = if self.builtin { LayerKind::User } else { LayerKind::BuiltIn };
            let user = self.user.iter().filter(|layer| layer.language() == language);
            let mut layers: Vec<_> = user.map(|layer| (kind, Arc::clone(layer))).collect();
            let shipped = self.shipped.iter().filter(|layer| layer.language() == language);
            layers.extend(shipped.map(|layer| (LayerKind::Shipped, Arc::clone(layer))));
            if self.builtin {
                layers.push((LayerKind::BuiltIn, builtin(language)));
            }
            LanguageModels::new(language, layers)
        })
    }
}

/// Compiles files to one layer for each of their languages.
fn compile_layers(files: &[File]) -> Result<Vec<Arc<Layer>>, CompileError> {
    let has_model = |language: &&Language| files.iter().any(|file| file.info.language == **language);
    let compile = |language: &Language| Ok(Arc::new(format::compile(files, *language)?));
    Language::ALL.iter().filter(has_model).map(compile).collect()
}

/// Reads and checks one file of `[tool.blocklint] models` without the others, with its errors. `label` is the file's
/// name in messages. Returns no file if its `language` is unknown.
pub fn check_user_file(label: &str, text: &str) -> (Option<File>, Vec<ModelError>) {
    let (file, mut errors) = format::read_file(label, text, Origin::User);
    let lower_layers = Models::builtin();
    errors.extend(format::check_layer(file.as_slice(), Origin::User, &lower_layers));
    errors.sort();
    errors.dedup();
    (file, errors)
}

/// The maximal number of checks of a shipped file. A check is repeated, because an error can appear only after another
/// row was dropped.
const MAX_SHIPPED_CHECKS: usize = 4;

/// Reads and checks a file that a package ships, with its errors. The file may describe only names under `tops`, the
/// package's top-level names. Rows with errors are dropped, because a user of the package cannot correct them. Returns
/// no file if its header has an error.
pub fn read_shipped(label: &str, text: &str, tops: &[String]) -> (Option<File>, Vec<ModelError>) {
    let (file, mut errors) = format::read_file(label, text, Origin::Shipped);
    let Some(mut file) = file else { return (None, errors) };
    let separator = crate::separator(file.info.language);
    let is_of_package = |root: &String| tops.iter().any(|top| root.split(separator).next() == Some(top));
    let foreign = file.info.roots.iter().filter(|root| !is_of_package(root)).map(|root| ModelError {
        file: label.to_owned(),
        line: 1,
        table: crate::Table::Top,
        key: "roots".to_owned(),
        message: format!("`{root}` is not one of the package's own names ({})", tops.join(", ")),
    });
    errors.extend(foreign);
    if errors.iter().any(|error| error.table == crate::Table::Top) {
        return (None, errors);
    }
    let lower_layers = Models::builtin();
    for _ in 0..MAX_SHIPPED_CHECKS {
        let layer_errors = format::check_layer(std::slice::from_ref(&file), Origin::Shipped, &lower_layers);
        if layer_errors.is_empty() {
            errors.sort();
            errors.dedup();
            return (Some(file), errors);
        }
        file.drop_rows(&layer_errors);
        errors.extend(layer_errors);
    }
    errors.sort();
    errors.dedup();
    (None, errors)
}

/// Reads and checks all user files together, and returns them for [`Models::with_user`]. Each source is a label for
/// messages and a text.
///
/// # Errors
/// Returns all errors of all files, sorted by file and line.
pub fn check_user_files<'a>(
    sources: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Vec<File>, Vec<ModelError>> {
    check_files(sources, Origin::User)
}

/// Reads and checks files as built-in ones, as the build does with `rules/models`.
///
/// # Errors
/// Returns all errors of all files, sorted by file and line.
pub fn check_builtin_files<'a>(
    sources: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Vec<File>, Vec<ModelError>> {
    check_files(sources, Origin::BuiltIn)
}

/// Reads and checks files of one origin together.
///
/// # Errors
/// Returns all errors of all files, sorted by file and line.
pub fn check_files<'a>(
    sources: impl IntoIterator<Item = (&'a str, &'a str)>,
    origin: Origin,
) -> Result<Vec<File>, Vec<ModelError>> {
    let builtin = Models::builtin();
    let lower_layers: &dyn DeclaredNames = if origin == Origin::BuiltIn { &NoDeclarations } else { &builtin };
    let (mut files, mut errors) = (Vec::new(), Vec::new());
    for (label, text) in sources {
        let (file, file_errors) = format::read_file(label, text, origin);
        files.extend(file);
        errors.extend(file_errors);
    }
    errors.extend(format::check_layer(&files, origin, lower_layers));
    errors.sort();
    errors.dedup();
    if errors.is_empty() { Ok(files) } else { Err(errors) }
}

impl DeclaredNames for Models {
    fn tags(&self, language: Language) -> Vec<String> {
        self.lang(language).layers().flat_map(|(_, layer)| layer.tags().to_vec()).collect()
    }

    fn switches(&self, language: Language) -> Vec<String> {
        self.lang(language).switches().map(|(switch, _)| switch.name.clone()).collect()
    }

    fn params(&self, language: Language, path: &str) -> Vec<String> {
        self.lang(language).ty(path).map_or(Vec::new(), |rows| rows.params().to_vec())
    }

    fn is_described(&self, language: Language, path: &str) -> bool {
        self.lang(language).knows_prefix(path)
    }

    fn alias(&self, language: Language, spelling: &str) -> Option<String> {
        self.lang(language).layers().find_map(|(_, layer)| layer.alias(spelling)).map(str::to_owned)
    }

    fn library(&self, language: Language, name: &str) -> Option<bool> {
        let layers = || self.lang(language).layers();
        let is_known = layers().any(|(_, layer)| {
            layer.files().iter().any(|file| file.libraries.iter().any(|name_in_file| name_in_file == name))
        });
        is_known.then(|| layers().any(|(_, layer)| layer.native_libraries().iter().any(|library| library == name)))
    }

    fn find_blocking_row(&self, language: Language, path: &str) -> Option<String> {
        self.lang(language).layers().find_map(|(_, layer)| format::find_blocking_row(layer, path)).flatten()
    }
}
