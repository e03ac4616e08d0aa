package io.farheap.store.contract;

import java.lang.foreign.MemorySegment;

/**
 * A read-modify-write, as the application writes it. The session's thread calls it for one record at a time. If another
 * session was faster, it may be called more than once for one operation; the last call counts. It is given the store's
 * own memory: it must read and write only the bytes that it is given, keep no reference to them, and call no operation
 * of the store. An exception that it throws comes out of the operation, or of the poll if the operation was pending;
 * the operation has then ended, and the value is unchanged but for bytes that {@link #inPlace} has changed.
 */
public interface Update {

    /** Returned by {@link #copyBytes}: the value stays as it is, and is not copied. */
    int KEEP = Integer.MIN_VALUE;

    /** The length of the value that {@link #initial} will make, in bytes; negative to leave the key absent. */
    int initialBytes(long argument);

    /** Writes the value of a key that was absent. */
    void initial(MemorySegment value, long offset, int bytes, long argument);

    /**
     * Changes a value in place.
     *
     * @return false if the value cannot be changed in place, since its length changes or it is to be deleted;
     *     {@link #copyBytes} is called then
     */
    boolean inPlace(MemorySegment value, long offset, int bytes, long argument);

    /**
     * The length of the value that {@link #copy} will make of an old one, in bytes; {@link #KEEP}, or another negative
     * number to delete the key. In a store whose values have 8 bytes alone it must be 8 or {@link #KEEP}.
     */
    default int copyBytes(MemorySegment old, long oldOffset, int oldBytes, long argument) {
        return oldBytes;
    }

    /** Writes a new value, made from the old one. */
    void copy(
            MemorySegment old,
            long oldOffset,
            int oldBytes,
            MemorySegment value,
            long offset,
            int bytes,
            long argument);
}
