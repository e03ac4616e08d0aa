package io.farheap.store;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.CountDownLatch;

/** An addition to a value that is there, which says when it has been made, and stands still before it ends. */
class StandingStill implements Update {

    private final CountDownLatch made;
    private final CountDownLatch go;

    StandingStill(CountDownLatch made, CountDownLatch go) {
        this.made = made;
        this.go = go;
    }

    private void stand() {
        made.countDown();
        try {
            go.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public int initialBytes(long argument) {
        return -1;
    }

    @Override
    public void initial(MemorySegment value, long offset, int bytes, long argument) {
        throw new AssertionError("it makes none");
    }

    @Override
    public boolean inPlace(MemorySegment value, long offset, int bytes, long argument) {
        boolean done = Values.ADD.inPlace(value, offset, bytes, argument);
        stand();
        return done;
    }

    @Override
    public void copy(
            MemorySegment old,
            long oldOffset,
            int oldBytes,
            MemorySegment value,
            long offset,
            int bytes,
            long argument) {
        Values.ADD.copy(old, oldOffset, oldBytes, value, offset, bytes, argument);
        stand();
    }
}
