//! Subclasses of a class at any depth. The searches are bounded, because thousands of classes may share a base.

use crate::linker::Linker;
use crate::program::ids::ClassRef;

/// The subclasses of a class at any depth.
#[derive(Clone, Debug)]
pub struct Descendants {
    /// The subclasses, without the class itself; a class comes before its own subclasses.
    pub classes: Vec<ClassRef>,
    /// False if there are more subclasses.
    pub is_complete: bool,
}

impl Linker<'_> {
    /// Returns at most `limit` subclasses of a class, in depth-first order.
    pub fn descendants(&self, class: ClassRef, limit: usize) -> Descendants {
        let mut classes: Vec<ClassRef> = Vec::new();
        let mut visited = rustc_hash::FxHashSet::from_iter([class]);
        let mut queue = self.direct_subclasses(class).to_vec();
        while let Some(next) = queue.pop() {
            if !visited.insert(next) {
                continue;
            }
            if classes.len() >= limit {
                return Descendants { classes, is_complete: false };
            }
            classes.push(next);
            queue.extend(self.direct_subclasses(next).iter().copied());
        }
        Descendants { classes, is_complete: true }
    }

    /// Returns a class and its subclasses, in breadth-first order. The search ends after `parent_limit` classes whose
    /// subclasses were added, or when at least `limit` classes are found.
    pub fn with_descendants(&self, class: ClassRef, parent_limit: usize, limit: usize) -> Vec<ClassRef> {
        let mut classes = vec![class];
        let mut next = 0;
        while next < classes.len() && next < parent_limit && classes.len() < limit {
            for &derived in self.direct_subclasses(classes[next]).iter() {
                if !classes.contains(&derived) {
                    classes.push(derived);
                }
            }
            next += 1;
        }
        classes
    }
}
