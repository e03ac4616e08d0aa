package io.farheap.kv;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.contract.KvHandler;
import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.eviction.EvictionSettings;
import io.farheap.kv.space.MapSessionCounts;
import io.farheap.remote.contract.VerbCounts;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The numbers of operations that evictions post, with one request at a time and with many in flight. */
class EvictionTest {

    private static final int OBJECTS = 6000;
    private static final int EVICTIONS = 10_000;

    private long key;
    private long failed;
    private boolean found;

    private void insert(MapSession session, int count, int inFlight) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment keyMemory = arena.allocate(Long.BYTES, Long.BYTES);
            MemorySegment value = arena.allocate(8);
            KvHandler handler = (tag, status, memory, at, bytes) -> failed += status == KvStatus.DONE ? 0 : 1;
            for (int i = 0; i < count; i++) {
                keyMemory.set(JAVA_LONG, 0, key++);
                while (session.inFlight() == inFlight || !session.set(keyMemory, value, 0)) {
                    session.poll(handler);
                }
            }
            while (session.inFlight() > 0) {
                session.poll(handler);
            }
        }
        assertEquals(0, failed);
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "1, 16", "2, 16"})
    void oneSampleAndOneFetchAndAddServeSeveral(int servers, int inFlight) {
        try (TestSpace space = new TestSpace(servers, 1, (1 << 20) / servers, OBJECTS);
                MapSession session = space.map.openSession()) {
            insert(session, 2 * OBJECTS, inFlight);
            VerbCounts before = session.posted();
            long evictedBefore = session.requests().counts().of(MapSessionCounts.EVICTED);
            long crowdedBefore = session.requests().counts().of(MapSessionCounts.CROWDED_OUT);
            insert(session, EVICTIONS, inFlight);
            VerbCounts posted = session.posted().since(before);
            long evicted = session.requests().counts().of(MapSessionCounts.EVICTED) - evictedBefore;
            assertTrue(
                    evicted + session.requests().counts().of(MapSessionCounts.CROWDED_OUT) - crowdedBefore
                            >= EVICTIONS - 100,
                    "evictions");
            // An insertion posts two READs and two compare-and-swaps, and one insertion in forty posts more READs,
            // because fingerprints are equal.
            double samples = (posted.reads() - 2.0 * EVICTIONS) / evicted;
            assertTrue(samples < 0.7, () -> samples + " READs an eviction");
            // If the history numbers are on another server than the sample, some of them come late.
            double adds = (double) posted.adds() / evicted;
            assertTrue(adds < (servers == 1 ? 0.14 : 0.3), () -> adds + " fetch-and-adds an eviction");
            double swaps = (posted.swaps() - 2.0 * EVICTIONS) / evicted;
            assertTrue(swaps < 1.1, () -> swaps + " compare-and-swaps an eviction");
        }
    }

    /**
     * An object whose slot is below another one of its fingerprint is evicted, too. Otherwise cold objects would gather
     * below objects that stay.
     */
    @Test
    void whatIsNotReadAnyMoreGoesWhereverItIs() {
        int hot = 3000;
        EvictionSettings lru = EvictionSettings.of("lru");
        try (TestSpace space = new TestSpace(1, 1, 1 << 20, OBJECTS, lru);
                MapSession session = space.map.openSession()) {
            int last = 20 * OBJECTS;
            for (long cold = 0; cold < last; cold++) {
                set(session, hot + cold);
                if (cold >= 2 * OBJECTS && cold % 2000 == 0) {
                    for (long one = 0; one < hot; one++) {
                        if (!get(session, one)) {
                            set(session, one);
                        }
                    }
                }
            }
            int old = 0;
            long held = space.map.stats().objects();
            for (long cold = 0; cold < last - 4 * held; cold++) {
                old += get(session, hot + cold) ? 1 : 0;
            }
            assertEquals(0, old, () -> "objects that nobody has read for long, of " + held);
        }
    }

    private void set(MapSession session, long with) {
        key = with;
        insert(session, 1, 1);
    }

    private boolean get(MapSession session, long of) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment keyMemory = arena.allocate(Long.BYTES, Long.BYTES);
            keyMemory.set(JAVA_LONG, 0, of);
            found = false;
            KvHandler handler = (tag, status, memory, at, bytes) -> found = status == KvStatus.DONE;
            while (!session.get(keyMemory, 0)) {
                session.poll(handler);
            }
            while (session.inFlight() > 0) {
                session.poll(handler);
            }
            return found;
        }
    }
}
