//! The fix of the rule's page: the connection is taken, used and returned in one piece of blocking work.

use std::time::Duration;

use proof::Connections;
use r2d2::Pool;

async fn handler(pool: Pool<Connections>) -> Result<(), String> {
    let queried = tokio::task::spawn_blocking(move || {
        let connection = pool.get().map_err(|error| error.to_string())?;
        connection.query();
        connection.query();
        Ok(())
    });
    let queried: Result<(), String> = queried.await.map_err(|error| error.to_string())?;
    queried?;
    proof::notify().await;
    Ok(())
}

fn main() {
    proof::starve(proof::pool(1, Duration::from_millis(700)), handler);
}
