package io.farheap.store;

/**
 * @param pending operations of a session that wait for the device at a time
 * @param expectedRecordBytes what is read of a record at first
 * @param maxKeyBytes of a key that is no word
 */
record SessionOptions(int pending, int expectedRecordBytes, int maxKeyBytes) {

    SessionOptions withPending(int operations) {
        return new SessionOptions(operations, expectedRecordBytes, maxKeyBytes);
    }
}
