package io.farheap.migration.region;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.RegionGrant;
import io.farheap.remote.contract.RemoteRegion;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A region table that grows and shrinks, and is counted meanwhile. */
class RegionTableTest {

    private static final long BYTES = 1024;
    private static final int CHANGES = 20_000;

    private static RemoteRegion region(int id) {
        return new RemoteRegion(null, 0, new RegionGrant(id, 0, 0, 0), 0);
    }

    private static RegionTable table(RemoteRegion... regions) {
        return new RegionTable(regions, regions.length * BYTES, BYTES);
    }

    @Test
    void whatIsAppendedIsBehindWhatWasThere() {
        RemoteRegion moved = region(9);
        RegionTable table = table(region(1), region(2));
        table.set(1, RegionEntry.whole(moved));
        RegionEntry first = table.get(0);
        table.append(List.of(region(3), region(4)));
        assertEquals(2 * BYTES, table.capacity(), "nobody is let through to it yet");
        assertEquals(4, table.size());
        assertSame(first, table.get(0), "a session's path to it stays good");
        assertSame(moved, table.get(1).copy());
        assertEquals(3, table.get(2).copy().regionId());
        assertEquals(4, table.get(3).copy().regionId());
        table.capacity(3 * BYTES + 1);
        assertEquals(3 * BYTES + 1, table.capacity());
    }

    @Test
    void whatIsTruncatedIsGoneAndTheRestStays() {
        RegionTable table = table(region(1), region(2), region(3));
        RegionEntry first = table.get(0);
        table.capacity(BYTES);
        assertEquals(3, table.size(), "requests that are under way beyond it find their regions");
        assertEquals(3, table.get(2).copy().regionId());
        table.truncate(1);
        assertEquals(1, table.size());
        assertSame(first, table.get(0));
        assertThrows(IndexOutOfBoundsException.class, () -> table.get(1));
        table.append(List.of(region(4)));
        assertEquals(4, table.get(1).copy().regionId(), "not what was there before");
    }

    @Test
    void regionsAreCountedAsTheyWereAtOneMoment() throws Exception {
        RegionTable table = table(region(1), region(2));
        CompletableFuture<Void> resizer = CompletableFuture.runAsync(() -> {
            for (int i = 0; i < CHANGES; i++) {
                table.append(List.of(region(3), region(4), region(5)));
                table.truncate(2);
            }
        });
        do {
            int count = table.count(entry -> entry.copy().regionId() > 0);
            assertTrue(count == 2 || count == 5, () -> count + " regions");
        } while (!resizer.isDone());
        resizer.get(1, TimeUnit.SECONDS);
        assertEquals(1, table.count(entry -> entry.copy().regionId() == 2));
    }
}
