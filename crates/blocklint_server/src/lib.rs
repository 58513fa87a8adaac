//! The language server: diagnostics, fixes and the paths to calls that block, while code is being written.
//!
//! The main loop reads messages and keeps the state; it never waits for an analysis. Each workspace folder has a worker
//! thread with a session of the engine, which analyses the whole project after each change and stops an analysis that a
//! newer change makes stale. A request that needs the analysis is queued until it is done; a thread pool then answers
//! it from a snapshot. A panic fails only the request or the analysis in which it happens.

mod actions;
mod analysis;
mod answers;
mod blocking_graph;
mod capabilities;
mod diagnostics;
mod folder;
mod hierarchy;
mod hover;
mod information;
mod lenses;
mod pool;
mod progress;
mod protocol;
mod server;
mod settings;
mod text;
mod transport;
mod uri;
mod view;
mod watched;
mod worker;

use std::io;

use blocklint_engine::Containment;
pub use lsp_server::Connection;

use crate::server::Server;

/// How a server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The client sent `shutdown` and then `exit`.
    Shutdown,
    /// The client closed the connection, or sent `exit` without `shutdown`.
    Abruptly,
}

/// Settings of a server for tests, and for the options of the command line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hooks {
    /// Called with the method of each request, on the thread that answers it.
    pub on_request: Option<fn(&str)>,
    /// How functions whose analysis fails are treated.
    pub containment: Containment,
}

/// Serves a client over standard input and output.
///
/// # Errors
///
/// If the system starts no threads, or the client reads no more.
pub fn serve_stdio(hooks: Hooks) -> io::Result<Ended> {
    let (connection, threads) = transport::connect(io::stdin(), io::stdout())?;
    let ended = serve(&connection, hooks)?;
    drop(connection);
    threads.join()?;
    Ok(ended)
}

/// Serves a client until it ends.
///
/// # Errors
///
/// If the system starts no threads.
pub fn serve(connection: &Connection, hooks: Hooks) -> io::Result<Ended> {
    match Server::start(connection, hooks)? {
        Some(mut server) => server.run(),
        None => Ok(Ended::Abruptly),
    }
}
