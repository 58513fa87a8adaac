package client;

/** Makes a client for each tenant. */
public final class ClientBuilder {
    private String url;

    public ClientBuilder url(String url) {
        this.url = url;
        return this;
    }

    public Client build() {
        return new Client(url);
    }
}
