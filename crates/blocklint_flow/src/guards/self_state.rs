//! Tests of an object's fields in two of its methods (Python). If a method calls `self.other()` under a test of a field
//! (`if self.mode == "remote":`), branches of `other` under a contradicting test (`if self.mode == "local":`) are ruled
//! out.

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

/// Results of this file's queries, stored for one program.
#[derive(Default)]
struct Memo {
    /// By branch: the tests of the object's own fields in it and in the branches around it.
    own_tests: Table<(FileId, RegionId), OwnTests, Plain>,
}

/// A test of a field of `self` against a literal: `self.mode == "remote"`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OwnTest {
    field: Name,
    literal: Constant,
    /// True if the field equals the literal, false if it differs from it.
    is_equal: bool,
}

impl OwnTest {
    /// True if the two tests cannot both hold for one object.
    fn contradicts(&self, other: &OwnTest) -> bool {
        self.field == other.field
            && match (self.is_equal, other.is_equal) {
                (true, true) => self.literal != other.literal,
                (false, false) => false,
                _ => self.literal == other.literal,
            }
    }
}

/// The tests of an object's own fields in the branches around a site.
pub(crate) type OwnTests = Rc<[OwnTest]>;

/// True if the tests around a call on `self` contradict the tests around a site of the callee, so that the call does
/// not reach the site. The caller and the callee must not assign the field.
pub(crate) fn own_state_rules_out(linker: &Linker<'_>, caller: Caller, body: BodyRef, site: SiteRef) -> bool {
    if caller.arg.is_some() || caller.kind != CallerKind::Runs || linker.program.body_of_site(site) != body {
        return false;
    }
    let site_tests = own_tests_over(linker, site);
    if site_tests.is_empty() {
        return false;
    }
    let is_on_self = linker
        .receiver_form(caller.site)
        .is_some_and(|form| is_own_receiver(linker.program.facts(caller.site.file), form));
    let calling = linker.program.body_of_site(caller.site);
    is_on_self
        && own_tests_over(linker, caller.site).iter().any(|call_test| {
            site_tests.iter().any(|test| test.contradicts(call_test))
                && !assigns_field(linker, calling, call_test.field)
                && !assigns_field(linker, body, call_test.field)
        })
}

/// Returns the tests of the fields of `self` in the branches around a site; cached by branch.
pub(crate) fn own_tests_over(linker: &Linker<'_>, site: SiteRef) -> OwnTests {
    let facts = linker.program.facts(site.file);
    let region = linker.program.site(site).at.region;
    linker.query(&linker.layer_memo::<Memo>().own_tests, (site.file, region), Rc::default, || {
        let mut tests = Vec::new();
        if facts.language == Language::Python {
            for (test, outcome) in linker.tests_around(site) {
                let mut add = |part, outcome| tests.extend(read_own_test(linker, site, part, outcome));
                each_decided_part(facts, test, outcome, &mut add);
            }
        }
        Rc::from(tests)
    })
}

/// Returns the test of a field of `self` that a comparison is, if the comparison evaluates to `outcome`.
fn read_own_test(linker: &Linker<'_>, site: SiteRef, test: FormId, outcome: bool) -> Option<OwnTest> {
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
    Some(OwnTest { field, literal, is_equal: outcome == (comparison == Comparison::Eq) })
}

/// True if a body assigns a field of this name.
fn assigns_field(linker: &Linker<'_>, body: BodyRef, field: Name) -> bool {
    let (facts, body_id) = linker.program.facts_and_id(body);
    linker.program.local(body.file, field).is_some_and(|sym| {
        let assigns = linker.program.index_of(body.file).attr_assigns(sym);
        assigns.iter().any(|&(assign, _)| facts.body_of(facts.assign(assign).at) == body_id)
    })
}
