package io.farheap.resilience;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.remote.contract.RemoteServer;
import io.farheap.resilience.contract.CodedStatus;
import io.farheap.resilience.contract.Health;
import io.farheap.resilience.contract.Resilience;
import io.farheap.resilience.table.Slab;
import io.farheap.resilience.table.StripeWords;
import io.farheap.testing.DeviceFaults;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.TestDevice;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * One server's operations take an hour while a slab is regenerated: sessions can still write the pages of its windows,
 * and the slab is made from other slabs, or on another server.
 */
@Needs(Need.SOFTVERBS)
class LateRebuildTest {

    private static final int SERVERS = 8;
    private static final int REGIONS = 4;
    private static final int PAGE = 512;
    private static final int BYTES = (int) (4 * CodedServers.REGION_BYTES);
    private static final long FOREVER_NANOS = 3_600_000_000_000L;
    /** A window is held long enough that the test sees it on a busy machine, too. */
    private static final Resilience PATIENT =
            Resilience.failureRecovery(4, 2).pageBytes(PAGE).timeout(Duration.ofSeconds(2));

    private final CodedServers servers = CodedServers.onDevices(SERVERS, REGIONS);
    private final byte[] bytes = new byte[BYTES];

    @AfterEach
    void close() {
        servers.close();
    }

    private void fill(CodedSession session) {
        new SplittableRandom(21).nextBytes(bytes);
        assertEquals(
                "ok", CodedStatus.describe(session.writeBlocking(0, MemorySegment.ofArray(bytes), 0, bytes.length)));
    }

    private void assertRight(CodedSession session) {
        byte[] all = new byte[bytes.length];
        assertEquals("ok", CodedStatus.describe(session.readBlocking(0, MemorySegment.ofArray(all), 0, all.length)));
        assertArrayEquals(bytes, all);
    }

    /** Waits until a window's words are held, and then writes the first page of every window. */
    private void writeMeanwhile(CodedSpace space, CodedSession session) {
        CodedServers.await("a window is held", () -> IntStream.range(0, BYTES / PAGE)
                .anyMatch(page -> StripeWords.held(space.words().look(page))));
        int[] ended = {0};
        int written = 0;
        for (int at = 0; at < BYTES; at += 64 * PAGE) {
            Arrays.fill(bytes, at, at + PAGE, (byte) ++written);
            MemorySegment page = MemorySegment.ofArray(Arrays.copyOfRange(bytes, at, at + PAGE));
            session.write(
                    at,
                    page,
                    0,
                    PAGE,
                    (token, status) -> {
                        assertEquals("ok", CodedStatus.describe(status));
                        ended[0]++;
                    },
                    at);
        }
        int count = written;
        CodedServers.await("the writes end", () -> {
            session.poll();
            return ended[0] == count;
        });
    }

    private static boolean wholeWithout(CodedSpace space, CodedServers servers, int server) {
        return space.health().whole() && space.slabsAt(servers.attached.get(server)) == 0;
    }

    /** The rebuild compares all five other slabs, the late one too, until a write has made that one void. */
    @Test
    void aSourceThatIsLateHoldsUpNoWrite() {
        try (CodedSpace space =
                        servers.space(Resilience.corruptionDetection(4, 2).pageBytes(PAGE), BYTES);
                CodedSession session = space.openSession()) {
            fill(session);
            int source = servers.indexOf(space.slab(0, 1).region().server());
            try (DeviceFaults faults = servers.faults(servers.attached.get(source))) {
                faults.slow(1, FOREVER_NANOS);
                space.giveUp(space.slab(0, 0));
                writeMeanwhile(space, session);
                CodedServers.await("both are made elsewhere", () -> {
                    // The session's writes were called back early and still have splits pending.
                    session.poll();
                    return wholeWithout(space, servers, source);
                });
                assertRight(session);
            }
        }
    }

    @Test
    void aSlabIsMadeOfOthersThanTheSourceThatIsLate() {
        try (CodedSpace space = servers.space(Resilience.failureRecovery(4, 2).pageBytes(PAGE), BYTES);
                CodedSession session = space.openSession()) {
            fill(session);
            Slab source = space.slab(0, 1);
            try (DeviceFaults faults = servers.faults(source.region().server())) {
                faults.slow(1, FOREVER_NANOS);
                long late = late(space, source);
                // A rebuild may or may not read the late slab among its four sources: repeat until one did.
                for (int round = 0; late(space, source) == late; round++) {
                    long before = space.health().regenerated();
                    space.giveUp(space.slab(0, 2 + round % 4));
                    CodedServers.await("the slab is made", () -> space.health().regenerated() > before);
                }
                CodedServers.await("all slabs are good", () -> space.health().whole());
                assertEquals(source, space.slab(0, 1));
                assertRight(session);
            }
        }
    }

    /** The retiring thread ends the operation of a session that no thread polls. */
    @Test
    void aServerIsRetiredThoughAnIdleSessionHasAskedItInVain() throws Exception {
        try (CodedSpace space = servers.space(Resilience.failureRecovery(4, 2).pageBytes(PAGE), BYTES);
                CodedSession session = space.openSession()) {
            fill(session);
            RemoteServer server = space.serverOf(1);
            byte[] small = new byte[100];
            boolean[] read = {false};
            try (DeviceFaults faults = servers.faults(server)) {
                faults.slow(1, FOREVER_NANOS);
                session.read(128, MemorySegment.ofArray(small), 0, small.length, (token, status) -> read[0] = true, 1);
                CodedServers.await("others are read instead", () -> {
                    session.poll();
                    return read[0];
                });
            }
            assertArrayEquals(Arrays.copyOfRange(bytes, 128, 228), small);
            assertTrue(session.unsettled());
            CompletableFuture.runAsync(() -> space.retire(server, () -> {}))
                    .get(TestDevice.patience(30), TimeUnit.SECONDS);
            assertEquals(REGIONS, servers.freeRegions(servers.indexOf(server)));
            assertEquals(1, session.outstanding());
            assertRight(session);
            CodedServers.await("what it asked comes back", () -> {
                session.poll();
                return session.outstanding() == 0;
            });
            assertEquals(0, space.record(server).failed.sum());
        }
    }

    private long lateAt(CodedSpace space, int server) {
        return space.record(servers.attached.get(server)).late.sum();
    }

    private static long late(CodedSpace space, Slab slab) {
        return space.health().servers().stream()
                .filter(server -> server.address().equals(slab.region().server().address()))
                .mapToLong(Health.Server::late)
                .sum();
    }

    @Test
    void aNewSlabThatIsLateToBeWrittenIsMadeElsewhereAndItsMemoryGoesBack() {
        try (CodedSpace space = servers.space(PATIENT, BYTES);
                CodedSession session = space.openSession()) {
            fill(session);
            // The server of the given-up slab has the fewest slabs, and room, so it gets the new slab.
            int late = servers.indexOf(space.slab(0, 0).region().server());
            Slab before = space.slab(0, 0);
            // The rebuild's first window waits for this word. The server is slowed only after the slab has its place,
            // since a server that does not answer gets no slab.
            assertTrue(space.words().tryWrite(0));
            space.giveUp(before);
            CodedServers.await("it has a place", () -> space.slab(0, 0) != before);
            assertEquals(late, servers.indexOf(space.slab(0, 0).region().server()));
            long lateBefore = lateAt(space, late);
            try (DeviceFaults faults = servers.faults(servers.attached.get(late))) {
                faults.slow(1, FOREVER_NANOS);
                space.words().endWrite(0);
                writeMeanwhile(space, session);
                CodedServers.await("it is made elsewhere", () -> {
                    session.poll();
                    return wholeWithout(space, servers, late);
                });
                assertTrue(lateAt(space, late) > lateBefore, "it was not late");
                CodedServers.await("its memory is free", () -> {
                    session.poll();
                    return servers.freeRegions(late) == REGIONS;
                });
                assertRight(session);
            }
        }
    }
}
