package io.farheap.store.operation;

import io.farheap.store.contract.Update;
import java.lang.foreign.MemorySegment;

/** An update that leaves a value as it is: a compaction copies records to the tail with it. */
public final class CompactionUpdate implements Update {

    public static final Update UPDATE = new CompactionUpdate();

    private CompactionUpdate() {}

    @Override
    public int initialBytes(long argument) {
        return -1;
    }

    @Override
    public void initial(MemorySegment value, long offset, int bytes, long argument) {
        throw new IllegalStateException("a record that is moved is there");
    }

    @Override
    public boolean inPlace(MemorySegment value, long offset, int bytes, long argument) {
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
        MemorySegment.copy(old, oldOffset, value, offset, bytes);
    }
}
