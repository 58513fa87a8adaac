import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** Refreshes its data every 200 ms, in a thread of its own. */
public class Client implements AutoCloseable {
    private final Scheduler scheduler = Schedulers.newSingle("refresh", true);
    private final AtomicInteger refreshes = new AtomicInteger();
    private volatile boolean closed;

    public void start() {
        Mono.delay(Duration.ofMillis(200), scheduler).doOnNext(tick -> refreshes.incrementAndGet())
            .repeat(() -> !closed).subscribe();
    }

    public int refreshes() {
        return refreshes.get();
    }

    @Override
    public void close() {
        closed = true;
        scheduler.dispose();
    }
}
