package io.farheap.resilience;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.contract.VerbCounts;
import io.farheap.resilience.contract.CodedCompletion;
import io.farheap.resilience.contract.CodedStatus;
import io.farheap.resilience.contract.Resilience;
import io.farheap.resilience.session.ValueLayouts;
import io.farheap.resilience.table.Slab;
import io.farheap.testing.DeviceFaults;
import io.farheap.testing.Effort;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The number of splits that requests of each mode wait for: exactly that of Hydra's table 1 and section 4.1. Some
 * servers delay their answers: for ever, if the other splits must be enough, or for a while, if they are not. The tests
 * count the splits that have come when a request is called back.
 */
@Needs(Need.SOFTVERBS)
class WaitsTest {

    private static final int PAGE = 4096;
    private static final int K = 4;
    private static final int R = 4;
    private static final long FOREVER_NANOS = 3_600_000_000_000L;
    private static final long WHILE_NANOS = 300_000_000;
    /** Much longer than the tests' delays, so that no slab becomes void. */
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private final CodedServers servers = CodedServers.onDevices(K + R, 1);
    private final byte[] page = new byte[PAGE];
    private final MemorySegment read = MemorySegment.ofArray(new byte[PAGE]);
    /** The number of splits of the latest request that had come when it was called back. */
    private long came = -1;

    private int status = -1;

    /** @param writeWaits the number of splits that a write waits for; {@code readWaits} likewise */
    record Mode(Resilience resilience, int writeWaits, int readWaits) {
        @Override
        public String toString() {
            return resilience.mode().toString() + " Δ=" + resilience.additional();
        }
    }

    static Stream<Mode> modes() {
        return modes(4);
    }

    /** Fewer modes, for tests that do not count exactly. */
    static Stream<Mode> someModes() {
        return modes(2);
    }

    private static Stream<Mode> modes(int few) {
        return Effort.variants(
                        few,
                        new Mode(Resilience.failureRecovery(K, R), K + R, K),
                        new Mode(Resilience.corruptionDetection(K, R), K + 1, K + 1),
                        new Mode(Resilience.corruptionCorrection(K, R), K + 3, K + 1),
                        new Mode(Resilience.ecOnly(K, R), K, K),
                        new Mode(Resilience.failureRecovery(K, R).additional(0), K + R, K),
                        new Mode(Resilience.failureRecovery(K, R).additional(2), K + R, K),
                        new Mode(Resilience.corruptionDetection(K, R).additional(2), K + 2, K + 2),
                        new Mode(Resilience.corruptionDetection(K, R).additional(R), K + R, K + R))
                .map(mode -> new Mode(mode.resilience().timeout(TIMEOUT), mode.writeWaits(), mode.readWaits()));
    }

    @AfterEach
    void close() {
        servers.close();
    }

    /** Issues a request of the page, and polls until it is called back. */
    private void request(CodedSession session, boolean write) {
        VerbCounts before = session.posted();
        assertEquals(0, session.outstanding());
        came = -1;
        CodedCompletion completion = (token, ended) -> {
            came = session.posted().since(before).operations() - session.outstanding();
            status = ended;
        };
        assertTrue(
                write
                        ? session.write(0, MemorySegment.ofArray(page), 0, PAGE, completion, 1)
                        : session.read(0, read, 0, PAGE, completion, 1));
        CodedServers.await("the request is called back", () -> {
            session.poll();
            return came >= 0;
        });
        assertEquals("ok", CodedStatus.describe(status));
    }

    private void settle(CodedSession session) {
        CodedServers.await("all splits are there", () -> {
            session.poll();
            return session.outstanding() == 0;
        });
    }

    /** Delays the operations of the servers of {@code count} random splits by {@code nanos}; returns these servers. */
    private List<RemoteServer> hold(CodedSpace space, int count, long nanos, SplittableRandom random) {
        List<Integer> splits = new ArrayList<>(IntStream.range(0, K + R).boxed().toList());
        Collections.shuffle(splits, new Random(random.nextLong()));
        List<RemoteServer> held = splits.subList(0, count).stream()
                .map(split -> space.slab(0, split).region().server())
                .toList();
        for (RemoteServer server : held) {
            servers.faults(server).slow(1, nanos);
        }
        return held;
    }

    private void mend(List<RemoteServer> held) {
        held.forEach(server -> servers.faults(server).close());
    }

    private void fill(CodedSession session) {
        new SplittableRandom(5).nextBytes(page);
        assertEquals(CodedStatus.OK, session.writeBlocking(0, MemorySegment.ofArray(page), 0, PAGE));
        settle(session);
    }

    private static SplittableRandom seeded() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        return new SplittableRandom(seed);
    }

    @ParameterizedTest
    @MethodSource("someModes")
    void aWriteIsNotCompleteBefore(Mode mode) {
        SplittableRandom random = seeded();
        try (CodedSpace space = servers.space(mode.resilience(), PAGE);
                CodedSession session = space.openSession()) {
            fill(session);
            List<RemoteServer> held = hold(space, K + R - mode.writeWaits() + 1, WHILE_NANOS, random);
            request(session, true);
            mend(held);
            assertTrue(came >= mode.writeWaits(), () -> came + " splits were written");
            settle(session);
            assertEquals(0, space.health().counts().voided());
        }
    }

    @ParameterizedTest
    @MethodSource("modes")
    void aWriteWaitsForNoMore(Mode mode) {
        SplittableRandom random = seeded();
        try (CodedSpace space = servers.space(mode.resilience(), PAGE);
                CodedSession session = space.openSession()) {
            fill(session);
            List<RemoteServer> held = hold(space, K + R - mode.writeWaits(), FOREVER_NANOS, random);
            request(session, true);
            assertEquals(mode.writeWaits(), came);
            assertEquals(held.size(), session.outstanding());
            assertEquals(!held.isEmpty(), session.owes());
            // The drain does not wait for void slabs, so that the session can be closed soon.
            for (int split = 0; split < K + R; split++) {
                if (held.contains(space.serverOf(split))) {
                    space.slab(0, split).become(Slab.VOID);
                }
            }
            session.drain();
            mend(held);
        }
    }

    @ParameterizedTest
    @MethodSource("someModes")
    void aReadIsNotCompleteBefore(Mode mode) {
        SplittableRandom random = seeded();
        try (CodedSpace space = servers.space(mode.resilience(), PAGE);
                CodedSession session = space.openSession()) {
            fill(session);
            List<RemoteServer> held = hold(space, K + R - mode.readWaits() + 1, WHILE_NANOS, random);
            request(session, false);
            mend(held);
            assertTrue(came >= mode.readWaits(), () -> came + " splits were read");
            assertArrayEquals(page, read.toArray(ValueLayouts.BYTE));
            settle(session);
        }
    }

    @ParameterizedTest
    @MethodSource("modes")
    void aReadWaitsForNoMore(Mode mode) {
        SplittableRandom random = seeded();
        try (CodedSpace space = servers.space(mode.resilience(), PAGE);
                CodedSession session = space.openSession()) {
            fill(session);
            List<RemoteServer> held = hold(space, K + R - mode.readWaits(), FOREVER_NANOS, random);
            request(session, false);
            assertEquals(mode.readWaits(), came);
            assertArrayEquals(page, read.toArray(ValueLayouts.BYTE));
            mend(held);
        }
    }

    @Test
    void whereSplitsDisagreeAReadOfCorrectionWaitsForMore() {
        Resilience resilience = Resilience.corruptionCorrection(K, R).timeout(TIMEOUT);
        try (CodedSpace space = servers.space(resilience, PAGE);
                CodedSession session = space.openSession()) {
            fill(session);
            try (DeviceFaults faults = servers.faults(space.slab(0, 2).region().server())) {
                faults.corruptReads(1);
                for (int i = 0; i < 50; i++) {
                    long before = space.health().counts().disagreed();
                    request(session, false);
                    boolean disagreed = space.health().counts().disagreed() > before;
                    assertTrue(came >= (disagreed ? K + 3 : K + 1), () -> came + " splits were read");
                    assertArrayEquals(page, read.toArray(ValueLayouts.BYTE));
                    settle(session);
                }
                assertTrue(space.health().counts().disagreed() > 0);
            }
        }
    }

    /** Compares reads of the page while the servers are suspect with reads while no server is. */
    @ParameterizedTest
    @MethodSource("someModes")
    void aReadOfASuspectServerBeginsWithMore(Mode mode) {
        Resilience resilience = mode.resilience();
        int delta = resilience.additional();
        boolean none = resilience.mode() == Resilience.Mode.EC_ONLY;
        int more = none ? K : Math.min(K + R, K + 2 * delta + 1);
        try (CodedSpace space = servers.space(resilience, PAGE);
                CodedSession session = space.openSession()) {
            fill(session);
            assertEquals(resilience.readAsks(), asks(session));
            // The keeper's window may end at any time, so repeat until a read falls between two of its ends.
            CodedServers.await("a read begins with " + more, () -> {
                for (RemoteServer server : space.serversOf(0)) {
                    space.record(server).doubted.add(100);
                }
                boolean suspect = space.serversOf(0).stream().allMatch(server -> space.record(server).suspect);
                return suspect && asks(session) == more;
            });
            assertArrayEquals(page, read.toArray(ValueLayouts.BYTE));
            assertTrue(space.health().whole());
            CodedServers.await("a read begins with what it did", () -> asks(session) == resilience.readAsks());
        }
    }

    /** The number of READs that a read of the page posts at once, before any split is late. */
    private long asks(CodedSession session) {
        long before = session.posted().reads();
        came = -1;
        session.read(0, read, 0, PAGE, (token, ended) -> came = 0, 1);
        long asked = session.posted().reads() - before;
        while (came < 0) {
            session.poll();
        }
        settle(session);
        return asked;
    }
}
