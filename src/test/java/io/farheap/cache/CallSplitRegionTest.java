package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.contract.CacheException;
import io.farheap.migration.MigrationOptions;
import io.farheap.procedure.CallStatus;
import io.farheap.server.contract.ServedCode;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.TestDevice;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls that change words of a region that a failed migration has left on two servers. */
@Needs(Need.SOFTVERBS)
class CallSplitRegionTest {

    private static final int CHUNK_BYTES = 512;
    private static final int CHUNKS = (int) (Cluster.REGION_BYTES / CHUNK_BYTES);
    /** Each chunk is one READ of the new server, which begins when the chunk before it is new. */
    private static final MigrationOptions ONE_BY_ONE =
            MigrationOptions.DEFAULT.chunkBytes(CHUNK_BYTES).windowBytes(CHUNK_BYTES);

    private final Cluster cluster = new Cluster().serving(ServedCode.JAVA);

    @AfterEach
    void close() {
        SoftverbsFaults.failQueuePairsAfter(0);
        cluster.close();
    }

    private void moveInPart(Cache cache) {
        SoftverbsFaults.failQueuePairsAfter(CHUNKS / 2);
        assertThrows(CacheException.class, () -> cache.migrate(List.of(0), cluster.address(1), ONE_BY_ONE));
        SoftverbsFaults.failQueuePairsAfter(0);
        assertTrue(cache.movedBytes(0) > 0 && cache.movedBytes(0) < Cluster.REGION_BYTES, "the region is in two parts");
    }

    /** No server has such a region in its map, so the session changes the words. */
    @Test
    @Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void atomicsOnBothPartsEnd() {
        cluster.add(4);
        cluster.add(4);
        try (Cache cache = Cache.builder()
                .capacity(Cluster.REGION_BYTES)
                .servers(cluster.address(0))
                .device(TestDevice.client())
                .create()) {
            cache.addServer(cluster.address(1));
            Procedure add = cache.procedures().register(TestProcedures.Add.class, Procedures.WRITES);
            moveInPart(cache);
            try (CacheSession session = cache.openSession();
                    Buffer buffer = cache.allocate(4096)) {
                for (long address : new long[] {0, Cluster.REGION_BYTES - 8}) {
                    for (int before = 0; before < 3; before++) {
                        buffer.segment().set(JAVA_LONG, 0, address);
                        buffer.segment().set(JAVA_LONG, 8, 1);
                        int status = session.callBlocking(add, address, buffer, 0, 16, 64, 8)
                                .status();
                        assertEquals(CallStatus.describe(CallStatus.DONE), CallStatus.describe(status));
                        assertEquals(before, buffer.segment().get(JAVA_LONG, 64));
                    }
                }
            }
        }
    }
}
