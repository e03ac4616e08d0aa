package io.farheap.kv;

import static io.farheap.kv.TestServers.key;
import static io.farheap.kv.TestServers.value;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.format.SilentProcess;
import io.farheap.kv.space.MapSessionCounts;
import org.junit.jupiter.api.Test;

/** Objects of a size that few others have, while no memory can go from one size to another. */
class RareSizeTest {

    private static final String NAME = "sizes";
    private static final long REGION_BYTES = 2 << 20;
    private static final int SMALL = 40;
    private static final int LARGE = 2000;
    private static final int SETS = 200;
    /** One object in this number is large. */
    private static final int RARE = 200;

    @Test
    void makeRoomForEachOther() {
        try (TestServers servers = new TestServers(NAME)) {
            String[] addresses = servers.startAll(1, 1, REGION_BYTES);
            try (FarMap map = servers.named(addresses)
                            .memory(REGION_BYTES)
                            .objects(12_000)
                            .create();
                    MapSession session = map.openSession()) {
                int next = 0;
                while (session.requests().counts().of(MapSessionCounts.EVICTED) < 5000) {
                    session.set(key(next), value(next, ++next % RARE == 0 ? LARGE : SMALL));
                }
                long evicted = session.requests().counts().of(MapSessionCounts.EVICTED);
                // The silent process may have a request in flight that uses any block, so no segment changes its size.
                try (SilentProcess silent = new SilentProcess(NAME, addresses[0])) {
                    for (int last = next + SETS; next < last; next++) {
                        session.set(key(next), value(next, LARGE));
                    }
                }
                evicted = session.requests().counts().of(MapSessionCounts.EVICTED) - evicted;
                assertTrue(evicted < 32 * SETS, evicted + " objects evicted for " + SETS);
                TestServers.assertSound(map);
            }
        }
    }
}
