package io.farheap.store.contract;

import java.lang.foreign.MemorySegment;

/** Told of the records of a store, one after the other: {@link io.farheap.store.FarStore#scan}. */
@FunctionalInterface
public interface RecordVisitor {

    /**
     * @param memory has a copy of the record, until this returns
     * @param key where its key begins
     * @param value where its value begins
     * @return whether to go on
     */
    boolean visit(MemorySegment memory, long key, int keyBytes, long value, int valueBytes);
}
