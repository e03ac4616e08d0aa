package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.contract.Completion;
import io.farheap.cache.contract.Status;
import io.farheap.control.ControlException;
import io.farheap.testing.Effort;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.PlaneProxy;
import io.farheap.testing.RegisterHistory;
import io.farheap.testing.TestDevice;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Three sessions of one thread read and write few words, while queue pairs fail at any post, operations are late, and
 * answers of fences are lost. Each word is linearizable: a write that ends as unknown has taken effect before its
 * callback, or never does. Nothing is lost, since no server is. {@code -Dfarheap.seed=S} runs one seed.
 */
@ParameterizedClass(name = "{0}")
@MethodSource("ways")
@Needs(Need.SOFTVERBS)
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ConnectionHistoryTest {

    private static final int SESSIONS = 3;
    private static final int WORDS = 6;
    private static final int REQUESTS = Effort.count(3_000);
    private static final int MOST_PENDING = 12;

    @Parameter
    private CacheConfiguration configuration;

    private final RegisterHistory[] words = new RegisterHistory[WORDS];
    /** By a request's number: the number of its session. */
    private final int[] sessionOf = new int[REQUESTS];

    private final Set<Integer> statuses = new HashSet<>();
    private final List<String> problems = new ArrayList<>();
    /** Counts events, so that the history needs no clock. */
    private long now;

    static Stream<CacheConfiguration> ways() {
        return Stream.of(Configurations.DIRECT, Configurations.BATCHED, Configurations.HANDED_OVER);
    }

    static LongStream seeds() {
        Long one = Long.getLong("farheap.seed");
        if (one != null) {
            return LongStream.of(one);
        }
        long first = System.nanoTime();
        return LongStream.range(first, first + Effort.seeds(5));
    }

    @AfterEach
    void mend() {
        SoftverbsFaults.failQueuePairsAfter(0);
        SoftverbsFaults.delayOperations(0);
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void nothingTakesEffectAfterItsCallback(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        AtomicInteger answers = new AtomicInteger();
        try (Cluster cluster = new Cluster()
                .behind(server -> PlaneProxy.around(server, (method, arguments, rest) -> {
                    Object answer = rest.call();
                    if (method.equals("disconnect") && answers.incrementAndGet() % 5 == 0) {
                        throw new ControlException(ControlException.Code.UNAVAILABLE, "the answer is lost");
                    }
                    return answer;
                }))) {
            cluster.add(2);
            cluster.add(2);
            try (Cache cache = Cache.builder()
                    .capacity(2 * Cluster.REGION_BYTES)
                    .servers(cluster.addresses())
                    .device(TestDevice.client())
                    .configuration(configuration)
                    .doorbellBatch(random.nextInt(2) == 0 ? 1 : 4)
                    .create()) {
                run(cache, random);
            }
        }
        for (int word = 0; word < WORDS; word++) {
            assertNull(words[word].violation(), "word " + word + ", seed " + seed);
        }
        assertEquals(List.of(), problems, "seed " + seed);
        assertTrue(
                Set.of(Status.OK, Status.UNKNOWN, Status.UNREACHABLE).containsAll(statuses),
                statuses + " with seed " + seed);
        assertTrue(statuses.contains(Status.OK), "seed " + seed);
    }

    /** Half of the words are of each region, on two servers; one more request spans the two. */
    private static long address(int word) {
        return Cluster.REGION_BYTES + 8L * (word - WORDS / 2);
    }

    private void run(Cache cache, SplittableRandom random) {
        List<CacheSession> sessions = new ArrayList<>();
        for (int i = 0; i < SESSIONS; i++) {
            sessions.add(cache.openSession());
        }
        for (int word = 0; word < WORDS; word++) {
            words[word] = new RegisterHistory();
        }
        try (Buffer buffer = cache.allocate(8L * WORDS * REQUESTS)) {
            for (int i = 0; i < REQUESTS; i++) {
                sessionOf[i] = random.nextInt(SESSIONS);
                CacheSession session = sessions.get(sessionOf[i]);
                switch (random.nextInt(100)) {
                    case 0 -> SoftverbsFaults.failQueuePairsAfter(1 + random.nextInt(60));
                    case 1 -> SoftverbsFaults.failQueuePairsAfter(0);
                    case 2 -> SoftverbsFaults.delayOperations(0.3, 1 + random.nextInt(300_000));
                    case 3 -> SoftverbsFaults.delayOperations(0);
                    case 4 -> SessionFaults.failConnection(session.core(), random.nextInt(2));
                    default -> {}
                }
                issue(session, random, buffer, i);
                int polls = random.nextInt(3);
                for (int poll = 0; poll < polls; poll++) {
                    sessions.get(random.nextInt(SESSIONS)).poll();
                }
                while (session.pending() > MOST_PENDING) {
                    sessions.forEach(CacheSession::poll);
                }
            }
            mend();
            sessions.forEach(CacheSession::drain);
            // No fault is left, and the last values are there.
            for (CacheSession session : sessions) {
                for (int word = 0; word < WORDS; word++) {
                    readLast(session, buffer, word);
                }
            }
        }
    }

    private void readLast(CacheSession session, Buffer buffer, int word) {
        long invoked = now++;
        session.readBlocking(address(word), buffer, 0, 8);
        words[word].read(buffer.segment().get(JAVA_LONG, 0), invoked, now++);
    }

    private void issue(CacheSession session, SplittableRandom random, Buffer buffer, int number) {
        int first = random.nextInt(WORDS);
        int count = 1 + random.nextInt(WORDS - first);
        boolean write = random.nextBoolean();
        long at = 8L * WORDS * number;
        for (int i = 0; i < count; i++) {
            buffer.segment().set(JAVA_LONG, at + 8L * i, write ? value(number, i) : -1);
        }
        long invoked = now++;
        Completion ended = write
                ? (token, status) -> wrote(number, first, count, invoked, status)
                : (token, status) -> read(number, buffer, at, first, count, invoked, status);
        boolean taken;
        if (random.nextInt(4) == 0) {
            long[] addresses = IntStream.range(first, first + count)
                    .mapToLong(ConnectionHistoryTest::address)
                    .toArray();
            taken = write
                    ? session.writeAll(addresses, count, buffer, at, 8, ended, 0)
                    : session.readAll(addresses, count, buffer, at, 8, ended, 0);
        } else {
            taken = write
                    ? session.write(address(first), buffer, at, 8L * count, ended, 0)
                    : session.read(address(first), buffer, at, 8L * count, ended, 0);
        }
        if (!taken) {
            session.poll();
        }
    }

    private static long value(int number, int word) {
        return (long) WORDS * (number + 1) + word;
    }

    private void wrote(int number, int first, int count, long invoked, int status) {
        statuses.add(status);
        long responded = now++;
        for (int i = 0; i < count; i++) {
            if (status == Status.OK) {
                words[first + i].write(value(number, i), invoked, responded);
            } else if (status == Status.UNKNOWN) {
                words[first + i].attempt(value(number, i), invoked, responded);
            }
            // After any other status no read may return the value.
        }
    }

    private void read(int number, Buffer buffer, long at, int first, int count, long invoked, int status) {
        statuses.add(status);
        long responded = now++;
        for (int i = 0; status == Status.OK && i < count; i++) {
            long found = buffer.segment().get(JAVA_LONG, at + 8L * i);
            if (found == -1) {
                problems.add("a read has ended before its bytes were there");
            } else if (found != RegisterHistory.INITIAL) {
                int writer = (int) (found / WORDS) - 1;
                if (writer > number && sessionOf[writer] == sessionOf[number]) {
                    problems.add("a read returned what its session wrote after it");
                }
            }
            words[first + i].read(found, invoked, responded);
        }
    }
}
