//! A fix that looks plausible: `block_in_place`. It starts a substitute for each worker that computes.

use axum::Router;
use axum::routing::{get, post};
use proof::render;
use tokio::task::block_in_place;

async fn render_all(names: String) -> String {
    let mut tasks = Vec::new();
    for name in names.lines().map(String::from) {
        tasks.push(tokio::spawn(async move { block_in_place(|| render(&name)) }));
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
