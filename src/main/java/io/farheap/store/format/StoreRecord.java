package io.farheap.store.format;

/**
 * Records, by their address in memory. A record's first word is its header:
 *
 * <pre>
 * bit 63     deleted: a tombstone
 * bit 62     invalid: it was never published, and readers pass over it
 * bit 61     used: set in every record, so that no header is 0
 * bit 60     sealed: it is being or was replaced by a copy, and is not changed in place any more
 * 48 to 59   the version, modulo 2^12, of the checkpoint that it belongs to
 * 0 to 47    the address of the previous record in its chain, or 0
 * </pre>
 *
 * Key and value follow, of 8 bytes each ({@link RecordLayout#COMPACT}), or a word with their lengths and a stamp and
 * then both ({@link RecordLayout#GENERAL}).
 */
@SuppressWarnings("JavaLangClash")
public final class StoreRecord {

    public static final long DELETED = 1L << 63;
    public static final long INVALID = 1L << 62;
    static final long USED = 1L << 61;
    public static final long SEALED = 1L << 60;
    public static final long ADDRESS = (1L << 48) - 1;

    static final int VERSION_SHIFT = 48;
    public static final long VERSION = (1L << 12) - 1;

    private StoreRecord() {}

    public static long header(long previous, long version) {
        return USED | (version & VERSION) << VERSION_SHIFT | previous;
    }

    public static long previous(long header) {
        return header & ADDRESS;
    }

    public static long version(long header) {
        return header >>> VERSION_SHIFT & VERSION;
    }

    /** The header with another version. */
    public static long ofVersion(long header, long version) {
        return header & ~(VERSION << VERSION_SHIFT) | (version & VERSION) << VERSION_SHIFT;
    }

    public static boolean deleted(long header) {
        return header < 0;
    }

    public static boolean sealed(long header) {
        return (header & SEALED) != 0;
    }
}
