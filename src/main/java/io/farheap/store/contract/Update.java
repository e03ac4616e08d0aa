package io.farheap.store.contract;

import java.lang.foreign.MemorySegment;

/**
 * What a read-modify-write does with a value. Called on the session's thread, for one record at a time; it may be
 * called more than once for one operation, where another session was faster, and the last call counts. It sees the
 * store's own memory: it reads and writes the bytes that it is given and no others, keeps no reference, and makes no
 * operation of the store. What it throws comes out of the operation, or, where that was pending, of the poll; the
 * operation has ended then, and the value is as it was but for what {@link #inPlace} has changed.
 */
public interface Update {

    /** As the bytes of a copy: the value stays as it is, and is not copied. */
    int KEEP = Integer.MIN_VALUE;

    /** Bytes of the value that {@link #initial} makes; negative to leave the key absent. */
    int initialBytes(long argument);

    /** Makes the value of a key that is absent. */
    void initial(MemorySegment value, long offset, int bytes, long argument);

    /**
     * Changes a value where it is.
     *
     * @return false where that cannot be, as its length changes or it is to be deleted: it is copied then
     */
    boolean inPlace(MemorySegment value, long offset, int bytes, long argument);

    /** Bytes of the value that {@link #copy} makes of an old one; -1 to delete the key, or {@link #KEEP}. */
    default int copyBytes(MemorySegment old, long oldOffset, int oldBytes, long argument) {
        return oldBytes;
    }

    /** Makes a value of an old one. */
    void copy(
            MemorySegment old,
            long oldOffset,
            int oldBytes,
            MemorySegment value,
            long offset,
            int bytes,
            long argument);
}
