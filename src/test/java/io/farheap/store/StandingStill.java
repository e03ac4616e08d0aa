package io.farheap.store;

import java.util.concurrent.CountDownLatch;

/** An addition to a value that is there, which says when it has been made, and stands still before it ends. */
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
