package io.farheap.store.index;

/** Copies of records in memory (a read cache), to which entries of an index may point. Called inside an epoch. */
public interface RecordCopies {

    /** Flag in an address: it is a copy's. The log's own addresses are below this value. */
    long MARK = 1L << 47;

    static boolean marks(long address) {
        return (address & MARK) != 0;
    }

    /** The address in the log at which the chain behind a copy begins. */
    long behind(long address);
}
