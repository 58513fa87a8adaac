//! The fix of the rule's page: a permit of one semaphore for each piece.

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::routing::{get, post};
use proof::render;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// The semaphore that all requests share.
static PERMITS: LazyLock<Arc<Semaphore>> =
    LazyLock::new(|| Arc::new(Semaphore::new(std::thread::available_parallelism().map_or(1, usize::from))));

async fn render_all(names: String) -> String {
    let mut tasks = Vec::new();
    for name in names.lines().map(String::from) {
        let permit = PERMITS.clone().acquire_owned().await;
        tasks.push(spawn_blocking(move || {
            let _permit = permit;
            render(&name)
        }));
    }
    let mut sum = 0u64;
    for task in tasks {
        sum = sum.wrapping_add(task.await.expect("no page panics"));
    }
    sum.to_string()
}

fn main() {
    proof::overload(Router::new().route("/live", get(proof::live)).route("/pages", post(render_all)));
}
