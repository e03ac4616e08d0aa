package io.farheap.kv.leased.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.RegionGrant;
import io.farheap.remote.contract.RemoteRegion;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ServerAreaTest {

    private static final int CHUNK = 64 << 10;
    private static final int BYTES = 16 * CHUNK;

    private volatile long now = Long.MAX_VALUE - 10;
    private final AreaPart first = new AreaPart();
    private final AreaPart second = new AreaPart();
    private final AreaPart third = new AreaPart();

    private static RemoteRegion region() {
        return new RemoteRegion(null, 0, new RegionGrant(3, 4096, 5, BYTES), 1);
    }

    private ServerArea area(Supplier<RemoteRegion> allocation) {
        return new ServerArea(allocation, () -> "server 1", BYTES, () -> now);
    }

    /** An area whose region is there. */
    private ServerArea given() {
        ServerArea area = area(ServerAreaTest::region);
        AreaPart part = new AreaPart();
        while (!area.take(1, part)) {
            Thread.onSpinWait();
        }
        area.give(part);
        return area;
    }

    /** The session has other requests, and other servers. */
    @Test
    void noSessionWaitsForAServerThatDoesNotAnswer() throws Exception {
        CountDownLatch answer = new CountDownLatch(1);
        ServerArea area = area(() -> {
            try {
                answer.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return region();
        });
        assertFalse(area.take(1, first));
        assertNull(area.ring(1));
        assertTrue(area.isAsking());
        assertEquals("", area.refusal());
        answer.countDown();
        while (!area.take(1, first)) {
            Thread.onSpinWait();
        }
        assertFalse(area.isAsking());
        assertTrue(area.has(first));
        assertNotNull(area.ring(1));
    }

    @Test
    void whateverTheAllocationThrowsIsARefusal() {
        ServerArea area = area(() -> {
            throw new IllegalStateException("it is closed");
        });
        assertFalse(area.take(1, first));
        while (area.isAsking()) {
            Thread.onSpinWait();
        }
        assertTrue(area.refusal().contains("no region of server 1"), area::refusal);
        assertTrue(area.refusal().contains("it is closed"), area::refusal);
        assertFalse(area.take(1, first));
        assertFalse(area.isAsking(), "it was asked just now");
        now += 1_000_000_000;
        assertFalse(area.take(1, first));
        assertTrue(area.isAsking() || !area.refusal().isEmpty());
    }

    /** Short values that come later do not take what a long one waits for; unless that one asks no more. */
    @Test
    void partsAreGivenInTheOrderOfAsking() {
        ServerArea area = given();
        assertTrue(area.take(10 * CHUNK, first));
        assertFalse(area.take(12 * CHUNK, second));
        assertFalse(area.take(CHUNK, third));
        area.give(first);
        assertTrue(area.take(12 * CHUNK, second));
        assertTrue(area.take(CHUNK, third));
        area.give(third);
        AreaPart unpolled = new AreaPart();
        assertFalse(area.take(12 * CHUNK, unpolled));
        assertFalse(area.take(CHUNK, third));
        now += 100_000_000;
        assertTrue(area.take(CHUNK, third));
        area.give(third);
        assertFalse(area.take(12 * CHUNK, unpolled));
        area.give(unpolled);
        assertTrue(area.take(CHUNK, third), "what was given up is not waited for");
    }

    /** Another session may have heard that the region is this process's no more. */
    @Test
    void aPartOfAnEarlierRegionIsNone() {
        ServerArea area = given();
        assertTrue(area.take(BYTES - CHUNK, first));
        assertTrue(area.take(CHUNK, second));
        area.drop(second);
        while (!area.take(BYTES, second)) {
            Thread.onSpinWait();
        }
        assertFalse(area.has(first));
        area.give(first);
        assertFalse(area.take(CHUNK, third), "the room of an earlier part was given back");
    }

    /** A later session of the number has the ring. */
    @Test
    void aSessionsNumberHasOneRing() {
        ServerArea area = given();
        AreaPart ring = area.ring(5);
        assertNotNull(ring);
        assertSame(ring, area.ring(5));
        assertTrue(area.mayHold(BYTES - CHUNK));
        assertFalse(area.mayHold(BYTES));
        assertTrue(area.take(BYTES - CHUNK, first));
        assertTrue(area.ring(6) != null && area.ring(6).at != ring.at);
    }
}
