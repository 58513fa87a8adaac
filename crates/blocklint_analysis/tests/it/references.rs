//! References to rows (`BodyRef`, `SiteRef`) have a private index, so that no code can use it with the facts of another
//! file.

use std::fs;

use crate::layers::crates_folder;

/// Each reference type with its index field.
const REFERENCES: [(&str, &str); 4] = [
    ("BodyRef", "body: BodyId"),
    ("ClassRef", "class: ClassId"),
    ("SiteRef", "site: SiteId"),
    ("VarRef", "var: VarId"),
];

#[test]
fn only_the_program_sees_the_index_of_a_reference() {
    let crates = crates_folder();
    let text = fs::read_to_string(crates.join("blocklint_link/src/program/ids.rs")).expect("the references");
    for (name, index) in REFERENCES {
        let (_, rest) = text.split_once(&format!("pub struct {name} {{")).expect(name);
        let (fields, _) = rest.split_once('}').expect(name);
        let field = fields.lines().find(|line| line.contains(index)).expect(index).trim();
        assert_eq!(field, format!("pub(super) {index},"), "{name} shows its index outside of `program/`");
    }
}
