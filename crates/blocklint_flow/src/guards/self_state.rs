//! Python: tests of an object's fields in two of its methods. If a method calls `self.other()` under a test of a field (`if self.ready:`),
//! branches of `other` under the opposite test (`if not self.ready:`) are ruled out.

use blocklint_facts::RegionId;
use blocklint_link::program::ids::FileId;
use std::rc::Rc;

use blocklint_core::Language;
use blocklint_facts::{Comparison, Form, FormId};
use blocklint_link::effect::constant::Constant;
use blocklint_link::linker::Linker;
use blocklint_link::linker::query::{Plain, Table};
use blocklint_link::program::ids::{BodyRef, Name, SiteRef};
use blocklint_link::program::occurrences::is_own_receiver;
use blocklint_link::syntax::test_outcomes::each_decided_part;
use blocklint_link::values::value::EnvId;

use crate::callers::{Caller, CallerKind};

/// Answers of this file that are kept for one program.
#[derive(Default)]
struct Memo {
    /// Tests of the fields of an object by the branches around a place.
    own_tests: Table<(FileId, RegionId), OwnTests, Plain>,
}

/// A field is, or is not, one literal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OwnTest {
    field: Name,
    literal: Constant,
    equal: bool,
}

impl OwnTest {
    /// True if both cannot hold of one object.
    fn contradicts(&self, other: &OwnTest) -> bool {
        self.field == other.field
            && match (self.equal, other.equal) {
                (true, true) => self.literal != other.literal,
                (false, false) => false,
                _ => self.literal == other.literal,
            }
    }
}

/// Tests of an object's fields in the branches around a place.
pub(crate) type OwnTests = Rc<[OwnTest]>;

/// True if what a method asks of its object's fields around a call on itself rules out that a site of the method it calls is reached.
pub(crate) fn own_state_rules_out(linker: &Linker<'_>, caller: Caller, body: BodyRef, site: SiteRef) -> bool {
    if caller.arg.is_some() || caller.kind != CallerKind::Runs || linker.program.body_of_site(site) != body {
        return false;
    }
    let asked = own_tests_over(linker, site);
    if asked.is_empty() {
        return false;
    }
    let on_itself = linker
        .receiver_form(caller.site)
        .is_some_and(|form| is_own_receiver(linker.program.facts(caller.site.file), form));
    let calling = linker.program.body_of_site(caller.site);
    on_itself
        && own_tests_over(linker, caller.site).iter().any(|before| {
            asked.iter().any(|test| test.contradicts(before))
                && !assigns_field(linker, calling, before.field)
                && !assigns_field(linker, body, before.field)
        })
}

/// Returns the tests, in the branches around a site, of the fields of the object whose method it stands in; remembered for its branch.
pub(crate) fn own_tests_over(linker: &Linker<'_>, site: SiteRef) -> OwnTests {
    let facts = linker.program.facts(site.file);
    let region = linker.program.site(site).at.region;
    linker.query(&linker.layer_memo::<Memo>().own_tests, (site.file, region), Rc::default, || {
        let mut found = Vec::new();
        if facts.language == Language::Python {
            for (test, holds) in linker.tests_around(site) {
                let mut add = |part, holds| found.extend(own_test(linker, site, part, holds));
                each_decided_part(facts, test, holds, &mut add);
            }
        }
        Rc::from(found)
    })
}

/// Returns the test of an object's field in a comparison that comes out as `holds`.
fn own_test(linker: &Linker<'_>, site: SiteRef, test: FormId, holds: bool) -> Option<OwnTest> {
    let facts = linker.program.facts(site.file);
    let Form::Compare(comparison @ (Comparison::Eq | Comparison::NotEq), left, right) = facts.form(test) else {
        return None;
    };
    let Form::Attr(base, sym) = facts.form(left) else { return None };
    if !is_own_receiver(facts, base) {
        return None;
    }
    let body = facts.body_of(linker.program.site(site).at);
    let literal = linker.constant_in(site.file.body_ref(body), right, EnvId::NONE, 2);
    if !matches!(literal, Constant::Str(_) | Constant::Int(_)) {
        return None;
    }
    let field = linker.program.global(site.file, sym)?;
    Some(OwnTest { field, literal, equal: holds == (comparison == Comparison::Eq) })
}

/// True if a body assigns a field of this name.
fn assigns_field(linker: &Linker<'_>, body: BodyRef, field: Name) -> bool {
    let (facts, body_id) = linker.program.facts_and_id(body);
    linker.program.local(body.file, field).is_some_and(|sym| {
        let assigns = linker.program.index_of(body.file).attr_assigns(sym);
        assigns.iter().any(|&(assign, _)| facts.body_of(facts.assign(assign).at) == body_id)
    })
}
