//! A fix that looks plausible: `block_in_place`, which panics on a runtime of one thread.

use std::time::Duration;

use proof::Connections;
use r2d2::Pool;

async fn handler(pool: Pool<Connections>) -> Result<(), String> {
    let connection = tokio::task::block_in_place(|| pool.get()).map_err(|error| error.to_string())?;
    connection.query();
    proof::notify().await;
    connection.query();
    Ok(())
}

fn main() {
    proof::starve(proof::pool(1, Duration::from_millis(700)), handler);
}
