package io.farheap.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.contract.Completion;
import io.farheap.cache.contract.Status;
import io.farheap.cache.route.MigrationLinks;
import io.farheap.cache.route.SessionLinks;
import io.farheap.cache.session.DataPath;
import io.farheap.migration.region.MigrationParticipant;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.testing.Fields;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.lang.reflect.Field;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The operations that a migration awaits of a session that has message rings besides its connections. */
@Needs(Need.SOFTVERBS)
class DrainTest {

    private static final int LARGE = 4096;
    private static final long LATE_NANOS = 500_000_000;

    private Cluster cluster;
    private Cache cache;
    private CacheSession session;
    private Buffer buffer;
    private int issued;
    private int ended;

    private final Completion succeeded = (token, status) -> {
        assertEquals(Status.OK, status);
        ended++;
    };

    @BeforeEach
    void create() {
        cluster = new Cluster(2, 2);
        cache = Cache.builder()
                .capacity(2 * Cluster.REGION_BYTES)
                .servers(cluster.addresses())
                .configuration(Configurations.BATCHED)
                .create();
        session = cache.openSession();
        buffer = cache.allocate(2 * LARGE);
    }

    @AfterEach
    void close() {
        SoftverbsFaults.delayOperations(0);
        cache.close();
        cluster.close();
    }

    private void write(long address, int bytes) {
        issued++;
        assertTrue(session.write(address, buffer, 0, bytes, succeeded, 0));
    }

    private void writeInABatch(long address) {
        write(address, 8);
        session.flush();
    }

    private static void awaitDrained(MigrationParticipant participant, RemoteRegion region) {
        while (!participant.drained(region)) {
            Thread.onSpinWait();
        }
    }

    /**
     * A drain may find nothing on its way in the ring of its server. The deadline of an earlier drain of another
     * server, which has passed long ago, must not count for it.
     */
    @Test
    void aDrainKnowsNothingOfTheOneBefore() throws Exception {
        MigrationParticipant participant = session.core().participant;
        RemoteRegion first = ((RegionCache) cache).table().get(0).copy();
        RemoteRegion second = ((RegionCache) cache).table().get(1).copy();
        for (int i = 0; i < 20; i++) {
            writeInABatch(0);
            session.drain();
        }
        SoftverbsFaults.delayOperations(LATE_NANOS);
        do {
            session.drain();
            writeInABatch(0);
            // If this thread was kept waiting for longer than the delay, there is nothing to await.
        } while (participant.drain(first));
        SoftverbsFaults.delayOperations(0);
        awaitDrained(participant, first);
        session.drain();
        MigrationLinks links =
                Fields.get(session.core().dataPath, "now", DataPath.class).links();
        Field deadline = SessionLinks.class.getDeclaredField("drainDeadline");
        deadline.setAccessible(true);
        deadline.setLong(links, System.nanoTime() - 1);

        SoftverbsFaults.delayOperations(LATE_NANOS);
        do {
            session.drain();
            write(Cluster.REGION_BYTES, LARGE);
        } while (participant.drain(second));
        writeInABatch(Cluster.REGION_BYTES + 2 * LARGE);
        participant.drained(second);
        SoftverbsFaults.delayOperations(0);
        awaitDrained(participant, second);
        session.drain();
        assertEquals(issued, ended);
    }
}
