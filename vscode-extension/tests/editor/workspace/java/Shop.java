import reactor.core.publisher.Mono;

class Shop {
    Mono<String> get() {
        return Mono.fromSupplier(() -> load());
    }

    String load() {
        try {
            Thread.sleep(1000);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
        return "";
    }
}
