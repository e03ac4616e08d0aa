package io.farheap.manager.service.servers;

import java.util.Map;

/**
 * Room that a cache can get.
 *
 * @param regions by server
 * @param threads server threads that it needs for each of them
 */
public record FreeRoom(Map<Long, Integer> regions, double threads) {}
