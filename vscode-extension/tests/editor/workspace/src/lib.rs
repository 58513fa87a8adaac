fn pause() {
    std::thread::sleep(std::time::Duration::from_secs(1));
}

pub async fn handler() {
    pause();
}
