package io.farheap.store.log;

import io.farheap.store.format.NativeWords;
import io.farheap.store.format.OperationKey;
import io.farheap.store.format.StoreRecord;
import io.farheap.store.index.RecordChains;
import io.farheap.store.index.RecordCopies;
import org.jspecify.annotations.Nullable;

/** Follows chains of records as far as they are in memory. One thread uses it, inside an epoch. */
public final class MemoryChains implements RecordChains {

    private final PageFrames frames;
    private final LogAddresses marks;
    private final OperationKey key;
    private final @Nullable RecordCopies copies;

    public MemoryChains(HybridLog log, @Nullable RecordCopies copies) {
        this.copies = copies;
        this.frames = log.frames;
        this.marks = log.marks;
        this.key = new OperationKey(log.layout);
    }

    @Override
    public long first(long address, long bit, boolean set) {
        long head = marks.head();
        // A copy of the read cache does not move to the next table: the chain in the log begins behind it.
        long at = copies != null && RecordCopies.marks(address) ? copies.behind(address) : address;
        while (at >= head) {
            long record = frames.memoryOf(at);
            key.useOf(record);
            if ((key.hash & bit) != 0 == set) {
                return at;
            }
            at = StoreRecord.previous(NativeWords.getAcquire(record));
        }
        return at >= marks.begin() ? at : 0;
    }
}
