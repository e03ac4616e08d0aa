package io.farheap.control.plane;

import io.farheap.verbs.Endpoint;

/**
 * A client's end of a pair of message rings, and the properties of the server's end.
 *
 * @param client the client's queue pair
 * @param queueDepth batches in flight at most
 * @param batch requests in a batch at most
 * @param recordBytes of the largest record in a batch; 0 for the size that reads and writes in batches of that size
 *     need
 * @param calls whether requests may be calls
 * @param threads the lease's rings are spread over so many server threads, or as many as the server has
 * @param responseAddress where the client's ring, for responses, begins
 * @param responseKey its rkey
 */
public record RingRequest(
        Endpoint client,
        int queueDepth,
        int batch,
        int recordBytes,
        boolean calls,
        int threads,
        long responseAddress,
        int responseKey) {

    /** A request for rings of reads and writes only. */
    public RingRequest(Endpoint client, int queueDepth, int batch, int threads, long responseAddress, int responseKey) {
        this(client, queueDepth, batch, 0, false, threads, responseAddress, responseKey);
    }
}
