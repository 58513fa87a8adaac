//! The incident: a connection of a blocking pool, taken on the runtime's thread and held over an `await`.

use std::time::Duration;

use proof::Connections;
use r2d2::Pool;

async fn handler(pool: Pool<Connections>) -> Result<(), String> {
    let connection = pool.get().map_err(|error| error.to_string())?;
    connection.query();
    proof::notify().await;
    connection.query();
    Ok(())
}

fn main() {
    proof::starve(proof::pool(1, Duration::from_millis(700)), handler);
}
