package io.farheap.control;

/**
 * A region of the server that a lease holds.
 *
 * @param regionId names it in calls to the same server
 * @param remoteAddress of its first byte, for remote operations
 * @param rkey the key of remote operations, valid only on queue pairs of the same lease
 * @param length bytes
 */
public record RegionGrant(int regionId, long remoteAddress, int rkey, long length) {}
