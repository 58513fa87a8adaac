//! Another fix: rayon's pool, which has a thread for each core, and a channel for the result.

use axum::Router;
use axum::routing::{get, post};
use proof::render;
use tokio::sync::oneshot;

async fn render_all(names: String) -> String {
    let mut results = Vec::new();
    for name in names.lines().map(String::from) {
        let (give, take) = oneshot::channel();
        rayon::spawn(move || {
            let _ = give.send(render(&name));
        });
        results.push(take);
    }
    let mut sum = 0u64;
    for result in results {
        sum = sum.wrapping_add(result.await.expect("no page panics"));
    }
    sum.to_string()
}

fn main() {
    proof::overload(Router::new().route("/live", get(proof::live)).route("/pages", post(render_all)));
}
