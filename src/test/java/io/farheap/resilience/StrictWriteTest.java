package io.farheap.resilience;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.resilience.contract.CodedStatus;
import io.farheap.resilience.contract.Resilience;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Strict writes to a range that loses several slabs at once: each write waits for all of them, and no slab waits for a
 * write, although one slab is regenerated after the other.
 */
class StrictWriteTest {

    private static final int PAGE = 1024;
    private static final int PAGES = 64;

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void allThatIsLostIsMadeAnewUnderThem(int killed) {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        Resilience code =
                Resilience.failureRecovery(1, 3).additional(0).pageBytes(PAGE).strict(true);
        try (CodedServers servers = new CodedServers(4 + killed, 1);
                CodedSpace space = servers.space(code, PAGES * PAGE);
                CodedSession first = space.openSession();
                CodedSession second = space.openSession()) {
            List<CodedSession> sessions = List.of(first, second);
            byte[][] pages = new byte[PAGES][PAGE];
            int[] done = {0};
            int issued = 0;
            for (int i = 0; i < killed; i++) {
                servers.kill(servers.indexOf(space.slab(0, i).region().server()));
            }
            // Each half of a page has its own session, which writes all of the half or a part.
            for (int page = 0; page < PAGES; page++) {
                for (int half = 0; half < 2; half++) {
                    int length = random.nextBoolean() ? PAGE / 2 : 1 + random.nextInt(PAGE / 2);
                    byte[] bytes = new byte[length];
                    random.nextBytes(bytes);
                    System.arraycopy(bytes, 0, pages[page], half * PAGE / 2, length);
                    sessions.get(half)
                            .write(
                                    (long) page * PAGE + half * PAGE / 2,
                                    MemorySegment.ofArray(bytes),
                                    0,
                                    length,
                                    (token, status) -> {
                                        assertEquals("ok", CodedStatus.describe(status));
                                        done[0]++;
                                    },
                                    page);
                    issued++;
                }
            }
            int all = issued;
            CodedServers.await("all writes, seed " + seed, () -> {
                sessions.forEach(CodedSession::poll);
                return done[0] == all;
            });
            // The writes were called back only when the range was whole again.
            assertEquals(3, space.health().mayLose());
            assertEquals(0, space.health().counts().degraded());
            byte[] read = new byte[PAGES * PAGE];
            assertEquals(
                    "ok", CodedStatus.describe(first.readBlocking(0, MemorySegment.ofArray(read), 0, read.length)));
            for (int page = 0; page < PAGES; page++) {
                assertArrayEquals(
                        pages[page],
                        Arrays.copyOfRange(read, page * PAGE, (page + 1) * PAGE),
                        "page " + page + ", seed " + seed);
            }
        }
    }
}
