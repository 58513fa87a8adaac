package client;

import com.zaxxer.hikari.HikariDataSource;

/** Makes a client for each tenant. */
public final class ClientBuilder {
    private HikariDataSource connections;

    public ClientBuilder connections(HikariDataSource connections) {
        this.connections = connections;
        return this;
    }

    public Client build() {
        return new Client(connections);
    }
}
