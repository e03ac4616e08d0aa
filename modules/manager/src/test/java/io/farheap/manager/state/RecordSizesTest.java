package io.farheap.manager.state;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class RecordSizesTest {

    @Test
    void noRecordIsLargerThanItsBound() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int i = 0; i < 2_000; i++) {
            CacheRecord cache = Samples.cache(random);
            isBound(new StateChange.PutCache(cache), NodePaths.cache(cache.id()), RecordFormat.encode(cache), seed);
            ServerRecord server = Samples.server(random);
            isBound(
                    new StateChange.PutServer(server),
                    NodePaths.server(server.id()),
                    RecordFormat.encode(server),
                    seed);
        }
    }

    /** The greatest values of all fields, and texts of which each character is escaped. */
    @Test
    void theLongestRecordIsNotLargerEither() {
        String text = "\u0001".repeat(256);
        TreeMap<Long, Integer> counts = new TreeMap<>();
        for (long id = -1; id >= -100; id--) {
            counts.put(id, Integer.MAX_VALUE);
        }
        CachePlan plan =
                new CachePlan(Integer.MAX_VALUE, Integer.MAX_VALUE, Long.MAX_VALUE, new TreeSet<>(counts.keySet()));
        AllocationTerms terms = new AllocationTerms(
                text, Integer.MAX_VALUE, Integer.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE, "t".repeat(64));
        CacheRecord cache = new CacheRecord(
                -1,
                text,
                Long.MAX_VALUE,
                Long.MAX_VALUE,
                Long.MAX_VALUE,
                terms,
                Long.MAX_VALUE,
                counts,
                counts,
                plan,
                false);
        isBound(new StateChange.PutCache(cache), NodePaths.cache(-1), RecordFormat.encode(cache), 0);
        LifeRecord life = new LifeRecord(
                text,
                1.234567890123456E-300,
                List.of(
                        new LifeRecord.LifeSample(Double.MIN_VALUE * 9, Integer.MAX_VALUE, Integer.MAX_VALUE, 1e-300),
                        new LifeRecord.LifeSample(
                                1.234567890123456E-300, Integer.MAX_VALUE, Integer.MAX_VALUE, 1.234567890123456E-300)),
                1.234567890123456E-300);
        isBound(new StateChange.PutLife(life), NodePaths.life(text), RecordFormat.encode(life), 0);
        TenantRecord tenant = new TenantRecord("t".repeat(64), Long.MAX_VALUE, Long.MAX_VALUE);
        isBound(new StateChange.PutTenant(tenant), NodePaths.tenant(tenant.name()), RecordFormat.encode(tenant), 0);
    }

    private static void isBound(StateChange change, String path, byte[] data, long seed) {
        // The store adds 100 bytes for each operation.
        int bytes = 100 + path.length() + data.length;
        assertTrue(bytes <= RecordSizes.most(change), bytes + " bytes, seed " + seed + ": " + change);
    }
}
