package io.farheap.manager.service.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.manager.ServerReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class InboxTest {

    private static final ServerReport FIRST = report("a:1", 8, 8, 30_000, false, Map.of(), Set.of());

    private final Inbox inbox = new Inbox();

    private static ServerReport report(
            String address,
            int total,
            int free,
            long notice,
            boolean leaving,
            Map<Long, Integer> held,
            Set<Long> ended) {
        return new ServerReport(
                1, address, "t", false, "d/c/r", address, 1 << 20, total, free, notice, leaving, 0, held, ended);
    }

    private static ServerReport ofDomain(String domain) {
        return new ServerReport(
                1, "a:1", "t", false, "d/c/r", domain, 1 << 20, 8, 8, 30_000, false, 0, Map.of(), Set.of());
    }

    private List<String> read() {
        List<String> read = new ArrayList<>();
        inbox.read((report, at) -> read.add(report.freeRegions() + " at " + at));
        return read;
    }

    @Test
    void whoIsNotExpectedIsAnswered() {
        assertFalse(inbox.keep(FIRST, 1));
        inbox.expect(FIRST);
        assertTrue(inbox.keep(FIRST, 2));
        inbox.forget(1);
        assertFalse(inbox.keep(FIRST, 3));
        inbox.expect(FIRST);
        inbox.forgetAll();
        assertFalse(inbox.keep(FIRST, 4));
        assertEquals(List.of("8 at 2"), read());
    }

    /** What leaves moves to servers that are heard. */
    @Test
    void aServerThatLeavesIsReadAfterThoseThatStay() {
        ServerReport leaves = report("a:1", 8, 7, 30_000, true, Map.of(), Set.of());
        inbox.hold(leaves, 1);
        inbox.hold(
                new ServerReport(
                        2, "b:1", "t", false, "d/c/r", "b:1", 1 << 20, 8, 6, 30_000, false, 0, Map.of(), Set.of()),
                2);
        assertEquals(List.of("6 at 2", "7 at 1"), read());
    }

    @Test
    void theLatestOfWhatIsFreeAndHeldIsRead() {
        inbox.expect(FIRST);
        assertTrue(inbox.keep(report("a:1", 8, 5, 30_000, false, Map.of(7L, 3), Set.of()), 1));
        assertTrue(inbox.keep(report("a:1", 8, 6, 30_000, false, Map.of(7L, 2), Set.of()), 2));
        assertEquals(List.of("6 at 2"), read());
        assertEquals(List.of(), read());
    }

    /** No thread reads them while the state cannot be read, and the servers report on, each second. */
    @Test
    void ofManyReportsTheLatestOfEachServerWaitInTheOrderOfTheirTimes() {
        int servers = 10;
        int rounds = 10_000;
        for (int at = 0; at < servers * rounds; at++) {
            // In another order in each round.
            long id = at < servers * (rounds - 1) ? at % servers : servers - 1 - at % servers;
            ServerReport report = new ServerReport(
                    id, "a:1", "t", false, "d/c/r", "r", 1 << 20, 8, 8, 30_000, false, 0, Map.of(), Set.of());
            inbox.expect(report);
            assertTrue(inbox.keep(report, at));
        }
        List<Long> read = new ArrayList<>();
        List<Long> times = new ArrayList<>();
        inbox.read((report, at) -> {
            read.add(report.serverId());
            times.add(at);
        });
        assertEquals(List.of(9L, 8L, 7L, 6L, 5L, 4L, 3L, 2L, 1L, 0L), read);
        assertEquals(servers * (rounds - 1L), times.getFirst());
    }

    /** A report that cannot be processed takes no other with it. */
    @Test
    void whatComesBehindAReportThatThrowsWaits() {
        inbox.expect(FIRST);
        assertTrue(inbox.keep(FIRST, 1));
        ServerReport other = new ServerReport(
                2, "b:1", "t", false, "d/c/r", "r", 1 << 20, 8, 8, 30_000, false, 0, Map.of(), Set.of());
        inbox.expect(other);
        assertTrue(inbox.keep(other, 2));
        assertThrows(
                IllegalStateException.class,
                () -> inbox.read((_, _) -> {
                    throw new IllegalStateException("injected");
                }));
        assertEquals(List.of("8 at 2"), read());
    }

    @Test
    void whatElseChangesIsAnswered() {
        inbox.expect(FIRST);
        for (ServerReport other : List.of(
                report("b:1", 8, 8, 30_000, false, Map.of(), Set.of()),
                report("a:1", 9, 8, 30_000, false, Map.of(), Set.of()),
                report("a:1", 8, 8, 30_001, false, Map.of(), Set.of()),
                report("a:1", 8, 8, 30_000, true, Map.of(), Set.of()),
                report("a:1", 8, 8, 30_000, false, Map.of(), Set.of(7L)),
                new ServerReport(1, "a:1", "u", false, "d/c/r", 1 << 20, 8, 8, 30_000, false, 0, Map.of()),
                new ServerReport(1, "a:1", "t", true, "d/c/r", 1 << 20, 8, 8, 30_000, false, 0, Map.of()),
                new ServerReport(1, "a:1", "t", false, "d/c/s", 1 << 20, 8, 8, 30_000, false, 0, Map.of()),
                ofDomain("r"),
                new ServerReport(1, "a:1", "t", false, "d/c/r", 1 << 21, 8, 8, 30_000, false, 0, Map.of()))) {
            assertFalse(inbox.keep(other, 1), other::toString);
        }
        assertEquals(List.of(), read());
    }
}
