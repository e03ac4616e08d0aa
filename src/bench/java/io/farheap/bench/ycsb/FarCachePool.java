package io.farheap.bench.ycsb;

import io.farheap.lifetime.CloseStack;
import java.util.HashMap;
import java.util.Map;

/** Caches that stores use one after another: to start a server takes longer than to load one. One thread. */
final class FarCachePool implements AutoCloseable {

    private final Map<String, FarCacheProcess> byUse = new HashMap<>();
    private final CloseStack resources = new CloseStack();

    /**
     * @param use stores that are open at a time have different ones
     * @param bytes the same for one use and set of records
     */
    FarCacheProcess of(String use, long bytes) {
        return byUse.computeIfAbsent(use + " " + bytes, ignored -> resources.add(new FarCacheProcess(bytes)));
    }

    @Override
    public void close() {
        byUse.clear();
        resources.close();
    }
}
