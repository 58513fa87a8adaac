//! Java: modules of a build. Code of two of them runs in one program only where some module is built with both, or one of them
//! with the other.

use crate::lang;
use blocklint_core::Language;
use rustc_hash::FxHashSet;

use crate::linker::Linker;
use crate::program::Program;
use crate::program::ids::FileId;

/// A set of modules.
type Set = Vec<u64>;

fn put(set: &mut Set, at: usize) {
    set[at / 64] |= 1 << (at % 64);
}

fn is_of(set: &Set, at: usize) -> bool {
    set[at / 64] & 1 << (at % 64) != 0
}

/// Modules, and what they are built with.
pub(crate) struct Modules {
    /// The module of each file; none outside of all.
    of_file: Vec<Option<u32>>,
    /// The modules that are built with each one, itself too.
    above: Vec<Set>,
    /// True for each module that answers requests on a servlet container's threads, because of its own libraries or
    /// those of the programs that use it.
    servlets: Vec<bool>,
    /// True for each module that is built with a reactive server, which answers requests with publishers.
    reactive: Vec<bool>,
    open: Vec<bool>,
    /// Those that hold nothing but tests: what meets in them runs in no program.
    tests: Set,
}

impl Modules {
    fn new(program: &Program<'_>) -> Self {
        let modules = &program.layout.modules;
        let of_file = program.files.iter().map(|file| {
            if file.facts.language != Language::Java {
                return None;
            }
            let holds = |folder: &str| {
                folder.is_empty() || file.relative.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
            };
            let all = modules.iter().enumerate().filter(|(_, module)| holds(&module.folder));
            all.max_by_key(|(_, module)| module.folder.len()).map(|(at, _)| at as u32)
        });
        let of_file: Vec<Option<u32>> = of_file.collect();
        let words = modules.len().div_ceil(64);
        // A module without any file only puts others together.
        let (mut with_tests, mut with_others): (Set, Set) = (vec![0; words], vec![0; words]);
        for (at, of) in of_file.iter().enumerate() {
            let Some(of) = *of else { continue };
            let set = if program.is_test(FileId(at as u32)) { &mut with_tests } else { &mut with_others };
            put(set, of as usize);
        }
        let tests: Set = with_tests.iter().zip(&with_others).map(|(tests, others)| tests & !others).collect();
        let mut above: Vec<Set> = vec![vec![0; words]; modules.len()];
        let served = (0..modules.len()).map(|at| {
            let mut seen = FxHashSet::from_iter([at]);
            let mut queue = vec![at];
            let (mut by_servlets, mut is_reactive, mut by_publishers) = (false, false, false);
            while let Some(next) = queue.pop() {
                put(&mut above[next], at);
                by_servlets |=
                    modules[next].artifacts.iter().any(|name| lang::java::names::is_artifact_of_servlets(name));
                is_reactive |=
                    modules[next].artifacts.iter().any(|name| lang::java::names::is_artifact_of_reactive_server(name));
                by_publishers |=
                    modules[next].artifacts.iter().any(|name| lang::java::names::is_artifact_of_publishers(name));
                // A module that needs a module of tests uses it for its own tests only, so that its further needs do
                // not count.
                if next == at || !is_of(&tests, next) {
                    queue.extend(modules[next].needs.iter().copied().filter(|&other| seen.insert(other)));
                }
            }
            (by_servlets && !is_reactive, is_reactive, by_publishers && !by_servlets)
        });
        let own: Vec<(bool, bool, bool)> = served.collect();
        // A module without a server of its own runs in the programs that are built with it.
        let in_programs = |at: usize| match own[at] {
            (false, false, by_publishers) => {
                let programs = || (0..modules.len()).filter(|&of| is_of(&above[at], of)).map(|of| own[of]);
                let on_loops = programs().any(|(_, reactive, by_publishers)| reactive || by_publishers);
                let by_servlets = programs().any(|(servlets, ..)| servlets);
                (!on_loops && by_servlets, on_loops && !by_publishers && by_servlets)
            }
            (servlets, reactive, _) => (servlets, reactive),
        };
        let (servlets, reactive) = (0..modules.len()).map(in_programs).unzip();
        Modules {
            of_file,
            above,
            servlets,
            reactive,
            open: modules.iter().map(|module| module.is_open).collect(),
            tests,
        }
    }

    /// True if some module is built with both modules. A module of tests counts only if one of the two is one.
    fn meet(&self, a: usize, b: usize) -> bool {
        let counts_tests = is_of(&self.tests, a) || is_of(&self.tests, b);
        let mut words = self.above[a].iter().zip(&self.above[b]).zip(&self.tests);
        words.any(|((a, b), tests)| a & b & if counts_tests { !0 } else { !tests } != 0)
    }

    fn of(&self, file: FileId) -> Option<usize> {
        self.of_file.get(file.index()).copied().flatten().map(|at| at as usize)
    }
}

impl Linker<'_> {
    fn java_modules(&self) -> &Modules {
        self.tables.java.build_modules.get_or_init(|| Modules::new(self.program))
    }

    /// True if code of two files may run in one program.
    pub(crate) fn may_meet(&self, a: FileId, b: FileId) -> bool {
        if a == b || self.program.layout.modules.len() < 2 {
            return true;
        }
        let modules = self.java_modules();
        let (Some(a), Some(b)) = (modules.of(a), modules.of(b)) else { return true };
        a == b || modules.open[a] || modules.open[b] || modules.meet(a, b)
    }

    /// True if the module of a file is built with libraries that answer requests on a servlet container's threads.
    pub(crate) fn is_built_with_servlets(&self, file: FileId) -> bool {
        let modules = self.java_modules();
        modules.of(file).is_some_and(|at| modules.servlets[at])
    }

    /// True if the module of a file is built with a reactive server, which answers requests with publishers.
    pub(crate) fn is_built_with_reactive_server(&self, file: FileId) -> bool {
        let modules = self.java_modules();
        modules.of(file).is_some_and(|at| modules.reactive[at])
    }
}
