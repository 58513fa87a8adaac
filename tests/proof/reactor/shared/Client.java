import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** Refreshes its data every 200 ms, in threads that all clients share, and ends only its own subscription. */
public class Client implements AutoCloseable {
    private static final Scheduler SCHEDULER = Schedulers.newBoundedElastic(
        Schedulers.DEFAULT_BOUNDED_ELASTIC_SIZE, Schedulers.DEFAULT_BOUNDED_ELASTIC_QUEUESIZE, "refresh", 60, true);
    private final AtomicInteger refreshes = new AtomicInteger();
    private volatile Disposable refreshing;
    private volatile boolean closed;

    public void start() {
        refreshing = Mono.delay(Duration.ofMillis(200), SCHEDULER).doOnNext(tick -> refreshes.incrementAndGet())
            .repeat(() -> !closed).subscribe();
    }

    public int refreshes() {
        return refreshes.get();
    }

    @Override
    public void close() {
        closed = true;
        if (refreshing != null) {
            refreshing.dispose();
        }
    }
}
