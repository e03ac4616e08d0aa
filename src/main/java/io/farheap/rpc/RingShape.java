package io.farheap.rpc;

import io.farheap.rpc.message.BatchFormat;

/**
 * How large the two message rings of a connection are: the server's, of request batches, and the client's, of response
 * batches. Each begins with a line of control words; slots follow. A batch is in the slot of its sequence modulo the
 * number of slots.
 *
 * @param queueDepth batches in flight at most (the field's q)
 * @param batch requests in a batch at most (the field's b)
 * @param recordBytes the largest record that goes into a batch: what a request reads, writes, gives as arguments or has
 *     as a reply
 * @param calls whether requests may be calls, whose answers may come later than their batch's
 */
public record RingShape(int queueDepth, int batch, int recordBytes, boolean calls) {

    public static final int MAX_QUEUE_DEPTH = 4096;
    /** What the payloads of a full batch come to: beyond it, batching gains nothing (Redy, section 5.1). */
    public static final int PAYLOAD_BYTES = 4096;

    public static final int MAX_BATCH = 4096;
    /** The control words at the start of each ring. */
    public static final int CONTROL_BYTES = 64;

    /** Where the server's asleep word is in the client's ring: odd while it sleeps and wants the bell. */
    public static final long ASLEEP = 0;
    /** Where bells are written to in the server's ring, and where probes are. */
    public static final long BELL = 0;

    public static final long PROBE = 8;
    /**
     * Where the client says in the server's ring that it is about to sleep: how many it has said it before, and how
     * many messages it had seen then.
     */
    public static final long WANTED = 16;

    /**
     * What arguments and replies may have. A server thread serves a whole batch before it looks at the next client's.
     */
    public static final int MAX_RECORD_BYTES = 64 << 10;

    private static final int LINE_BYTES = 64;
    private static final int MAX_SLOT_BYTES = 256 << 10;

    /** @throws IllegalArgumentException naming the value that is wrong and its limits */
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
     * Of reads and writes alone. The largest record is that of which {@code b} is 4 KB divided by its size, rounded up,
     * as Redy has it.
     */
    public RingShape(int queueDepth, int batch) {
        this(queueDepth, batch, batch <= 1 ? PAYLOAD_BYTES : Math.max(1, (PAYLOAD_BYTES - 1) / (batch - 1)), false);
    }

    /**
     * Two more than the queue depth: one for a batch that asks for a wake-up, while the answer to the one before has
     * not been taken.
     */
    public int slots() {
        return queueDepth + 2;
    }

    public int requestSlotBytes() {
        return lines(BatchFormat.HEADER_BYTES + batch * (BatchFormat.REQUEST_BYTES + BatchFormat.padded(recordBytes)));
    }

    public int responseSlotBytes() {
        int response = BatchFormat.HEADER_BYTES + batch * BatchFormat.padded(recordBytes) + BatchFormat.padded(batch);
        return lines(calls ? response + batch * (Long.BYTES + laterBytes()) : response);
    }

    /**
     * Where in a response slot the answer to a call is that comes later.
     *
     * @param index the call's place in its batch
     */
    public int laterAt(int index) {
        return responseSlotBytes() - (index + 1) * laterBytes();
    }

    private int laterBytes() {
        return BatchFormat.HEADER_BYTES + BatchFormat.padded(recordBytes);
    }

    /** Of the server's memory. */
    public long requestRingBytes() {
        return CONTROL_BYTES + (long) slots() * requestSlotBytes();
    }

    /** Of the client's memory. */
    public long responseRingBytes() {
        return CONTROL_BYTES + (long) slots() * responseSlotBytes();
    }

    private static int lines(int bytes) {
        return (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    }
}
