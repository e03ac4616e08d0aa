package io.farheap.store;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.farheap.store.contract.Update;
import java.lang.foreign.MemorySegment;

/** Updates for tests: a counter of 8 bytes, and bytes that grow. */
final class Values {

    /** Adds the argument to a value of 8 bytes; the initial value is the argument. */
    static final Update ADD = new Update() {
        @Override
        public int initialBytes(long argument) {
            return Long.BYTES;
        }

        @Override
        public void initial(MemorySegment value, long offset, int bytes, long argument) {
            value.set(JAVA_LONG_UNALIGNED, offset, argument);
        }

        @Override
        public boolean inPlace(MemorySegment value, long offset, int bytes, long argument) {
            value.set(JAVA_LONG_UNALIGNED, offset, value.get(JAVA_LONG_UNALIGNED, offset) + argument);
            return true;
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
            value.set(JAVA_LONG_UNALIGNED, offset, old.get(JAVA_LONG_UNALIGNED, oldOffset) + argument);
        }
    };

    /**
     * Writes a value that repeats the argument, one word longer with each update. A value of {@link #LONGEST} bytes is
     * deleted instead, and the next update writes one word again.
     */
    static final Update GROW = new Update() {
        @Override
        public int initialBytes(long argument) {
            return Long.BYTES;
        }

        @Override
        public void initial(MemorySegment value, long offset, int bytes, long argument) {
            fill(value, offset, bytes, argument);
        }

        @Override
        public boolean inPlace(MemorySegment value, long offset, int bytes, long argument) {
            return false;
        }

        @Override
        public int copyBytes(MemorySegment old, long oldOffset, int oldBytes, long argument) {
            return oldBytes == LONGEST ? -1 : oldBytes + Long.BYTES;
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
            fill(value, offset, bytes, argument);
        }
    };

    static final int LONGEST = 96;

    private Values() {}

    static void fill(MemorySegment value, long offset, int bytes, long word) {
        for (int at = 0; at < bytes; at += Long.BYTES) {
            value.set(JAVA_LONG_UNALIGNED, offset + at, word);
        }
    }
}
