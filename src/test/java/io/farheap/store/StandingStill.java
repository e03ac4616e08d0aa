package io.farheap.store;

import java.util.concurrent.CountDownLatch;

/** An addition to an existing value, which signals that it was made and waits for a signal before it ends. */
class StandingStill extends Doing {

    StandingStill(CountDownLatch made, CountDownLatch go) {
        super(() -> {
            made.countDown();
            try {
                go.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
    }
}
