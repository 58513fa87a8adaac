//! A fix that looks plausible: a longer timeout. The same tasks fail, later.

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
    proof::starve(proof::pool(1, Duration::from_millis(1000)), handler);
}
