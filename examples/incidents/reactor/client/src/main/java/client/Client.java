package client;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** A client of one tenant's store, which refreshes what it knows of the servers. */
public final class Client implements AutoCloseable {
    private final Scheduler scheduler = Schedulers.newSingle("refresh");
    private final ExecutorService callbacks = Executors.newSingleThreadExecutor();
    private final HikariDataSource connections;
    private final Disposable refresh;

    Client(String url) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        connections = new HikariDataSource(config);
        refresh = Flux.interval(Duration.ofSeconds(5), scheduler).subscribe(tick -> callbacks.execute(this::reload));
    }

    private void reload() {
        System.out.println("asked " + connections.getJdbcUrl());
    }

    @Override
    public void close() {
        refresh.dispose();
        scheduler.dispose();
        callbacks.shutdown();
        connections.close();
    }
}
