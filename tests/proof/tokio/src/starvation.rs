//! A pool of connections, tasks that each take a connection, and a timer that measures stalls.

use std::convert::Infallible;
use std::future::Future;
use std::time::{Duration, Instant};

use r2d2::{ManageConnection, Pool};
use tokio::runtime::Builder;

/// One connection.
pub struct Connection;

impl Connection {
    /// Queries the database, which answers immediately.
    pub fn query(&self) {}
}

/// Creates connections.
pub struct Connections;

impl ManageConnection for Connections {
    type Connection = Connection;
    type Error = Infallible;

    fn connect(&self) -> Result<Connection, Infallible> {
        Ok(Connection)
    }

    fn is_valid(&self, _: &mut Connection) -> Result<(), Infallible> {
        Ok(())
    }

    fn has_broken(&self, _: &mut Connection) -> bool {
        false
    }
}

/// A pool of `size` connections, for which callers wait up to `timeout`.
pub fn pool(size: u32, timeout: Duration) -> Pool<Connections> {
    Pool::builder().max_size(size).connection_timeout(timeout).build(Connections).expect("nothing can fail")
}

/// Another async operation of a handler.
pub async fn notify() {
    tokio::time::sleep(Duration::from_millis(50)).await;
}

/// Runs tasks of a handler on one worker; the arguments are `multi` or `current` (the kind of runtime) and the number of
/// tasks. Prints how many failed and how many milliseconds a timer of 10 ms was late.
pub fn starve<F>(pool: Pool<Connections>, handler: impl Fn(Pool<Connections>) -> F)
where
    F: Future<Output = Result<(), String>> + Send + 'static,
{
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, tasks] = &arguments[..] else { panic!("expected: multi|current TASKS") };
    let tasks: usize = tasks.parse().expect("a number of tasks");
    let mut builder = match kind.as_str() {
        "current" => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    let runtime = builder.worker_threads(1).enable_time().build().expect("a runtime");
    let (failed, late) = runtime.block_on(async {
        // The worker may be this thread or another one: both the tasks and the timer are spawned.
        let timer = tokio::spawn(async {
            let until = Instant::now() + Duration::from_millis(10);
            tokio::time::sleep_until(until.into()).await;
            until.elapsed()
        });
        let running: Vec<_> = (0..tasks).map(|_| tokio::spawn(handler(pool.clone()))).collect();
        let mut failed = 0;
        for task in running {
            // A task that panicked has failed too.
            if !matches!(task.await, Ok(Ok(()))) {
                failed += 1;
            }
        }
        (failed, timer.await.expect("a timer does not panic"))
    });
    println!("{failed} {}", late.as_millis());
    runtime.shutdown_background();
}
