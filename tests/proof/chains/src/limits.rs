use std::thread;
use std::time::Duration;

/// The prefix of names that wait.
const SLOW: &str = "slow";

pub(crate) fn is_limited(name: &str) -> bool {
    if name.starts_with(SLOW) && !settle(Duration::from_millis(300)) {
        return true;
    }
    name.is_empty()
}

#[inline]
fn settle(time: Duration) -> bool {
    thread::sleep(time);
    true
}
