import io.vertx.core.AbstractVerticle;
import io.vertx.core.Future;
import java.util.concurrent.atomic.AtomicInteger;

/** Answers each message with the result of a slow call. */
public class Answers extends AbstractVerticle {
    private static final AtomicInteger CALLS = new AtomicInteger();

    @Override
    public void start() {
        vertx.eventBus().<String>consumer("slow", message -> answer(message.body()).onSuccess(message::reply));
    }

    private Future<String> answer(String name) {
        return Future.future(promise -> promise.complete(load(name)));
    }

    /** The number of slow calls. */
    public static int calls() {
        return CALLS.get();
    }

    private static String load(String name) {
        CALLS.incrementAndGet();
        try {
            Thread.sleep(300);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        }
        return name + "!";
    }
}
