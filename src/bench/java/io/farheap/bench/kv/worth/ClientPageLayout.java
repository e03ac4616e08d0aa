package io.farheap.bench.kv.worth;

/** The layout of a client's own memory. */
final class ClientPageLayout {

    /** The key's bucket. */
    static final int BUCKET = 0;
    /** The block that is read. */
    static final int BLOCK = 640;
    /** The block that is written. */
    static final int NEW_BLOCK = BLOCK + FarTableLayout.MOST_BLOCK_BYTES;
    /** A bucket at a random place. */
    static final int SAMPLE = NEW_BLOCK + FarTableLayout.MOST_BLOCK_BYTES;
    /** The first bytes of blocks that the sample names. */
    static final int HEADS = SAMPLE + FarTableLayout.BUCKET_BYTES;

    static final int HEAD_BYTES = 40;
    /** The old value that an atomic returns. */
    static final int OLD = HEADS + Evictor.OBJECTS * HEAD_BYTES;

    static final int OTHER_OLD = OLD + Long.BYTES;
    static final int NUMBER = OTHER_OLD + Long.BYTES;
    static final int WEIGHT = NUMBER + Long.BYTES;
    /** A bucket of the history's index. */
    static final int INDEX = WEIGHT + Long.BYTES;
    /** A place of the history's queue. */
    static final int QUEUED = INDEX + FarTableLayout.INDEX_BUCKET_BYTES;
    /** Ends and lock of a list. */
    static final int LIST = QUEUED + Long.BYTES;
    /** A block's neighbours. */
    static final int LINKS = LIST + FarTableLayout.LIST_BYTES;
    /** Words to write. */
    static final int WORDS = LINKS + FarTableLayout.LINKS_BYTES;

    private ClientPageLayout() {}
}
