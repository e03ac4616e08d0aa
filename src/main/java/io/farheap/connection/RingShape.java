package io.farheap.connection;

/**
 * How large the two message rings of a connection are: the server's, of request batches, and the client's, of response batches. Each
 * begins with a line of control words; slots follow. A batch is in the slot of its sequence modulo the number of slots.
 *
 * @param queueDepth batches in flight at most (the field's q)
 * @param batch      requests in a batch at most (the field's b)
 */
public record RingShape(int queueDepth, int batch) {

    public static final int MAX_QUEUE_DEPTH = 4096;
    /** What the payloads of a full batch come to: beyond it, batching gains nothing (Redy, section 5.1). */
    public static final int PAYLOAD_BYTES = 4096;
    public static final int MAX_BATCH = 4096;
    /** The control words at the start of each ring. */
    public static final int CONTROL_BYTES = 64;

    private static final int LINE_BYTES = 64;

    /** @throws IllegalArgumentException naming the value that is wrong and its limits */
    public RingShape {
        if (queueDepth < 1 || queueDepth > MAX_QUEUE_DEPTH) {
            throw new IllegalArgumentException("a queue depth of " + queueDepth + " batches; it must be 1 to " + MAX_QUEUE_DEPTH);
        }
        if (batch < 1 || batch > MAX_BATCH) {
            throw new IllegalArgumentException("a batch of " + batch + " requests; it must be 1 to " + MAX_BATCH);
        }
    }

    /** Two more than the queue depth: one for a batch that asks for a wake-up, while the answer to the one before has not been taken. */
    public int slots() {
        return queueDepth + 2;
    }

    /** The largest record that goes into a batch: of which {@code b} is 4 KB divided by its size, rounded up, as Redy has it. */
    public int recordBytes() {
        return batch == 1 ? PAYLOAD_BYTES : (PAYLOAD_BYTES - 1) / (batch - 1);
    }

    public int requestSlotBytes() {
        return lines(BatchFormat.HEADER_BYTES + batch * (BatchFormat.REQUEST_BYTES + BatchFormat.padded(recordBytes())));
    }

    public int responseSlotBytes() {
        return lines(BatchFormat.HEADER_BYTES + batch * BatchFormat.padded(recordBytes()) + BatchFormat.padded(batch));
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
