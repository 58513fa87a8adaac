//! The classes of a library and its dependencies (`Classes`), found by their dotted names, with their supertypes and
//! methods.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::rc::Rc;

use camino::{Utf8Path, Utf8PathBuf};
use rustc_hash::{FxHashMap, FxHashSet};

use super::class_file::{Class, Method, dotted, read};

/// The class that every class derives from.
pub(super) const OBJECT: &str = "java.lang.Object";

/// A class and its supertypes, nearest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    /// The class and its bases, nearest first, `Object` last.
    pub(super) known: Vec<Rc<Class>>,
    /// The names of bases without a class file.
    pub(super) missing: Vec<String>,
}

impl Order {
    /// True if the class or one of its supertypes has this name.
    pub(super) fn contains(&self, name: &str) -> bool {
        self.names().any(|known| known == name)
    }

    /// Returns the names of the class and its supertypes, nearest first.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.known.iter().map(|class| class.name.as_str()).chain(self.missing.iter().map(String::as_str))
    }
}

/// The class files below some folders. The library's own classes take precedence.
#[derive(Debug)]
pub(crate) struct Classes {
    files: FxHashMap<String, Utf8PathBuf>,
    /// The library's own classes, sorted.
    own: Vec<String>,
    packages: FxHashSet<String>,
    own_packages: FxHashSet<String>,
    cache: RefCell<FxHashMap<String, Option<Rc<Class>>>>,
}

impl Classes {
    /// Returns the classes of a library and of its dependencies. A folder contains packages, or modules with packages.
    pub(crate) fn new(library_archives: &[Utf8PathBuf], others: impl Iterator<Item = Utf8PathBuf>) -> Self {
        let mut classes = Classes {
            files: FxHashMap::default(),
            own: Vec::new(),
            packages: FxHashSet::default(),
            own_packages: FxHashSet::default(),
            cache: RefCell::default(),
        };
        library_archives.iter().for_each(|folder| classes.add_folder(folder));
        classes.own = classes.files.keys().cloned().collect();
        classes.own.sort();
        classes.own_packages = classes.packages.clone();
        others.for_each(|folder| classes.add_folder(&folder));
        classes
    }

    fn add_folder(&mut self, folder: &Utf8Path) {
        let entries = folder.read_dir_utf8().into_iter().flatten().flatten();
        let modules: Vec<Utf8PathBuf> =
            entries.map(|entry| entry.into_path()).filter(|path| path.join("module-info.class").is_file()).collect();
        if modules.is_empty() {
            self.add_package(folder, "");
        } else {
            modules.iter().for_each(|module| self.add_package(module, ""));
        }
    }

    fn add_package(&mut self, folder: &Utf8Path, package: &str) {
        let mut has_classes = false;
        for entry in folder.read_dir_utf8().into_iter().flatten().flatten() {
            let name = entry.file_name();
            let internal = if package.is_empty() { name.to_owned() } else { format!("{package}/{name}") };
            // Links are not followed, because they can form a cycle.
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                self.add_package(entry.path(), &internal);
            } else if let Some(internal) = internal.strip_suffix(".class")
                && !name.ends_with("-info.class")
            {
                has_classes = true;
                self.files.entry(dotted(internal)).or_insert_with(|| entry.path().to_owned());
            }
        }
        if has_classes {
            self.packages.insert(package.replace('/', "."));
        }
    }

    /// Returns the class with a dotted name.
    pub(super) fn get(&self, name: &str) -> Option<Rc<Class>> {
        if let Some(known) = self.cache.borrow().get(name) {
            return known.clone();
        }
        let class = self.files.get(name).and_then(|file| read(&fs::read(file).ok()?)).map(Rc::new);
        self.cache.borrow_mut().insert(name.to_owned(), class.clone());
        class
    }

    /// Returns the names of the library's own public classes that satisfy the predicate, sorted.
    pub(super) fn own_classes(&self, predicate: impl Fn(&str) -> bool) -> Vec<String> {
        let is_public = |name: &&String| self.get(name).is_some_and(|class| class.is_public());
        self.own.iter().filter(|name| predicate(name)).filter(is_public).cloned().collect()
    }

    /// True if a path is a package with classes, or a prefix of one.
    pub(super) fn has_package(&self, path: &str) -> bool {
        let is_below = |package: &String| package.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'));
        self.packages.contains(path) || self.packages.iter().any(is_below)
    }

    /// True if the library has classes in exactly this package.
    pub(super) fn is_own_package(&self, path: &str) -> bool {
        self.own_packages.contains(path)
    }

    /// Returns a class and its supertypes, nearest first.
    pub(super) fn order(&self, name: &str) -> Order {
        let mut order = Order::default();
        let mut waiting = std::collections::VecDeque::from([name.to_owned()]);
        let mut seen = FxHashSet::default();
        while let Some(next) = waiting.pop_front() {
            if next == OBJECT || !seen.insert(next.clone()) {
                continue;
            }
            match self.get(&next) {
                Some(class) => {
                    waiting.extend(class.bases.iter().cloned());
                    order.known.push(class);
                }
                None => order.missing.push(next),
            }
        }
        order.known.extend(self.get(OBJECT));
        order
    }

    /// True if a class equals another or derives from it, as far as its bases have class files.
    pub(super) fn derives(&self, name: &str, base: &str) -> bool {
        self.order(name).contains(base)
    }

    /// Returns every overload of a method in a class and its bases.
    pub(super) fn methods(&self, owner: &str, name: &str) -> Vec<Method> {
        if self.get(owner).is_none() {
            return Vec::new();
        }
        let mut methods: Vec<Method> = Vec::new();
        for class in &self.order(owner).known {
            for method in class.methods.iter().filter(|method| method.name == name && method.is_visible()) {
                if !methods.contains(method) {
                    methods.push(method.clone());
                }
            }
        }
        methods
    }

    /// Returns the constructors of a class that users of the library can call.
    pub(super) fn constructors(&self, class: &Class) -> Vec<Method> {
        class.methods.iter().filter(|method| method.name == "<init>" && method.is_visible()).cloned().collect()
    }

    /// Returns the methods of a class and its bases by name, without those of `Object`.
    pub(super) fn members(&self, owner: &str) -> BTreeMap<String, Vec<Method>> {
        let mut members: BTreeMap<String, Vec<Method>> = BTreeMap::new();
        // The protected `clone` is no method of every object, because only a class that overrides it makes it public.
        let object_methods: Vec<String> = self.get(OBJECT).map_or(Vec::new(), |class| {
            class.methods.iter().filter(|method| method.is_public()).map(|method| method.name.clone()).collect()
        });
        for class in self.order(owner).known.iter().filter(|class| class.name != OBJECT) {
            for method in class.methods.iter().filter(|method| method.is_visible() && !method.name.starts_with('<')) {
                if !object_methods.contains(&method.name) {
                    members.entry(method.name.clone()).or_default().push(method.clone());
                }
            }
        }
        members
    }
}
