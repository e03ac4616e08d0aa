package io.farheap.store.session;

/**
 * @param pending operations of a session that wait for the device at a time
 * @param expectedRecordBytes what is read of a record at first
 * @param maxKeyBytes of a key that is no word
 * @param spare whether it is for a compaction, which has the last pages of a device with a capacity to itself
 */
public record SessionOptions(int pending, int expectedRecordBytes, int maxKeyBytes, boolean spare) {

    public SessionOptions withPending(int operations) {
        return new SessionOptions(operations, expectedRecordBytes, maxKeyBytes, spare);
    }

    public SessionOptions forCompaction() {
        return new SessionOptions(pending, expectedRecordBytes, maxKeyBytes, true);
    }
}
