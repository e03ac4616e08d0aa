package io.farheap.resilience;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.remote.QueueOptions;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.resilience.contract.CodedStatus;
import io.farheap.resilience.contract.Health;
import io.farheap.resilience.contract.Resilience;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Splits that rot in their servers are reported, corrected, and never returned as right. */
class CorruptionTest {

    private static final int PAGE = 4096;
    private static final int PAGES = 8;

    private final CodedServers servers = new CodedServers(8, 3);
    private final byte[] written = new byte[PAGES * PAGE];

    @AfterEach
    void close() {
        servers.close();
    }

    private void fill(CodedSession session) {
        new SplittableRandom(3).nextBytes(written);
        assertEquals(CodedStatus.OK, session.writeBlocking(0, MemorySegment.ofArray(written), 0, written.length));
        // Splits that a write has pending after its callback must be written before any split rots.
        while (!session.isQuiet()) {
            session.poll();
        }
    }

    /** Lets the splits of all pages of a slab rot. */
    private void rot(CodedSpace space, int split) {
        RemoteRegion region = space.slab(0, split).region();
        int bytes = PAGES * PAGE / space.resilience().dataSplits();
        try (RemoteQueue queue = servers.memory.openQueue(QueueOptions.DEFAULT);
                RegisteredBuffer buffer = servers.memory.register(bytes)) {
            byte[] rotten = new byte[bytes];
            new SplittableRandom(split).nextBytes(rotten);
            MemorySegment.copy(MemorySegment.ofArray(rotten), 0, buffer.segment(), 0, bytes);
            assertEquals(PostResult.OK, queue.write(region, 0, buffer, 0, bytes, 1));
            int[] outcome = {-1};
            while (outcome[0] < 0) {
                queue.poll((tag, ended) -> outcome[0] = ended);
            }
            assertEquals(Outcome.DONE, outcome[0]);
        }
    }

    private int read(CodedSession session, long address, int length, byte[] into) {
        return session.readBlocking(address, MemorySegment.ofArray(into), 0, length);
    }

    @Test
    void oneWrongSplitIsMended() {
        try (CodedSpace space = servers.space(Resilience.corruptionCorrection(4, 3), PAGE);
                CodedSession session = space.openSession()) {
            fill(session);
            rot(space, 1);
            byte[] bytes = new byte[PAGE];
            for (int i = 0; i < 200; i++) {
                int page = i % PAGES;
                assertEquals("ok", CodedStatus.describe(read(session, (long) page * PAGE, PAGE, bytes)));
                assertArrayEquals(java.util.Arrays.copyOfRange(written, page * PAGE, (page + 1) * PAGE), bytes);
                byte[] small = new byte[40];
                int at = page * PAGE + 1024 + i * 4;
                assertEquals("ok", CodedStatus.describe(read(session, at, 40, small)));
                assertArrayEquals(java.util.Arrays.copyOfRange(written, at, at + 40), small);
            }
            assertTrue(space.health().counts().disagreed() > 0, () -> space.health()
                    .toString());
        }
    }

    @Test
    void aServerThatRotsIsNamedAndItsSlabsRegenerated() {
        try (CodedSpace space = servers.space(Resilience.corruptionCorrection(4, 3), PAGE);
                CodedSession session = space.openSession()) {
            fill(session);
            String rotten = space.slab(0, 2).region().server().address();
            rot(space, 2);
            byte[] bytes = new byte[PAGE];
            CodedServers.await("its slab is regenerated elsewhere", () -> {
                assertEquals("ok", CodedStatus.describe(read(session, 0, PAGE, bytes)));
                return space.health().regenerated() > 0 && space.health().whole();
            });
            assertTrue(
                    space.health().servers().stream()
                            .anyMatch(server -> server.address().equals(rotten) && server.wrong() > 0),
                    () -> space.health().toString());
            long disagreed = space.health().counts().disagreed();
            for (int i = 0; i < 200; i++) {
                assertEquals("ok", CodedStatus.describe(read(session, i % PAGES * PAGE, PAGE, bytes)));
            }
            assertEquals(disagreed, space.health().counts().disagreed());
        }
    }

    @Test
    void smallWritesBesideAWrongSplitAreRight() {
        try (CodedSpace space = servers.space(Resilience.corruptionCorrection(4, 3), PAGE);
                CodedSession session = space.openSession()) {
            fill(session);
            rot(space, 5);
            SplittableRandom random = new SplittableRandom(9);
            for (int i = 0; i < 300; i++) {
                int length = 1 + random.nextInt(300);
                int at = random.nextInt(written.length - length);
                byte[] bytes = new byte[length];
                random.nextBytes(bytes);
                System.arraycopy(bytes, 0, written, at, length);
                assertEquals(
                        "ok", CodedStatus.describe(session.writeBlocking(at, MemorySegment.ofArray(bytes), 0, length)));
            }
            byte[] all = new byte[written.length];
            assertEquals("ok", CodedStatus.describe(read(session, 0, all.length, all)));
            assertArrayEquals(written, all);
        }
    }

    @Test
    void oneWrongSplitIsShownWhereItCannotBeMended() {
        try (CodedSpace space = servers.space(Resilience.corruptionDetection(4, 1), PAGE);
                CodedSession session = space.openSession()) {
            fill(session);
            rot(space, 0);
            byte[] bytes = new byte[PAGE];
            for (int i = 0; i < 50; i++) {
                assertEquals(CodedStatus.CORRUPT, read(session, i % PAGES * PAGE, PAGE, bytes));
                assertEquals(CodedStatus.CORRUPT, read(session, i % PAGES * PAGE + 2000, 8, bytes));
            }
            // A page that is written again is right again.
            assertEquals(CodedStatus.OK, session.writeBlocking(0, MemorySegment.ofArray(written), 0, PAGE));
            assertEquals(CodedStatus.OK, read(session, 0, PAGE, bytes));
        }
    }

    @Test
    void whereNobodyCanTellWhichIsWrongAllAreSuspectAndNoneIsGivenUp() {
        try (CodedSpace space = servers.space(Resilience.corruptionDetection(4, 1), PAGE);
                CodedSession session = space.openSession()) {
            fill(session);
            rot(space, 2);
            byte[] bytes = new byte[PAGE];
            CodedServers.await("all five are suspect", () -> {
                for (int page = 0; page < PAGES; page++) {
                    assertEquals(CodedStatus.CORRUPT, read(session, page * PAGE, PAGE, bytes));
                }
                return space.health().servers().stream()
                                .filter(Health.Server::suspect)
                                .count()
                        == 5;
            });
            assertEquals(CodedStatus.CORRUPT, read(session, 0, PAGE, bytes));
            assertTrue(space.health().whole(), () -> space.health().toString());
            assertEquals(0, space.health().regenerated());
        }
    }

    @Test
    void aSlabThatIsMadeOfDisagreeingOnesAgreesWithNone() {
        try (CodedSpace space = servers.space(Resilience.corruptionDetection(4, 2), PAGE);
                CodedSession session = space.openSession()) {
            fill(session);
            rot(space, 0);
            // One more slab is lost: its splits are made of five others, of which an unknown one is wrong.
            servers.kill(servers.indexOf(space.slab(0, 3).region().server()));
            byte[] bytes = new byte[PAGE];
            int[] outcomes = new int[8];
            CodedServers.await("the slab is regenerated", () -> {
                for (int page = 1; page < PAGES; page++) {
                    outcomes[read(session, page * PAGE, PAGE, bytes)]++;
                }
                session.writeBlocking(0, MemorySegment.ofArray(written), 0, PAGE);
                return space.health().regenerated() > 0;
            });
            for (int i = 0; i < 100; i++) {
                int page = 1 + i % (PAGES - 1);
                int status = read(session, page * PAGE, PAGE, bytes);
                if (status == CodedStatus.OK) {
                    assertArrayEquals(java.util.Arrays.copyOfRange(written, page * PAGE, (page + 1) * PAGE), bytes);
                } else {
                    assertEquals(CodedStatus.CORRUPT, status);
                }
            }
        }
    }
}
