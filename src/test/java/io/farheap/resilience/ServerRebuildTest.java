package io.farheap.resilience;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.resilience.contract.CodedStatus;
import io.farheap.resilience.contract.Health;
import io.farheap.resilience.contract.Resilience;
import io.farheap.testing.Effort;
import io.farheap.testing.TestDevice;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Slabs that their servers regenerate, and those that this process regenerates if the servers cannot. */
class ServerRebuildTest {

    private static final int PAGE = 512;
    /** One of a slab's 512 pages, whose windows have 128 pages. */
    private static final int STUCK_PAGE = 300;

    /** The bytes of a slab that splits of 192 bytes use. */
    private static final long WITHOUT_REST = CodedServers.REGION_BYTES - 64;

    private static final long WINDOW_BYTES = 128L * PAGE / 4;

    private final CodedServers servers = new CodedServers(8, 4);

    @AfterEach
    void close() {
        servers.close();
    }

    private static void write(CodedSession session, byte[] bytes) {
        assertEquals(
                "ok", CodedStatus.describe(session.writeBlocking(0, MemorySegment.ofArray(bytes), 0, bytes.length)));
    }

    private static byte[] read(CodedSession session, int bytes) {
        byte[] all = new byte[bytes];
        assertEquals("ok", CodedStatus.describe(session.readBlocking(0, MemorySegment.ofArray(all), 0, bytes)));
        return all;
    }

    private static byte[] some(CodedSpace space) {
        byte[] bytes = new byte[(int) space.capacity()];
        new SplittableRandom(11).nextBytes(bytes);
        return bytes;
    }

    /** Gives slabs up, one after the other, until servers have regenerated {@code byServers} bytes. */
    private static void regenerate(CodedSpace space, long byServers) {
        long deadline = System.nanoTime() + TestDevice.patience(120_000_000_000L);
        for (int i = 0; space.health().regenerationBytesByServers() < byServers; i++) {
            assertTrue(System.nanoTime() - deadline < 0, () -> "servers made no more: " + space.health());
            CodedServers.await("all slabs are good", () -> space.health().whole());
            long before = space.health().regenerated();
            space.giveUp(space.slab(0, i % space.resilience().splits()));
            CodedServers.await("the slab is made anew", () -> space.health().regenerated() > before);
        }
        CodedServers.await("all slabs are good", () -> space.health().whole());
    }

    /** Reads all pages from the data splits, and then, with two servers killed, from parity. */
    private void assertRight(CodedSpace space, CodedSession session, byte[] bytes) {
        assertArrayEquals(bytes, read(session, bytes.length));
        servers.kill(servers.indexOf(space.slab(0, 0).region().server()));
        servers.kill(servers.indexOf(space.slab(0, 1).region().server()));
        assertArrayEquals(bytes, read(session, bytes.length), "from parity");
    }

    /**
     * @param bytes the size of the space
     * @param byServers the bytes that servers regenerate, at least
     * @param read the number of bytes that servers read for each of them, at least
     */
    private void made(Resilience resilience, long bytes, long byServers, int read) {
        try (CodedSpace space = servers.space(resilience, bytes);
                CodedSession session = space.openSession()) {
            assertEquals(bytes, space.capacity());
            byte[] content = some(space);
            space.leaveToServers();
            write(session, content);
            regenerate(space, byServers);
            Health health = space.health();
            assertTrue(health.regenerationBytesRead() >= read * health.regenerationBytesByServers());
            assertRight(space, session, content);
        }
    }

    @Test
    void serversMakeTheirSlabs() {
        made(
                Resilience.failureRecovery(4, 2).pageBytes(PAGE),
                4 * CodedServers.REGION_BYTES,
                6 * CodedServers.REGION_BYTES,
                4);
    }

    @Test
    void inTheCorruptionModesMoreSplitsAreComparedFirst() {
        made(
                Resilience.corruptionDetection(4, 2).pageBytes(PAGE),
                4 * CodedServers.REGION_BYTES,
                2 * CodedServers.REGION_BYTES,
                5);
    }

    @Test
    void copiesAreMadeThatWayToo() {
        made(Resilience.copies(3), CodedServers.REGION_BYTES, 3 * CodedServers.REGION_BYTES, 1);
    }

    /** With splits of 192 bytes, the slab's last 64 bytes belong to no page. */
    @Test
    void whatIsNoPageIsLeft() {
        made(Resilience.failureRecovery(3, 2).pageBytes(576), 3 * WITHOUT_REST, 3 * WITHOUT_REST, 3);
    }

    /** The server makes the windows before the page, this process those behind it, and at last the page's own. */
    @Test
    void aPageThatIsStuckHoldsUpNoOther() {
        try (CodedSpace space =
                        servers.space(Resilience.failureRecovery(4, 2).pageBytes(PAGE), 4 * CodedServers.REGION_BYTES);
                CodedSession session = space.openSession()) {
            byte[] bytes = some(space);
            space.leaveToServers();
            write(session, bytes);
            assertTrue(space.words().tryHold(STUCK_PAGE));
            space.giveUp(space.slab(0, 3));
            CodedServers.await("all but its window is made, or it is tried again", () -> {
                Health health = space.health();
                return health.regenerationBytesRebuilt() >= CodedServers.REGION_BYTES - WINDOW_BYTES;
            });
            assertFalse(space.slab(0, 3).isGood());
            space.words().endHold(STUCK_PAGE);
            CodedServers.await("the slab is made anew", () -> space.health().whole());
            assertRight(space, session, bytes);
        }
    }

    /** The servers' memory can be read, but they answer no calls: preparing a rebuild at a server fails or is late. */
    @Test
    void whereASourceAnswersNoCallsThisProcessMakesTheSlab() {
        try (CodedSpace space =
                        servers.space(Resilience.failureRecovery(4, 2).pageBytes(PAGE), 4 * CodedServers.REGION_BYTES);
                CodedSession session = space.openSession()) {
            byte[] bytes = some(space);
            space.leaveToServers();
            write(session, bytes);
            for (int split = 0; split < 5; split++) {
                servers.silence(servers.indexOf(space.slab(0, split).region().server()));
            }
            space.giveUp(space.slab(0, 5));
            CodedServers.await("the slab is made anew", () -> space.health().regenerated() == 1);
            assertEquals(0, space.health().regenerationBytesByServers());
            assertTrue(space.health().regenerationBytesRebuilt() >= CodedServers.REGION_BYTES);
            assertArrayEquals(bytes, read(session, bytes.length));
        }
    }

    static Stream<Integer> dataSplits() {
        return Effort.variants(1, 4, 2);
    }

    /** Two threads, one for each half of the pages, read and write them while servers regenerate slab after slab. */
    @ParameterizedTest
    @MethodSource("dataSplits")
    void writesMeanwhileAreInWhatIsMade(int data) throws Exception {
        try (CodedSpace space =
                servers.space(Resilience.failureRecovery(data, 2).pageBytes(PAGE), data * CodedServers.REGION_BYTES)) {
            byte[] bytes = some(space);
            space.leaveToServers();
            AtomicBoolean enough = new AtomicBoolean();
            try (CodedSession first = space.openSession();
                    CodedSession second = space.openSession()) {
                write(first, bytes);
                List<FutureTask<Long>> writers =
                        List.of(writer(space, first, bytes, 0, enough), writer(space, second, bytes, 1, enough));
                try {
                    regenerate(space, Effort.either(4, 12) * CodedServers.REGION_BYTES);
                } finally {
                    enough.set(true);
                    for (FutureTask<Long> writer : writers) {
                        assertTrue(writer.get() > 0);
                    }
                }
                assertRight(space, first, bytes);
            }
        }
    }

    private static FutureTask<Long> writer(
            CodedSpace space, CodedSession session, byte[] bytes, int parity, AtomicBoolean enough) {
        MemorySegment all = MemorySegment.ofArray(bytes);
        SplittableRandom random = new SplittableRandom(parity);
        byte[] page = new byte[PAGE];
        FutureTask<Long> writer = new FutureTask<>(() -> {
            long count = 0;
            for (; !enough.get(); count++) {
                long at = (2L * random.nextInt((int) (space.capacity() / PAGE / 2)) + parity) * PAGE;
                assertEquals(
                        "ok", CodedStatus.describe(session.readBlocking(at, MemorySegment.ofArray(page), 0, PAGE)));
                assertEquals(-1, MemorySegment.ofArray(page).mismatch(all.asSlice(at, PAGE)), () -> "page at " + at);
                random.nextBytes(page);
                MemorySegment.copy(MemorySegment.ofArray(page), 0, all, at, PAGE);
                assertEquals(
                        "ok", CodedStatus.describe(session.writeBlocking(at, MemorySegment.ofArray(page), 0, PAGE)));
            }
            return count;
        });
        Thread.ofPlatform().daemon().start(writer);
        return writer;
    }
}
