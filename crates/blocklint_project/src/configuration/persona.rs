//! Personas: names for the strictness of a run, which set the least severity and confidence.

use blocklint_core::{Confidence, Severity};

/// The strictness of a run. `min-severity` and `min-confidence` override it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Persona {
    /// Errors and warnings of at least medium confidence.
    #[default]
    Regular,
    /// Notes too.
    Pedantic,
    /// All findings, also those that only tests, examples and command lines reach.
    Auditor,
}

impl Persona {
    /// Every persona, the least strict first.
    pub const ALL: [Persona; 3] = [Persona::Regular, Persona::Pedantic, Persona::Auditor];

    /// Returns its name in configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Persona::Regular => "regular",
            Persona::Pedantic => "pedantic",
            Persona::Auditor => "auditor",
        }
    }

    /// Returns a description of the findings that it shows.
    pub fn says(self) -> &'static str {
        match self {
            Persona::Regular => "Errors and warnings that are sure enough to be worth your time",
            Persona::Pedantic => "Also notes: short blocking calls, and calls where blocking hardly matters",
            Persona::Auditor => {
                "All findings, however unsure, also those that only tests, examples and command lines reach"
            }
        }
    }

    /// Returns the persona with a name.
    pub fn parse(name: &str) -> Option<Self> {
        Persona::ALL.into_iter().find(|persona| persona.as_str() == name)
    }

    /// Returns the least severity and confidence of shown findings.
    pub fn levels(self) -> (Severity, Confidence) {
        match self {
            Persona::Regular => (Severity::Warning, Confidence::Medium),
            Persona::Pedantic => (Severity::Note, Confidence::Medium),
            Persona::Auditor => (Severity::Note, Confidence::Low),
        }
    }

    /// True if findings that only tests, examples and command lines reach are shown.
    pub fn looks_aside(self) -> bool {
        self == Persona::Auditor
    }
}
