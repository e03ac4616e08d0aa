package io.farheap.store.index;

/** Copies of records, which entries of an index may point to. Inside an epoch. */
public interface RecordCopies {

    /** In an address: of a copy. The log's own addresses are below it. */
    long MARK = 1L << 47;

    static boolean marks(long address) {
        return (address & MARK) != 0;
    }

    /** What a chain begins with behind a copy. */
    long behind(long address);
}
