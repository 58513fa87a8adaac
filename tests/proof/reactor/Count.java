import java.util.ArrayList;
import java.util.List;

/** Creates some clients, and prints how many threads they added and how many of them still refresh after one is closed. */
public class Count {
    public static void main(String[] args) throws Exception {
        int clients = Integer.parseInt(args[0]);
        int before = Thread.activeCount();
        List<Client> all = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            Client client = new Client();
            client.start();
            all.add(client);
        }
        Thread.sleep(1000);
        int threads = Thread.activeCount() - before;
        all.get(0).close();
        Thread.sleep(500);
        List<Integer> then = all.stream().map(Client::refreshes).toList();
        Thread.sleep(1500);
        int alive = 0;
        for (int i = 0; i < clients; i++) {
            if (all.get(i).refreshes() > then.get(i)) {
                alive++;
            }
        }
        System.out.println(threads + " " + alive + " " + Runtime.getRuntime().availableProcessors());
        System.exit(0);
    }
}
