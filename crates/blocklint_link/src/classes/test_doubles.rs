//! Test doubles among the classes of a program: mocks and fakes in its own sources that only tests name.

use crate::lang;
use crate::linker::Linker;
use crate::program::ids::{BodyRef, ClassRef};
use blocklint_facts::BodyId;

/// Words in the names of classes that stand in for others: `MockStore`, `InMemoryFakeClient`.
const DOUBLES: &[&str] = &["Mock", "Fake", "Stub", "Dummy", "Spy"];

impl Linker<'_> {
    /// True if the class of a method is a double by its name, and only tests name the class: `MockStore` beside
    /// `Store`, which `StoreTest` makes. An annotated class may be made by a framework.
    pub(crate) fn is_double_for_tests(&self, body: BodyRef) -> bool {
        let Some(class) = self.program.body(body).class.get() else { return false };
        let class = body.file.class_ref(class);
        self.query(&self.tables.classes.doubles, class, bool::default, || self.find_double(class))
    }

    fn find_double(&self, class: ClassRef) -> bool {
        let facts = self.program.facts(class.file);
        let row = self.program.class(class);
        let name = facts.body(row.body).name;
        if !is_name_of_double(facts.text(name)) || !facts.list(row.decorators).is_empty() {
            return false;
        }
        let Some(name) = self.program.global(class.file, name) else { return false };
        let mut others =
            self.program.occurrences(name).iter().map(|&(file, _)| file).filter(|&file| file != class.file).peekable();
        others.peek().is_some()
            && others.all(|file| {
                self.is_for_tests(file.body_ref(BodyId(0)))
                    || lang::semantics(self.program.language(file)).is_test_module(self, file)
            })
    }
}

/// True if a word of a name says that the class is a double: `MockStore`, but not `Mockingbird`.
fn is_name_of_double(name: &str) -> bool {
    DOUBLES.iter().any(|word| {
        name.match_indices(word).any(|(start, _)| {
            let next = name[start + word.len()..].chars().next();
            next.is_none_or(|next| !next.is_lowercase() || name[start + word.len()..].starts_with("ed"))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::is_name_of_double;

    #[test]
    fn a_double_is_a_word_of_its_own() {
        for name in ["MockStore", "StoreMock", "MockedStore", "HttpFakeClient"] {
            assert!(is_name_of_double(name), "{name}");
        }
        for name in ["Mockingbird", "StubbornQueue", "Store", "Spyglass"] {
            assert!(!is_name_of_double(name), "{name}");
        }
    }
}
