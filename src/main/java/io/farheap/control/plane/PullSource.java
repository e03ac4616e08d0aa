package io.farheap.control.plane;

import io.farheap.verbs.Endpoint;

/**
 * The old server's end of a pull.
 *
 * @param pullId names it in {@link ControlPlane#closePull}
 * @param source the old server's queue pair, connected to the puller's
 * @param remoteAddress of the region's first byte
 * @param rkey allows remote reads on that queue pair only
 * @param length bytes
 */
public record PullSource(long pullId, Endpoint source, long remoteAddress, int rkey, long length) {}
