//! Facts of each shape of the language: small sources, and snapshots of their facts in `snapshots/`.

use blocklint_facts::{FileFacts, dump, validate};

fn facts(source: &str) -> FileFacts {
    let facts = blocklint_java::extract(source.as_bytes());
    assert_eq!(validate(&facts), Ok(()));
    facts
}

macro_rules! shape {
    ($name:ident, $source:literal) => {
        #[test]
        fn $name() {
            let facts = facts($source);
            assert_eq!(facts.problems, []);
            insta::with_settings!({ omit_expression => true, description => $source }, {
                insta::assert_snapshot!(stringify!($name), dump(&facts));
            });
        }
    };
}

shape!(
    handler_and_executor,
    r#"
package shop.web;

import io.netty.channel.*;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import shop.store.Store;
import static shop.clock.Clock.pause;
import static java.util.Objects.*;

class Handler extends ChannelInboundHandlerAdapter implements Runnable, java.io.Closeable {
    private final ExecutorService pool = Executors.newFixedThreadPool(2);
    private Store store;
    static final int LIMIT = 3;

    Handler(Store store) {
        super();
        this.store = store;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) throws Exception {
        pool.submit(() -> pause());
        pool.submit(this::run);
        pool.execute(() -> {
            store.load(context);
        });
        this.store.load();
        store.peek().next();
        inline(Handler::new);
        context.fireChannelRead(message);
    }

    private void inline(Runnable work) {
        work.run();
    }

    public void run() {
        try {
            Thread.sleep(1000);
        } catch (InterruptedException | RuntimeException error) {
            Thread.currentThread().interrupt();
        } finally { done(); }
    }
}
"#
);

shape!(
    reactor_chain,
    r#"
class Rates {
    Mono<String> onParallel(List<? extends Item> items, int... rest) {
        return Mono.fromCallable(() -> read())
                .map(String::trim)
                .flatMap(s -> { return save(s); })
                .subscribeOn(Schedulers.parallel());
    }
}
"#
);

shape!(
    kinds_of_classes,
    r#"
package a;
import java.util.function.Supplier;

@Component("shop")
@Retention(RetentionPolicy.RUNTIME)
public abstract class Outer<T extends Base & Closeable, U> extends Parent<T> {
    record Point(int x, Supplier<Store> store) implements Shape {
        Point { check(x); }
        int x() { return x + 1; }
    }
    enum Color {
        RED, GREEN(2), BLUE(make()) { @Override int value() { return other(); } };
        private final int value;
        Color() { this(1); }
        Color(int value) { this.value = value; }
        int value() { return value; }
    }
    interface Shape { int SIDES = count(); double area(); default void draw() { paint(); } static void all() {} }
    @interface Mark { String value() default "x"; }
    static class Nested { void go() { helper(); field.run(); } }
    class Inner { Outer<T, U> up() { return Outer.this; } }

    static { boot(); }
    { warm(); }
    static final Map<String, List<? super T>> TABLE = new HashMap<>() {{ put("a", null); }};
    int[] sizes = {1, -2, 0xFF, 1_000L}, more[];
    Runnable field = () -> helper(), plain = null;
    final Thread thread = new Thread(this::work);

    @Scheduled(fixedDelay = 5000, zones = {"a", "b"})
    public <R extends Result> R work(T item, U other, R result, String... names) { return super.work(item); }
    protected abstract void todo();
    native void raw();
    synchronized void held() { work(); }
    static synchronized void heldStatic() { boot(); }
    void refuses() { throw new UnsupportedOperationException("later"); }
    void helper() {
        class Local extends Nested { }
        Runnable r = new Runnable() { int n = 0; public void run() { n++; helper(); } };
        Outer.super.toString();
        java.util.concurrent.Executors.newCachedThreadPool().submit((Callable<Store>) Store::new);
        this.new Inner();
        new Outer.Nested().go();
        String[]::new;
    }
}
"#
);

shape!(
    branches_loops_and_values,
    r#"
class A {
    String choose(Object value, int level, List<Store> stores) {
        if (value == null) return "none";
        if (level > 3) { throw new IllegalStateException(); } else { log(level); }
        int kind = switch (level) {
            case 1, 2 -> low();
            case 3 -> { prepare(); yield high(); }
            default -> throw new Error();
        };
        switch (kind) {
            case LOW:
                low();
                break;
            default:
                high();
        }
        String text = value instanceof String s && !s.isEmpty() ? s.trim() : level > 1 ? "b" : other(value);
        Object part = switch (value) {
            case Point(int x, Point(var y, _)) when x > y -> x;
            case Store store -> store.load();
            default -> null;
        };
        for (Store store : stores) { store.load(); }
        for (int i = start(), n = 3; i < n; i += step()) { work(i); }
        while (more()) { if (done()) break; next(); }
        do { next(); } while (more());
        label: for (;;) { break label; }
        try (Reader in = open(text); out) {
            in.read();
            return read(in);
        } catch (IOException | RuntimeException error) {
            error.printStackTrace();
        } finally { close(); }
        synchronized (lock) { shared++; this.total += count(); table[0] = make(); }
        boolean both = ready() || (check() && verify());
        var list = new ArrayList<Store>(3);
        char c = 'x'; long l = 10L; float f = 1.5f; String block = """
            text
            """;
        assert ready() : "no";
        return list.get(0).name;
    }
}
"#
);

shape!(
    generics_and_lambdas,
    r#"
class Flow<T> {
    private final Mono<List<T>> source;
    Flow(Mono<List<T>> source) { this.source = source; }
    Mono<Void> run(Function<? super T, ? extends Publisher<Void>> f, BiFunction<T, T, T> merge) {
        int limit = 3;
        return source.flatMapMany(Flux::fromIterable)
                .filter((T item) -> item != null)
                .reduce((a, b) -> merge.apply(a, b))
                .flatMap(item -> { int n = limit; return Mono.<T>fromCallable(() -> save(item, n)); })
                .then(Mono.defer(this::done));
    }
    private static <X> X save(X item, int n) { return item; }
    Mono<Void> done() { return Mono.empty(); }
}
"#
);

shape!(
    comments,
    r#"
class A {
    // blocklint: nonblocking
    @Override
    void promise() {
        Thread.sleep(1); // blocklint: ignore[BLT101, blocking-file] only at start-up
        /* blocklint: ignore */

        other("// blocklint: ignore");
    }
}
"#
);
