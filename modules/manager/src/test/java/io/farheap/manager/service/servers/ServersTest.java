package io.farheap.manager.service.servers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.manager.ServerReport;
import io.farheap.manager.Tenant;
import io.farheap.manager.allocation.Prices;
import io.farheap.manager.service.MenuFile;
import io.farheap.manager.service.journal.Inbox;
import io.farheap.manager.state.AllocationTerms;
import io.farheap.manager.state.CacheRecord;
import io.farheap.manager.state.ServerRecord;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class ServersTest {

    private static final long MIB = 1 << 20;
    private static final long SECOND = 1_000_000_000L;

    /** A cache with one region on server 1, and server threads for several. */
    private static CacheRecord cache(long id, int threads, int threadRegions) {
        return new CacheRecord(
                id,
                "cache",
                MIB,
                0,
                MIB,
                new AllocationTerms("", 5, threads, threadRegions, 0, Tenant.DEFAULT),
                1,
                new TreeMap<>(Map.of(1L, 1)),
                Collections.emptySortedMap());
    }

    private final Servers servers = new Servers(
            new Prices(
                    MenuFile.parse("{\"types\": [{\"name\": \"t\", \"cores\": 4, \"memory\": \"4m\", \"price\": 1}]}")),
            new MigrationRates(),
            new Inbox(),
            SECOND,
            3_600 * SECOND,
            false);

    /** The sum of these threads depends on their order, which the look changes, in its last digit. */
    @Test
    void aServerHasNoMoreToGiveAfterALookWithoutOneOfItsCaches() {
        servers.put(new ServerRecord(1, "host:1", "t", false, 0, "d/c/r", MIB, 4, 30_000, false));
        servers.report(
                Objects.requireNonNull(servers.find(1)),
                new ServerReport(
                        1, "host:1", "t", false, "d/c/r", MIB, 4, 1, 30_000, false, 0, Map.of(16L, 1, 32L, 1, 48L, 1)),
                0);
        CacheRecord first = cache(16, 1, 2);
        servers.promise(null, first);
        servers.promise(null, cache(32, 2, 2));
        servers.promise(null, cache(48, 1, 6));
        long before = servers.growths();
        servers.without(List.of(first), Optional::empty);
        assertEquals(before, servers.growths());
    }

    private void reports(Map<Long, Integer> held, long now) {
        servers.report(
                Objects.requireNonNull(servers.find(1)),
                new ServerReport(1, "host:1", "t", false, "d/c/r", MIB, 4, 0, 30_000, false, 0, held),
                now);
    }

    /** Whenever a client names its caches, only the servers of which this is known are looked at. */
    @Test
    void itIsKnownByCacheWhichServersHaveMoreThanIsPromised() {
        servers.put(new ServerRecord(1, "host:1", "t", false, 0, "d/c/r", MIB, 4, 30_000, false));
        CacheRecord promised = cache(7, 0, 1);
        servers.promise(null, promised);
        reports(Map.of(7L, 1, 8L, 0), 0);
        assertEquals(Set.of(), servers.withSurplus(7));
        assertEquals(Set.of(), servers.withSurplus(8), "a lease without regions");
        reports(Map.of(7L, 1, 8L, 2, 9L, 1), 0);
        assertEquals(Set.of(), servers.withSurplus(7));
        assertEquals(Set.of(1L), servers.withSurplus(8));
        assertFalse(servers.hasUnexpected(8, 0), "the report may be late");
        reports(Map.of(7L, 1, 8L, 2), 2 * SECOND);
        assertTrue(servers.hasUnexpected(8, 2 * SECOND));
        assertEquals(Set.of(), servers.withSurplus(9));
        reports(Map.of(7L, 1, 8L, 1), 3 * SECOND);
        assertFalse(servers.hasUnexpected(8, 3 * SECOND), "they become fewer");
        reports(Map.of(7L, 1, 8L, 1), 5 * SECOND);
        assertTrue(servers.hasUnexpected(8, 5 * SECOND));
        servers.without(List.of(promised), Optional::empty);
        assertEquals(Set.of(), servers.withSurplus(7));
        assertTrue(servers.hasUnexpected(8, 5 * SECOND));
        servers.promise(null, cache(8, 0, 1));
        assertEquals(Set.of(), servers.withSurplus(8));
        servers.promise(promised, null);
        assertEquals(Set.of(1L), servers.withSurplus(7));
        servers.remove(1);
        assertEquals(Set.of(), servers.withSurplus(7));
    }

    /** Four threads divided by the 93rd part of them are less than 93. */
    @Test
    void roomThatIsFreeIsNotMadeAnyMore() {
        double threads = 4.0 / 93;
        servers.put(new ServerRecord(1, "host:1", "t", false, 0, "d/c/r", MIB, 93, 30_000, false));
        servers.report(
                Objects.requireNonNull(servers.find(1)),
                new ServerReport(1, "host:1", "t", false, "d/c/r", MIB, 93, 93, 30_000, false, 0, Map.of()),
                0);
        servers.keepMade(7, new FreeRoom(Map.of(1L, 93), threads), true);
        assertEquals(0, servers.made(7, threads, 0));
    }
}
