package io.farheap.manager;

/**
 * A cache, as the manager knows it.
 *
 * @param leftMillis of its lifetime; 0 where it is for ever
 */
public record CacheDescription(Allocation allocation, String name, long leftMillis) {}
