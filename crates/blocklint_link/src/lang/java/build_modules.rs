//! Java: modules of a Maven or Gradle build. Code of two modules runs in one program only if a module depends on both,
//! or one of the two on the other.

use crate::lang;
use blocklint_core::Language;
use rustc_hash::FxHashSet;

use crate::linker::Linker;
use crate::program::Program;
use crate::program::ids::FileId;

/// A bit set of module indices.
type ModuleSet = Vec<u64>;

fn insert(set: &mut ModuleSet, module: usize) {
    set[module / 64] |= 1 << (module % 64);
}

fn contains(set: &ModuleSet, module: usize) -> bool {
    set[module / 64] & 1 << (module % 64) != 0
}

/// The servers in a module's own dependencies.
#[derive(Clone, Copy)]
struct Servers {
    /// A servlet container, and no reactive server.
    servlets: bool,
    /// A reactive server.
    reactive: bool,
    /// A server that answers with publishers, and no servlet container.
    publishers: bool,
}

/// The modules of a build, their dependents and their servers.
pub(crate) struct Modules {
    /// The module of each file; `None` for a file outside of all modules.
    of_file: Vec<Option<u32>>,
    /// For each module the modules that depend on it, directly or through others, and itself.
    dependents: Vec<ModuleSet>,
    /// True for each module that answers requests on a servlet container's threads, because of its own libraries or
    /// those of the modules that depend on it.
    servlets: Vec<bool>,
    /// True for each module that depends on a reactive server, which answers requests with publishers.
    reactive: Vec<bool>,
    /// True for each module whose build file does not list all dependencies.
    open: Vec<bool>,
    /// The modules that contain only tests. A dependency of such a module puts code into no program.
    tests: ModuleSet,
}

impl Modules {
    fn new(program: &Program<'_>) -> Self {
        let modules = &program.layout.modules;
        let of_file = program.files.iter().map(|file| {
            if file.facts.language != Language::Java {
                return None;
            }
            let contains_file = |folder: &str| {
                folder.is_empty() || file.relative.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
            };
            let containing_modules = modules.iter().enumerate().filter(|(_, module)| contains_file(&module.folder));
            containing_modules.max_by_key(|(_, module)| module.folder.len()).map(|(index, _)| index as u32)
        });
        let of_file: Vec<Option<u32>> = of_file.collect();
        let words = modules.len().div_ceil(64);
        // A module without files only combines other modules, so it is no module of tests.
        let (mut with_test_files, mut with_other_files): (ModuleSet, ModuleSet) = (vec![0; words], vec![0; words]);
        for (slot, module) in of_file.iter().enumerate() {
            let Some(module) = *module else { continue };
            let set = if program.is_test(FileId(slot as u32)) { &mut with_test_files } else { &mut with_other_files };
            insert(set, module as usize);
        }
        let tests: ModuleSet =
            with_test_files.iter().zip(&with_other_files).map(|(tests, others)| tests & !others).collect();
        let mut dependents: Vec<ModuleSet> = vec![vec![0; words]; modules.len()];
        let servers = (0..modules.len()).map(|index| {
            let mut visited = FxHashSet::from_iter([index]);
            let mut queue = vec![index];
            let (mut by_servlets, mut is_reactive, mut by_publishers) = (false, false, false);
            while let Some(next) = queue.pop() {
                insert(&mut dependents[next], index);
                by_servlets |= modules[next].artifacts.iter().any(|name| lang::java::names::is_servlet_artifact(name));
                is_reactive |=
                    modules[next].artifacts.iter().any(|name| lang::java::names::is_reactive_server_artifact(name));
                by_publishers |= modules[next]
                    .artifacts
                    .iter()
                    .any(|name| lang::java::names::is_reactive_without_servlets_artifact(name));
                // A dependency on a module of tests is for the tests of the dependent, so the dependencies of that
                // module do not count.
                if next == index || !contains(&tests, next) {
                    queue.extend(modules[next].needs.iter().copied().filter(|&other| visited.insert(other)));
                }
            }
            Servers {
                servlets: by_servlets && !is_reactive,
                reactive: is_reactive,
                publishers: by_publishers && !by_servlets,
            }
        });
        let own_servers: Vec<Servers> = servers.collect();
        // A module without a server runs in the programs that depend on it.
        let in_programs = |index: usize| match own_servers[index] {
            Servers { servlets: false, reactive: false, publishers } => {
                let programs = || {
                    (0..modules.len())
                        .filter(|&module| contains(&dependents[index], module))
                        .map(|module| own_servers[module])
                };
                let on_loops = programs().any(|program| program.reactive || program.publishers);
                let by_servlets = programs().any(|program| program.servlets);
                (!on_loops && by_servlets, on_loops && !publishers && by_servlets)
            }
            Servers { servlets, reactive, .. } => (servlets, reactive),
        };
        let (servlets, reactive) = (0..modules.len()).map(in_programs).unzip();
        Modules {
            of_file,
            dependents,
            servlets,
            reactive,
            open: modules.iter().map(|module| module.is_open).collect(),
            tests,
        }
    }

    /// True if some module depends on both modules. A module of tests counts only if one of the two is a module of
    /// tests.
    fn have_common_dependent(&self, a: usize, b: usize) -> bool {
        let counts_tests = contains(&self.tests, a) || contains(&self.tests, b);
        let mut words = self.dependents[a].iter().zip(&self.dependents[b]).zip(&self.tests);
        words.any(|((a, b), tests)| a & b & if counts_tests { !0 } else { !tests } != 0)
    }

    fn module_of(&self, file: FileId) -> Option<usize> {
        self.of_file.get(file.index()).copied().flatten().map(|module| module as usize)
    }
}

impl Linker<'_> {
    fn java_modules(&self) -> &Modules {
        self.tables.java.build_modules.get_or_init(|| Modules::new(self.program))
    }

    /// True if code of two files may run in one program.
    pub(crate) fn may_run_in_one_program(&self, a: FileId, b: FileId) -> bool {
        if a == b || self.program.layout.modules.len() < 2 {
            return true;
        }
        let modules = self.java_modules();
        let (Some(a), Some(b)) = (modules.module_of(a), modules.module_of(b)) else { return true };
        a == b || modules.open[a] || modules.open[b] || modules.have_common_dependent(a, b)
    }

    /// True if the module of a file is built with libraries that answer requests on a servlet container's threads.
    pub(crate) fn is_built_with_servlets(&self, file: FileId) -> bool {
        let modules = self.java_modules();
        modules.module_of(file).is_some_and(|module| modules.servlets[module])
    }

    /// True if the module of a file is built with a reactive server, which answers requests with publishers.
    pub(crate) fn is_built_with_reactive_server(&self, file: FileId) -> bool {
        let modules = self.java_modules();
        modules.module_of(file).is_some_and(|module| modules.reactive[module])
    }
}
