//! More work than there are cores, with a liveness probe that must be answered meanwhile.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use tokio::runtime::Builder;
use tower::ServiceExt;

use crate::threads;

/// The number of concurrent requests, and of pages in each: together more than the 512 threads of tokio's
/// blocking pool.
const REQUESTS: u64 = 8;
const PAGES: u64 = 75;

/// The interval of the liveness probe.
const EVERY: Duration = Duration::from_millis(5);

/// Renders a page, which takes some milliseconds of computation.
pub fn render(name: &str) -> u64 {
    (0..13_000_000u64).fold(name.len() as u64, |sum, at| black_box(sum.rotate_left(5) ^ at))
}

/// Answers the liveness probe after looking for a file, as such endpoints do. `tokio::fs` does that in the blocking
/// pool, so a late answer has waited for the pages, and not for a core.
pub async fn live() -> String {
    tokio::fs::try_exists("/").await.is_ok_and(|there| there).to_string()
}

/// Serves more requests for `/pages` than there is time for, with a worker for each core. Prints how many threads there
/// were at most, how many microseconds late the answers of `/live` came, which is asked every 5 ms (the 99th of 100), how
/// many cores there are, and the sum of all pages.
pub fn overload(routes: Router) {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    // blocklint: ignore[BLT501] each program calls this once, from its `main` in another crate
    let runtime = Builder::new_multi_thread().worker_threads(cores).enable_time().build().expect("a runtime");
    let over = Arc::new(AtomicBool::new(false));
    let ended = over.clone();
    let counting = thread::spawn(move || {
        let mut most = 0;
        while !ended.load(Ordering::Relaxed) {
            most = most.max(threads());
            thread::sleep(EVERY);
        }
        // The thread of the probe does not count.
        most - 1
    });
    let (late, sum) = runtime.block_on(async {
        let (live, ended) = (routes.clone(), over.clone());
        let alive = tokio::spawn(async move {
            let mut late = Vec::new();
            let mut next = Instant::now();
            while !ended.load(Ordering::Relaxed) {
                // The probe does not wait for the last answer before it asks again.
                next += EVERY;
                tokio::time::sleep_until(next.into()).await;
                answer(live.clone(), Request::get("/live").body(Body::empty())).await;
                late.push(next.elapsed());
            }
            late.sort();
            late[late.len() * 99 / 100]
        });
        let mut requests = Vec::new();
        for request in 0..REQUESTS {
            let names: Vec<String> = (request * PAGES..(request + 1) * PAGES).map(|page| page.to_string()).collect();
            let asked = Request::post("/pages").body(Body::from(names.join("\n")));
            requests.push(tokio::spawn(answer(routes.clone(), asked)));
        }
        let mut sum = 0u64;
        for request in requests {
            let text = request.await.expect("no handler panics");
            sum = sum.wrapping_add(text.parse().expect("a sum"));
        }
        over.store(true, Ordering::Relaxed);
        (alive.await.expect("asking does not panic"), sum)
    });
    let most = counting.join().expect("counting does not panic");
    println!("{most} {} {cores} {sum}", late.as_micros());
}

/// Returns the answer to a request.
async fn answer(routes: Router, request: Result<Request<Body>, axum::http::Error>) -> String {
    let response = routes.oneshot(request.expect("a request")).await.expect("no route fails");
    let body = to_bytes(response.into_body(), usize::MAX).await.expect("a body");
    String::from_utf8(body.to_vec()).expect("text")
}
