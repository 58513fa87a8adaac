import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Sends messages to a verticle, and prints the longest stall of its event loop in milliseconds, and the number of right answers. */
public class Stall {
    private static final int MESSAGES = 4;

    public static void main(String[] args) throws Exception {
        Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
        CountDownLatch deployed = new CountDownLatch(1);
        vertx.deployVerticle(new Answers()).onSuccess(id -> deployed.countDown());
        deployed.await();
        AtomicLong last = new AtomicLong();
        AtomicLong longest = new AtomicLong();
        vertx.setPeriodic(2, tick -> {
            long now = System.nanoTime();
            long before = last.getAndSet(now);
            if (before != 0) {
                longest.accumulateAndGet(now - before, Math::max);
            }
        });
        // The first call loads and compiles classes, which is no stall.
        Thread.sleep(700);
        longest.set(0);
        AtomicInteger right = new AtomicInteger();
        CountDownLatch answered = new CountDownLatch(MESSAGES);
        for (int i = 0; i < MESSAGES; i++) {
            String name = "m" + i;
            vertx.eventBus().<String>request("slow", name).onComplete(answer -> {
                if (answer.succeeded() && answer.result().body().equals(name + "!")) {
                    right.incrementAndGet();
                }
                answered.countDown();
            });
        }
        answered.await();
        Thread.sleep(50);
        System.out.println(longest.get() / 1_000_000 + " " + right.get() + " " + Answers.calls());
        System.exit(0);
    }
}
