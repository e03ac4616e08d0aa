package io.farheap.bench.ycsb;

import io.farheap.lifetime.CloseStack;
import java.util.HashMap;
import java.util.Map;

/** Caches that stores use one after another: starting a server takes longer than loading a store. One thread. */
final class FarCachePool implements AutoCloseable {

    private final Map<String, FarCacheProcess> byUse = new HashMap<>();
    private final CloseStack resources = new CloseStack();

    /**
     * @param use a name; stores that are open at a time use different ones
     * @param bytes the same for each use and set of records
     */
    FarCacheProcess of(String use, long bytes) {
        return byUse.computeIfAbsent(use + " " + bytes, ignored -> resources.add(new FarCacheProcess(bytes)));
    }

    /** Returns the addresses of all servers so far. */
    String[] addresses() {
        return byUse.values().stream().map(FarCacheProcess::address).toArray(String[]::new);
    }

    @Override
    public void close() {
        byUse.clear();
        resources.close();
    }
}
