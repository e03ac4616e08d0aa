package io.farheap.store.session;

import io.farheap.store.log.HybridLog;

/**
 * How a session is made.
 *
 * @param pending how many operations of a session may wait for the device at a time
 * @param expectedRecordBytes how many bytes of a record are read at first
 * @param maxKeyBytes the longest key, in bytes, if keys do not have 8 bytes
 * @param kind which part of the reserve the session's records may use, of {@link HybridLog}
 */
public record SessionOptions(int pending, int expectedRecordBytes, int maxKeyBytes, int kind) {

    public SessionOptions withPending(int operations) {
        return new SessionOptions(operations, expectedRecordBytes, maxKeyBytes, kind);
    }

    public SessionOptions forCompaction() {
        return new SessionOptions(pending, expectedRecordBytes, maxKeyBytes, HybridLog.COMPACTION);
    }
}
