//! The page for people: the causes of one function are one block, and each finding names the entry point that reaches
//! it.

use std::collections::HashMap;

use blocklint_core::Finding;
use blocklint_output::{Page, PageBlock};
use camino::Utf8Path;

use crate::choose::Chosen;
use crate::waiting::reached_from;

/// Returns the page of these findings: groups whose causes are in the same function are one block, at the place of its
/// first group.
pub fn page(chosen: &Chosen) -> Page {
    let mut blocks: Vec<PageBlock> = Vec::new();
    let mut block_of_function: HashMap<(&Utf8Path, &str), usize> = HashMap::new();
    for (index, group) in (0u32..).zip(&chosen.groups) {
        // A finding without a cause, and code at the top level of a file, belong to no function.
        let cause = group.cause.as_ref().filter(|cause| !cause.function.is_empty());
        let Some(cause) = cause else {
            blocks.push(PageBlock { groups: vec![index], function: String::new(), is_entry: false, reach: 0 });
            continue;
        };
        let block = *block_of_function.entry((&*cause.place.path, &cause.function)).or_insert_with(|| {
            let function = cause.function.clone();
            blocks.push(PageBlock { groups: Vec::new(), function, is_entry: true, reach: 0 });
            blocks.len() - 1
        });
        let block = &mut blocks[block];
        block.groups.push(index);
        block.reach = block.reach.max(cause.reach);
        let mut findings = group.findings.iter().filter_map(|&at| chosen.findings.get(at as usize));
        block.is_entry &= findings.all(|finding| is_in_function(finding, &cause.function));
    }
    Page { blocks, reached_from: chosen.findings.iter().map(reached_from).collect() }
}

/// True if the function with the finding makes the blocking call itself.
fn is_in_function(finding: &Finding, function: &str) -> bool {
    finding.trace.len() == 1 && finding.function == function
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use blocklint_core::{Cause, Place, RuleCode, Severity, Span};

    use super::*;

    /// Returns a finding whose cause is a call in a function.
    fn finding(function: &str, call: &str, at: u32) -> Finding {
        let place = Place::unlocated(Arc::from(Utf8Path::new("/p/a.py")), Span::new(at, at + 1));
        let (function, call) = (function.to_owned(), call.to_owned());
        Finding {
            causes: vec![Cause { place: place.clone(), function: function.clone(), call, reach: 1 }],
            function,
            ..Finding::of_source(RuleCode(102), Severity::Error, String::new(), place)
        }
    }

    #[test]
    fn causes_of_one_function_are_one_block_at_the_place_of_the_first() {
        let findings =
            vec![finding("a.f", "open", 0), finding("a.g", "open", 1), finding("a.f", "stat", 2), finding("", "x", 3)];
        let groups = crate::group_by_cause(&findings);
        let page = page(&Chosen::of(findings, groups));
        let blocks: Vec<_> = page.blocks.iter().map(|block| (&*block.function, block.groups.as_slice())).collect();
        assert_eq!(blocks, [("a.f", &[0, 2][..]), ("a.g", &[1]), ("", &[3])]);
    }
}
