//! A server of one thread. It answers a line with a name with the value of that name, and `late` with the maximum delay of
//! the heartbeat since the last such answer, in milliseconds.

mod limits;
mod store;

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use store::Store;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

const BEAT: Duration = Duration::from_millis(5);

async fn beat(late: Arc<AtomicU64>) {
    loop {
        let started = Instant::now();
        tokio::time::sleep(BEAT).await;
        let over = started.elapsed().saturating_sub(BEAT);
        late.fetch_max(over.as_millis() as u64, Ordering::Relaxed);
    }
}

/// Reaches the sleep and the read of the file through two calls.
async fn answered(store: &Store, name: &str) -> std::io::Result<String> {
    if limits::is_limited(name) {
        return Ok("limited".to_owned());
    }
    match store.load(name)? {
        text if text.is_empty() => Ok("nothing".to_owned()),
        text => {
            store.note(name, &text)?;
            Ok(text)
        }
    }
}

async fn handle(stream: TcpStream, store: Arc<Store>, late: Arc<AtomicU64>) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    stream.read_line(&mut line).await?;
    let answer = match line.trim() {
        "late" => late.swap(0, Ordering::Relaxed).to_string(),
        name => answered(&store, name).await?,
    };
    stream.write_all(format!("{answer}\n").as_bytes()).await
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_default());
    let store = Arc::new(Store { folder });
    let late = Arc::new(AtomicU64::new(0));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    println!("{}", listener.local_addr()?.port());
    tokio::spawn(beat(Arc::clone(&late)));
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(handle(stream, Arc::clone(&store), Arc::clone(&late)));
    }
}
