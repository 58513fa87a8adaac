//! One snapshot per shape of the language: the source stands in the test, its facts in `snapshots/`.

#![allow(missing_docs)]

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
