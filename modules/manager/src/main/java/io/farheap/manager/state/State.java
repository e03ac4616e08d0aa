package io.farheap.manager.state;

import java.util.List;

/**
 * Everything that is stored, at one moment. Immutable.
 *
 * @param servers in no order
 * @param caches in no order
 */
public record State(List<ServerRecord> servers, List<CacheRecord> caches) {

    public State {
        servers = List.copyOf(servers);
        caches = List.copyOf(caches);
    }
}
