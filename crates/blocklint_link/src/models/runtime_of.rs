//! The runtime (asyncio, tokio, Twisted) that runs the code of a file, a crate, a coroutine or a task.

use crate::calls::targets::Target;
use crate::lang;
use crate::linker::Linker;
use crate::models::entry_registration::{MAX_DRIVERS, imports};
use crate::models::row_match::ConditionResult;
use crate::program::ids::{BodyRef, FileId, SiteRef};
use crate::program::occurrences::Mention;
use crate::values::value::EnvId;
use blocklint_core::Runtime;
use blocklint_facts::BodyKind;
use blocklint_models::Selector;

impl Linker<'_> {
    /// Returns the default runtime of a file, by the libraries that it imports, else by its language.
    pub fn runtime_of(&self, file: FileId) -> Option<Runtime> {
        self.query(&self.tables.models.runtimes, file, Option::default, || self.find_runtime_of(file))
    }

    pub(crate) fn find_runtime_of(&self, file: FileId) -> Option<Runtime> {
        crate::lang::semantics(self.program.language(file)).default_runtime(self, file)
    }

    /// Returns the runtime among the dependencies of a file's crate; `None` if the crate depends on tokio or a library
    /// that is built on it (Rust).
    pub(crate) fn runtime_of_crate(&self, file: FileId) -> Option<Runtime> {
        let others = OTHER_THAN_TOKIO.map(|runtime| (crate_of_runtime(runtime), runtime));
        // Few projects use one of them.
        let mut named = others.into_iter().filter(|(name, _)| self.program.name(name).is_some()).peekable();
        named.peek()?;
        let dependencies = self.crate_of(file)?.dependencies.as_ref()?;
        let has_tokio = dependencies.iter().any(|(_, package, _)| {
            let is_of_workspace = || self.program.layout.crates.iter().any(|own| own.package == *package);
            package.starts_with("tokio")
                || crate::lang::rust::names::TOKIO_DEPENDENTS.contains(&package.as_str())
                || is_of_workspace()
        });
        if has_tokio {
            None
        } else {
            named.find(|(name, _)| dependencies.iter().any(|(code, ..)| code == name)).map(|(_, own)| own)
        }
    }

    /// Returns the runtime of a task, by the library whose function spawns it, because a crate may use several (Rust).
    pub fn runtime_of_spawner(&self, block: BodyRef) -> Option<Runtime> {
        if !OTHER_THAN_TOKIO.iter().any(|&runtime| self.program.name(crate_of_runtime(runtime)).is_some()) {
            return None;
        }
        let uses = self.program.uses_of_callable(block);
        uses.iter().find_map(|(mention, _)| {
            let Mention::Arg(site, _) = mention else { return None };
            let targets = self.targets(block.file.site_ref(site), EnvId::NONE);
            targets.list.iter().find_map(|target| {
                let Target::Row { path, .. } = *target else { return None };
                let text = self.library.text(path);
                let library = text.split("::").next()?;
                OTHER_THAN_TOKIO.into_iter().find(|&runtime| crate_of_runtime(runtime) == library)
            })
        })
    }

    /// Returns the runtime on which all drivers run a coroutine or async block, by the rows of the driving calls:
    /// `LocalSet::spawn_local`, `block_on` of a current-thread runtime (Rust).
    pub fn runtime_of_drivers(&self, body: BodyRef) -> Option<Runtime> {
        // Few projects use a current-thread runtime.
        if !lang::rust::conventions::SINGLE_THREAD_RUNTIME_NAMES.iter().any(|name| self.program.name(name).is_some()) {
            return None;
        }
        let is_block = self.program.body(body).kind == BodyKind::AsyncBlock;
        let uses: Vec<(FileId, Mention)> = if is_block {
            let uses = self.program.uses_of_callable(body);
            uses.iter().map(|(mention, _)| (body.file, mention)).collect()
        } else {
            let calls = self.sites_calling(body);
            if calls.len() > MAX_DRIVERS {
                return None;
            }
            let uses = calls.iter().flat_map(|site| {
                let uses = self.program.uses_of_result(*site);
                uses.iter().map(|(mention, _)| (site.file, mention)).collect::<Vec<_>>()
            });
            uses.collect()
        };
        let mut common = None;
        for (file, mention) in uses {
            let Mention::Arg(site, arg) = mention else { return None };
            let runtime = self.runtime_of_driver(file.site_ref(site), arg)?;
            if *common.get_or_insert(runtime) != runtime {
                return None;
            }
        }
        common
    }

    /// Returns the runtime on which a call runs the future in an argument, by a row.
    pub(crate) fn runtime_of_driver(&self, site: SiteRef, arg: u32) -> Option<Runtime> {
        self.targets(site, EnvId::NONE).list.iter().find_map(|target| {
            let Target::Row { path, receiver, .. } = *target else { return None };
            let rows = self.handovers_for_call(path, site);
            rows.iter().find_map(|row| {
                let Selector::Argument(argument) = &row.selector else { return None };
                let matches = self.is_argument(site, arg, argument)
                    && row
                        .when
                        .iter()
                        .all(|when| self.condition_result(when, site, receiver, EnvId::NONE) == ConditionResult::Yes);
                row.runtime.filter(|_| matches)
            })
        })
    }

    /// True if files that import no runtime run on Twisted's reactor, because more files of the project import Twisted
    /// than asyncio.
    pub(crate) fn is_on_twisted(&self) -> bool {
        *self.tables.python.on_twisted.get_or_init(|| {
            let count = |wanted: &str| self.program.files.iter().filter(|file| imports(&file.facts, wanted)).count();
            let twisted = count(Runtime::Twisted.as_str());
            twisted > 0 && twisted > count("asyncio")
        })
    }
}

/// Runtimes of Rust that a crate may use instead of tokio.
pub(crate) const OTHER_THAN_TOKIO: [Runtime; 5] =
    [Runtime::AsyncStd, Runtime::Smol, Runtime::Compio, Runtime::Monoio, Runtime::Glommio];

/// Returns the name of a runtime's crate in paths.
pub(crate) fn crate_of_runtime(runtime: Runtime) -> &'static str {
    match runtime {
        Runtime::AsyncStd => "async_std",
        runtime => runtime.as_str(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::rust::names::OTHER_RUNTIMES;

    /// True for runtimes of Rust other than tokio. A new runtime does not compile until it is listed here.
    fn is_other_than_tokio(runtime: Runtime) -> bool {
        match runtime {
            Runtime::AsyncStd | Runtime::Smol | Runtime::Compio | Runtime::Monoio | Runtime::Glommio => true,
            Runtime::Asyncio
            | Runtime::Anyio
            | Runtime::Trio
            | Runtime::Starlette
            | Runtime::Twisted
            | Runtime::Sqlalchemy
            | Runtime::Gevent
            | Runtime::Eventlet
            | Runtime::Tokio
            | Runtime::TokioCurrentThread
            | Runtime::Reactor
            | Runtime::Rxjava
            | Runtime::Mutiny
            | Runtime::Vertx
            | Runtime::Netty => false,
        }
    }

    #[test]
    fn the_lists_of_other_runtimes_are_complete() {
        let others: Vec<Runtime> =
            Runtime::ALL.iter().copied().filter(|runtime| is_other_than_tokio(*runtime)).collect();
        assert_eq!(OTHER_THAN_TOKIO.to_vec(), others);
        for runtime in others {
            assert!(OTHER_RUNTIMES.contains(&runtime.as_str()), "`{runtime}` is missing in OTHER_RUNTIMES");
        }
    }
}
