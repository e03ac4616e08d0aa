package io.farheap.bench.ycsb;

import io.farheap.cache.Cache;
import io.farheap.command.ServerProcess;
import io.farheap.lifetime.CloseStack;
import io.farheap.measure.LateOperations;
import io.farheap.measure.SoftverbsModel;
import io.farheap.verbs.Devices;

/** A cache in the memory of a server that is a process of its own. */
public final class FarCacheProcess implements AutoCloseable {

    /** Requests that are issued between two polls are posted in lists of at most this many. */
    private static final int DOORBELL_BATCH = 16;

    private static final int DEPTH = 64;
    /** The greatest depth that queue pairs of the ConnectX-5 model accept. */
    private static final int MODEL_DEPTH = 14;

    /** Small, so that rounding to whole regions does not change a share by much. */
    private static final long MOST_REGION_BYTES = 64 << 20;

    private static final long LEAST_REGION_BYTES = 64 << 10;

    private final CloseStack resources = new CloseStack();
    private final ServerProcess server;
    private final Cache cache;

    /** @param bytes the least size */
    public FarCacheProcess(long bytes) {
        long region = Math.clamp(Long.highestOneBit(bytes / 16), LEAST_REGION_BYTES, MOST_REGION_BYTES);
        long memory = (bytes + region - 1) / region * region;
        try {
            server = resources.add(
                    ServerProcess.start(Devices.library(), "", memory, region, LateOperations.environment()));
            boolean modelled = !SoftverbsModel.of(Devices.library()).equals(SoftverbsModel.NONE);
            cache = resources.add(Cache.builder()
                    .capacity(memory)
                    .servers(server.address())
                    .name("bench-ycsb")
                    .queueDepth(modelled ? MODEL_DEPTH : DEPTH)
                    .doorbellBatch(DOORBELL_BATCH)
                    .requests(2 * StoreContestant.PENDING)
                    .create());
            LateOperations.allow(cache.context());
        } catch (Throwable e) {
            try (resources) {
                throw e;
            }
        }
    }

    /** Returns the server's address. */
    public String address() {
        return server.address();
    }

    public Cache cache() {
        return cache;
    }

    /** Sends SIGKILL to the server. Its data is lost, which the cache learns when its lease ends. */
    public void kill() {
        server.kill();
    }

    @Override
    public void close() {
        resources.close();
    }
}
