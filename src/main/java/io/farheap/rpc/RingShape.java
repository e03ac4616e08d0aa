package io.farheap.rpc;

import io.farheap.rpc.message.BatchFormat;

/**
 * The shape of the two message rings of a connection: the server's, of request batches, and the client's, of response
 * batches. Each begins with one cache line of control words; slots follow. A batch is in the slot of its sequence
 * modulo the number of slots.
 *
 * @param queueDepth the most batches in flight (the field's q)
 * @param batch the most requests in a batch (the field's b)
 * @param recordBytes the largest record that goes into a batch: the bytes that a request reads or writes, a call's
 *     arguments or its reply; times {@code batch} at most 256 KiB
 * @param calls whether requests may be calls, whose answers may come later than their batch's
 */
public record RingShape(int queueDepth, int batch, int recordBytes, boolean calls) {

    /** The most batches in flight that a shape may have. */
    public static final int MAX_QUEUE_DEPTH = 4096;
    /** The total payload of a full batch: beyond it, batching gains nothing (Redy, section 5.1). */
    public static final int PAYLOAD_BYTES = 4096;

    /** The most requests in a batch that a shape may have. */
    public static final int MAX_BATCH = 4096;
    /** Length of the control words at the start of each ring. */
    public static final int CONTROL_BYTES = 64;

    /** Offset in the client's ring of the server's sleep word: odd while the server thread sleeps and needs a bell. */
    public static final long ASLEEP = 0;
    /** Offset in the server's ring to which the client writes bells, with an immediate that wakes the server thread. */
    public static final long BELL = 0;

    /**
     * Offset in the server's ring to which the client writes while it awaits an answer for long. No thread reads the
     * word: the WRITE fails if the server's device is gone.
     */
    public static final long PROBE = 8;
    /**
     * Offset in the server's ring of the client's wanted word, written when the client is about to sleep: in the upper
     * 32 bits how often it has asked, in the lower 32 bits how many messages it had seen.
     */
    public static final long WANTED = 16;

    /**
     * The largest arguments and replies. A server thread serves a whole batch before it looks at the next client's
     * ring.
     */
    public static final int MAX_RECORD_BYTES = 64 << 10;

    private static final int LINE_BYTES = 64;
    private static final int MAX_SLOT_BYTES = 256 << 10;

    /** @throws IllegalArgumentException with the value that is wrong and its limits */
    public RingShape {
        if (queueDepth < 1 || queueDepth > MAX_QUEUE_DEPTH) {
            throw new IllegalArgumentException(
                    "a queue depth of " + queueDepth + " batches; it must be 1 to " + MAX_QUEUE_DEPTH);
        }
        if (batch < 1 || batch > MAX_BATCH) {
            throw new IllegalArgumentException("a batch of " + batch + " requests; it must be 1 to " + MAX_BATCH);
        }
        if (recordBytes < 1 || recordBytes > MAX_RECORD_BYTES) {
            throw new IllegalArgumentException(
                    "records of " + recordBytes + " bytes in batches; they have 1 to " + MAX_RECORD_BYTES);
        }
        if ((long) batch * recordBytes > MAX_SLOT_BYTES) {
            throw new IllegalArgumentException("batches of " + batch + " records of " + recordBytes
                    + " bytes; a batch has at most " + MAX_SLOT_BYTES + " bytes");
        }
    }

    /**
     * A shape for reads and writes alone. The largest record is the largest one for which {@code batch} equals 4 KB
     * divided by its size, rounded up, as in Redy.
     */
    public RingShape(int queueDepth, int batch) {
        this(queueDepth, batch, batch <= 1 ? PAYLOAD_BYTES : Math.max(1, (PAYLOAD_BYTES - 1) / (batch - 1)), false);
    }

    /**
     * Two more than the queue depth. One of them is for a batch that asks for a wake-up while the answer to an earlier
     * such batch has not been taken.
     */
    public int slots() {
        return queueDepth + 2;
    }

    /** Length of a slot of the server's ring, in whole cache lines: a full batch of the largest requests. */
    public int requestSlotBytes() {
        return lines(BatchFormat.HEADER_BYTES + batch * (BatchFormat.REQUEST_BYTES + BatchFormat.padded(recordBytes)));
    }

    /**
     * Length of a slot of the client's ring, in whole cache lines: the answer to a full batch and, if requests may be
     * calls, behind it a late answer to each.
     */
    public int responseSlotBytes() {
        int response = BatchFormat.HEADER_BYTES + batch * BatchFormat.padded(recordBytes) + BatchFormat.padded(batch);
        return lines(calls ? response + batch * (Long.BYTES + laterBytes()) : response);
    }

    /**
     * Offset in a response slot of the late answer to a call.
     *
     * @param index the call's place in its batch
     */
    public int laterAt(int index) {
        return responseSlotBytes() - (index + 1) * laterBytes();
    }

    private int laterBytes() {
        return BatchFormat.HEADER_BYTES + BatchFormat.padded(recordBytes);
    }

    /** Length of the ring in the server's memory. */
    public long requestRingBytes() {
        return CONTROL_BYTES + (long) slots() * requestSlotBytes();
    }

    /** Length of the ring in the client's memory. */
    public long responseRingBytes() {
        return CONTROL_BYTES + (long) slots() * responseSlotBytes();
    }

    private static int lines(int bytes) {
        return (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    }
}
