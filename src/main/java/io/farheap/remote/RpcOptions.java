package io.farheap.remote;

import io.farheap.rpc.RingShape;

/**
 * Limits of an {@link RpcQueue} for each server. Its memory, on each side, is about {@code batches} times {@code batch}
 * times three times {@code recordBytes}: a ring of arguments, and one of replies with as much again for late ones.
 *
 * @param batches batches in flight, 1 to {@value RingShape#MAX_QUEUE_DEPTH}
 * @param batch calls in a batch, 1 to {@value RingShape#MAX_BATCH}
 * @param recordBytes the most bytes of a call's arguments, and of its reply, 1 to {@value RingShape#MAX_RECORD_BYTES};
 *     times {@code batch} at most 256 KiB
 * @param threads over how many of its threads a server spreads this process's queues
 * @param inlineBytes batches up to this size travel in the work request, if the device allows it
 */
public record RpcOptions(int batches, int batch, int recordBytes, int threads, int inlineBytes) {

    /** 16 batches of 16 calls, with up to 256 bytes each way. */
    public static final RpcOptions DEFAULT = new RpcOptions(16, 16, 256, 1, 172);

    /** @throws IllegalArgumentException with the value that is wrong and its limits */
    public RpcOptions {
        if (threads < 1) {
            throw new IllegalArgumentException(threads + " server threads; there must be at least 1");
        }
        if (inlineBytes < 0) {
            throw new IllegalArgumentException(
                    "an inline threshold of " + inlineBytes + " bytes; it must be at least 0");
        }
        shape(batches, batch, recordBytes);
    }

    RingShape shape() {
        return shape(batches, batch, recordBytes);
    }

    private static RingShape shape(int batches, int batch, int recordBytes) {
        return new RingShape(batches, batch, recordBytes, true);
    }

    /** The same options with another number of batches in flight and of calls in a batch. */
    public RpcOptions with(int batchesInFlight, int calls) {
        return new RpcOptions(batchesInFlight, calls, recordBytes, threads, inlineBytes);
    }

    /** The same options with another limit of arguments and replies. */
    public RpcOptions withRecordBytes(int bytes) {
        return new RpcOptions(batches, batch, bytes, threads, inlineBytes);
    }
}
