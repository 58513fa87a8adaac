//! Java: of several classes of a declared type the one that a field is named for: where a container finds several it takes the one of the
//! field's name (<https://docs.spring.io/spring-framework/reference/core/beans/annotation-config/autowired-qualifiers.html>).

use blocklint_core::Language;
use blocklint_facts::{Assign, BodyKind, ClassKind, Form};

use crate::linker::{Linker, Typed};
use crate::program::ids::{ClassRef, FileId};
use crate::values::value::{ArgsId, Val};

/// Classes that are looked at for one field.
const MOST: usize = 64;

impl Linker<'_> {
    /// A field's declared type, or the class of that type that the field is named for, where there are several.
    pub(crate) fn named_for(&self, file: FileId, row: &Assign, declared: Typed) -> Typed {
        let facts = self.program.facts(file);
        let Form::Var(var) = facts.form(row.target) else { return declared };
        if facts.language != Language::Java
            || row.value.is_some()
            || facts.body(facts.var(var).body).kind != BodyKind::Class
        {
            return declared;
        }
        let [Val::Instance { class, exact: false, .. }] = self.values.members(declared.value)[..] else {
            return declared;
        };
        let field = facts.text(facts.var(var).name);
        let classes = self.classes_below(class);
        let mut named = classes.iter().filter(|of| {
            let facts = self.program.facts(of.file);
            is_object_of(facts.text(self.program.class(**of).name), field)
        });
        match (named.next(), named.next()) {
            (Some(&class), None) if classes.len() > 1 => {
                Typed { value: self.values.one(Val::Instance { class, exact: false, args: ArgsId::NONE }), ..declared }
            }
            _ => declared,
        }
    }

    /// The classes that derive from one, those of tests apart.
    fn classes_below(&self, class: ClassRef) -> Vec<ClassRef> {
        let mut seen = vec![class];
        let mut at = 0;
        while at < seen.len() && seen.len() < MOST {
            for &next in self.derived(seen[at]).iter() {
                if !seen.contains(&next) {
                    seen.push(next);
                }
            }
            at += 1;
        }
        seen.retain(|of| {
            let is_class = self.program.class(*of).kind != ClassKind::Interface;
            *of != class && is_class && !self.program.is_test(of.file)
        });
        seen
    }
}

/// Whether a field has the name that a container gives the object of a class: `bankPayment` of `BankPayment`.
fn is_object_of(class: &str, field: &str) -> bool {
    let (mut class, mut field) = (class.chars(), field.chars());
    match (class.next(), field.next()) {
        (Some(a), Some(b)) => a.is_uppercase() && a.to_lowercase().eq([b]) && class.eq(field),
        _ => false,
    }
}
