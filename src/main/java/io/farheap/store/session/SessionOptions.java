package io.farheap.store.session;

/**
 * How a session is made.
 *
 * @param pending how many operations of a session may wait for the device at a time
 * @param expectedRecordBytes how many bytes of a record are read at first
 * @param maxKeyBytes the longest key, in bytes, if keys do not have 8 bytes
 * @param spare whether the session is for a compaction, to which the last pages of a device with a limited capacity are
 *     left
 */
public record SessionOptions(int pending, int expectedRecordBytes, int maxKeyBytes, boolean spare) {

    public SessionOptions withPending(int operations) {
        return new SessionOptions(operations, expectedRecordBytes, maxKeyBytes, spare);
    }

    public SessionOptions forCompaction() {
        return new SessionOptions(pending, expectedRecordBytes, maxKeyBytes, true);
    }
}
