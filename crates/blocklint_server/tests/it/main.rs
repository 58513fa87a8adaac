//! The server as a client sees it, over an in-memory connection.

mod actions;
mod client;
mod documents;
mod lifecycle;
mod pulled;
mod pushed;
mod reading;
mod workspace;
