package io.farheap.control.plane;

import io.farheap.verbs.Endpoint;

/**
 * One of two ends that inform each other by RDMA how far they have come: a queue pair, and a word of 8 bytes that the
 * other end may write over it.
 *
 * @param endpoint the queue pair
 * @param remoteAddress of the word
 * @param rkey allows writing the word, on that queue pair only
 */
public record WatermarkEndpoint(Endpoint endpoint, long remoteAddress, int rkey) {}
