package io.farheap.store.contract;

import java.lang.foreign.MemorySegment;

/** Receives the records of a store, one after the other: {@link io.farheap.store.FarStore#scan}. */
@FunctionalInterface
public interface RecordVisitor {

    /**
     * @param memory holds a copy of the record until this method returns
     * @param key offset of its key
     * @param value offset of its value
     * @return whether to continue with the next record
     */
    boolean visit(MemorySegment memory, long key, int keyBytes, long value, int valueBytes);
}
