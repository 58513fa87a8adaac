//! The thread pool that answers requests.

use std::panic::{AssertUnwindSafe, catch_unwind};

use blocklint_engine::STACK_SIZE;
use crossbeam_channel::Sender;
use lsp_server::{Message, RequestId};
use serde_json::Value;

use crate::protocol::{RequestError, code, response};

type Task = Box<dyn FnOnce() + Send>;

/// The number of threads. With two, a request is answered while another takes long.
const THREADS: usize = 2;

/// The threads that answer requests. They end when the pool is dropped.
pub(crate) struct Pool {
    tasks: Sender<Task>,
}

impl Pool {
    pub(crate) fn new() -> std::io::Result<Self> {
        let (tasks, queue) = crossbeam_channel::unbounded::<Task>();
        for number in 0..THREADS {
            let queue = queue.clone();
            // An answer can parse a file, and parsing recurses as deep as the syntax tree.
            let builder = std::thread::Builder::new().name(format!("blocklint-answer-{number}")).stack_size(STACK_SIZE);
            builder.spawn(move || queue.iter().for_each(|task| task()))?;
        }
        Ok(Pool { tasks })
    }

    /// Answers a request on one of the threads.
    pub(crate) fn answer(
        &self,
        to: Sender<Message>,
        id: RequestId,
        work: impl FnOnce() -> Result<Value, RequestError> + Send + 'static,
    ) {
        let task = move || {
            let answer = response(id, catch_panic(work));
            // Fails once the client is gone.
            let _ = to.send(answer.into());
        };
        let _ = self.tasks.send(Box::new(task));
    }
}

/// Runs `work`, and turns a panic into an error of the request.
pub(crate) fn catch_panic(work: impl FnOnce() -> Result<Value, RequestError>) -> Result<Value, RequestError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
        Err(RequestError::new(code::INTERNAL_ERROR, format!("internal error: {}", message.unwrap_or_default())))
    })
}
