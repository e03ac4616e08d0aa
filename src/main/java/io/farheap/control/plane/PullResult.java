package io.farheap.control.plane;

/**
 * A region was copied.
 *
 * @param bytes copied
 * @param nanos from the first read posted to the last one completed
 */
public record PullResult(long bytes, long nanos) {}
