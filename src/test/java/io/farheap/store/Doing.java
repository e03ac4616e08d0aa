package io.farheap.store;

import io.farheap.store.contract.Update;
import java.lang.foreign.MemorySegment;

/** An addition to an existing value, which runs something else before it ends. */
class Doing implements Update {

    private final Runnable what;

    Doing(Runnable what) {
        this.what = what;
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
        what.run();
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
        what.run();
    }
}
