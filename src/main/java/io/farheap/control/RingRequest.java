package io.farheap.control;

import io.farheap.verbs.Endpoint;

/**
 * A client's end of a pair of message rings, and what the server's end is to be.
 *
 * @param client          the client's queue pair
 * @param queueDepth      batches in flight at most
 * @param batch           requests in a batch at most
 * @param threads         the lease's rings are spread over so many server threads, or as many as the server has
 * @param responseAddress where the client's ring, for responses, begins
 * @param responseKey     its rkey
 */
public record RingRequest(Endpoint client, int queueDepth, int batch, int threads, long responseAddress, int responseKey) {
}
