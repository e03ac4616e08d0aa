package io.farheap.store.log;

import io.farheap.store.format.Key;
import io.farheap.store.format.Record;
import io.farheap.store.format.Words;
import io.farheap.store.index.Chains;
import io.farheap.store.index.Copies;
import org.jspecify.annotations.Nullable;

/** Chains of records, as far as memory has them. One thread's, inside an epoch. */
public final class MemoryChains implements Chains {

    private final Frames frames;
    private final Marks marks;
    private final Key key;
    private final @Nullable Copies copies;

    public MemoryChains(HybridLog log, @Nullable Copies copies) {
        this.copies = copies;
        this.frames = log.frames;
        this.marks = log.marks;
        this.key = new Key(log.layout);
    }

    @Override
    public long first(long address, long bit, boolean set) {
        long head = marks.head();
        // A copy that was read is left behind.
        long at = copies != null && Copies.marks(address) ? copies.behind(address) : address;
        while (at >= head) {
            long record = frames.memoryOf(at);
            key.useOf(record);
            if ((key.hash & bit) != 0 == set) {
                return at;
            }
            at = Record.previous(Words.getAcquire(record));
        }
        return at >= marks.begin() ? at : 0;
    }
}
