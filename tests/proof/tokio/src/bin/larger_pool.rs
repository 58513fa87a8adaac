//! A fix that looks plausible: a larger pool. With more tasks than connections the program stops as before.

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
    proof::starve(proof::pool(12, Duration::from_millis(700)), handler);
}
