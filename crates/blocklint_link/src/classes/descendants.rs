//! Classes that derive from a class, at any depth, each once. Bounds are for programs in which thousands of classes share a base.

use crate::linker::Linker;
use crate::program::ids::ClassRef;

/// The classes derived from a class.
#[derive(Clone, Debug)]
pub struct Descendants {
    /// The classes, without the class itself; a class before those derived from it.
    pub classes: Vec<ClassRef>,
    /// False if there are more.
    pub is_whole: bool,
}

impl Linker<'_> {
    /// Returns the classes derived from a class, at most so many, the last derived class first.
    pub fn descendants(&self, class: ClassRef, most: usize) -> Descendants {
        let mut classes: Vec<ClassRef> = Vec::new();
        let mut seen = rustc_hash::FxHashSet::from_iter([class]);
        let mut queue = self.derived(class).to_vec();
        while let Some(next) = queue.pop() {
            if !seen.insert(next) {
                continue;
            }
            if classes.len() >= most {
                return Descendants { classes, is_whole: false };
            }
            classes.push(next);
            queue.extend(self.derived(next).iter().copied());
        }
        Descendants { classes, is_whole: true }
    }

    /// Returns a class and the classes derived from it, level by level: while not more than `most_parents` were asked for their
    /// subclasses, and fewer than `most` are known.
    pub fn with_descendants(&self, class: ClassRef, most_parents: usize, most: usize) -> Vec<ClassRef> {
        let mut classes = vec![class];
        let mut at = 0;
        while at < classes.len() && at < most_parents && classes.len() < most {
            for &derived in self.derived(classes[at]).iter() {
                if !classes.contains(&derived) {
                    classes.push(derived);
                }
            }
            at += 1;
        }
        classes
    }
}
