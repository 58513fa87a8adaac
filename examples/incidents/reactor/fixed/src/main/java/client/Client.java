package client;

import com.zaxxer.hikari.HikariDataSource;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** A client of one tenant's store: its threads are those of all clients, its connections those of the application. */
public final class Client implements AutoCloseable {
    private static final Scheduler SCHEDULER = Schedulers.newBoundedElastic(10, 100_000, "refresh", 60, true);
    private static final ExecutorService CALLBACKS = Executors.newFixedThreadPool(4);

    private final HikariDataSource connections;
    private final Disposable refresh;

    Client(HikariDataSource connections) {
        this.connections = connections;
        this.refresh = Flux.interval(Duration.ofSeconds(5), SCHEDULER).subscribe(tick -> CALLBACKS.execute(this::reload));
    }

    private void reload() {
        System.out.println("asked " + connections.getJdbcUrl());
    }

    @Override
    public void close() {
        refresh.dispose();
    }
}
