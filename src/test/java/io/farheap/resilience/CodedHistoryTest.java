package io.farheap.resilience;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.farheap.remote.contract.RemoteServer;
import io.farheap.resilience.contract.Resilience;
import io.farheap.testing.Effort;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random requests of three sessions on few pages: each session writes words of its own, interleaved with the others' in
 * every page and every split, and knows their values. Two overlapping writes would break words that neither wrote.
 */
class CodedHistoryTest {

    private static final int PAGES = 5;
    private static final int SESSIONS = 3;
    /** Rounds of killing servers. */
    private static final int ROUNDS = Effort.either(1, 2);
    /** Long enough that operations which are late only because the machine is busy make no slab void. */
    private static final Duration PATIENT = Duration.ofSeconds(60);

    private static final long SEED = Long.getLong("farheap.seed", System.nanoTime());

    static Stream<Resilience> modes() {
        return modes(3);
    }

    /** The modes for the tests that kill servers, one after another, whose slabs are all regenerated. */
    static Stream<Resilience> dyingModes() {
        return modes(2);
    }

    private static Stream<Resilience> modes(int few) {
        return Effort.variants(
                few,
                Resilience.failureRecovery(4, 2),
                Resilience.corruptionCorrection(2, 3),
                Resilience.ecOnly(4, 2),
                Resilience.copies(3),
                Resilience.corruptionDetection(4, 2),
                Resilience.failureRecovery(2, 1).additional(0));
    }

    @ParameterizedTest
    @MethodSource("modes")
    void sessionsKeepOutOfEachOthersWay(Resilience resilience) throws Exception {
        run(resilience, 0);
    }

    @ParameterizedTest
    @MethodSource("dyingModes")
    void serversDieAndSlabsAreRegeneratedMeanwhile(Resilience resilience) throws Exception {
        run(resilience, resilience.mode() == Resilience.Mode.EC_ONLY ? 1 : resilience.paritySplits());
    }

    private static void run(Resilience resilience, int kills) throws Exception {
        int splits = resilience.splits();
        try (CodedServers servers = new CodedServers(splits + ROUNDS * kills, 3);
                CodedSpace space = servers.space(resilience.timeout(PATIENT), (long) PAGES * resilience.pageBytes())) {
            AtomicBoolean stop = new AtomicBoolean();
            AtomicReference<Throwable> failure = new AtomicReference<>();
            List<Thread> threads = new ArrayList<>();
            for (int number = 0; number < SESSIONS; number++) {
                int own = number;
                threads.add(Thread.ofPlatform().start(() -> {
                    try (CodedSession session = space.openSession()) {
                        new CodedClient(session, resilience, own, SESSIONS, PAGES, SEED + own).run(stop);
                    } catch (Throwable e) {
                        failure.compareAndSet(null, e);
                    }
                }));
            }
            SplittableRandom random = new SplittableRandom(SEED);
            for (int round = 0; round < ROUNDS && kills > 0; round++) {
                Thread.sleep(Effort.count(300));
                List<RemoteServer> used = new ArrayList<>(space.serversOf(0));
                for (int i = 0; i < kills; i++) {
                    servers.kill(servers.indexOf(used.remove(random.nextInt(used.size()))));
                }
                CodedServers.await("all are good again", () -> failure.get() != null || servers.whole(space));
            }
            Thread.sleep(Effort.count(kills > 0 ? 200 : 800));
            stop.set(true);
            for (Thread thread : threads) {
                thread.join();
            }
            Throwable cause = failure.get();
            if (cause != null) {
                throw new AssertionError("seed " + SEED + ", " + space.health(), cause);
            }
            assertNull(cause);
            assertEquals((long) ROUNDS * kills, space.health().regenerated());
        }
    }
}
