package io.farheap.kv.elastic;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.contract.MapDrain;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.elastic.LostServerRemoval.LostServerDrain;
import io.farheap.testing.Wait;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The thread that takes lost servers out, with drains that a test decides. */
@Timeout(60)
class LostServerRemovalTest {

    private static final MapDrain NOTHING = new MapDrain(0, 0, 0, 0);
    private static final long SOON_NANOS = 1;
    private static final long PATIENCE_NANOS = 30_000_000_000L;
    private static final long NEVER_NANOS = Long.MAX_VALUE / 2;

    private final Set<Integer> left = ConcurrentHashMap.newKeySet();
    private final List<String> drained = new CopyOnWriteArrayList<>();
    private final CountDownLatch end = new CountDownLatch(1);
    private final Set<String> answering = ConcurrentHashMap.newKeySet();
    private volatile int failures;

    private final class FakeDrain implements LostServerDrain {

        @Override
        public boolean answers(String address, int number) {
            return answering.contains(address);
        }

        @Override
        public MapDrain drain(String address, Consumer<MapDrain> progress) {
            if (drained.size() < failures) {
                drained.add("failed");
                throw new MapException("another process adds memory");
            }
            drained.add(address);
            left.add(address.equals("one:1") ? 1 : 2);
            if (left.size() == 2) {
                end.countDown();
            }
            return NOTHING;
        }
    }

    private LostServerRemoval removal(LostServerDrain drain, Map<Integer, String> servers) {
        return new LostServerRemoval(
                "map", servers, left::contains, () -> drain, () -> {}, end::countDown, SOON_NANOS, SOON_NANOS);
    }

    /** A drain, of servers that do not answer unless a test says so. */
    private interface OnlyDrain extends LostServerDrain {
        @Override
        default boolean answers(String address, int number) {
            return false;
        }
    }

    private LostServerRemoval removal(long firstNanos, Map<Integer, String> servers) {
        return new LostServerRemoval(
                "map", servers, left::contains, FakeDrain::new, () -> {}, end::countDown, firstNanos, SOON_NANOS);
    }

    @Test
    void serversAreTakenOutOneAfterTheOtherAndAgainIfThatFails() throws InterruptedException {
        failures = 2;
        try (LostServerRemoval removal = removal(SOON_NANOS, Map.of(1, "one:1", 2, "two:2"))) {
            removal.start();
            end.await();
            assertFalse(removal.answers());
        }
        assertEquals(List.of("failed", "failed"), drained.subList(0, 2));
        assertEquals(Set.of("one:1", "two:2"), Set.copyOf(drained.subList(2, drained.size())));
        assertEquals(4, drained.size());
    }

    /** The process must open the map again, with the server. */
    @Test
    void aServerThatAnswersAgainIsNotTakenOut() throws InterruptedException {
        answering.add("one:1");
        try (LostServerRemoval removal = removal(SOON_NANOS, Map.of(1, "one:1"))) {
            removal.start();
            end.await();
            assertTrue(removal.answers());
        }
        assertEquals(List.of(), drained);
    }

    @Test
    void aShortUseOfTheMapTakesNothingOut() {
        LostServerRemoval removal = removal(NEVER_NANOS, Map.of(1, "one:1"));
        removal.start();
        removal.close();
        removal.close();
        removal.start();
        assertEquals(List.of(), drained);
    }

    /** The process has not been able to open the map again with the server, which has been lost again. */
    @Test
    void aServerThatIsLostAgainIsTakenOut() throws InterruptedException {
        answering.add("one:1");
        left.add(2);
        try (LostServerRemoval removal = removal(SOON_NANOS, Map.of(1, "one:1"))) {
            removal.start();
            end.await();
            assertTrue(removal.answers());
            answering.clear();
            Wait.until(() -> left.contains(1), PATIENCE_NANOS, "the server is not taken out");
            assertFalse(removal.answers());
        }
    }

    @Test
    void oneThatCannotBeTakenOutDoesNotKeepTheOthersIn() throws InterruptedException {
        Map<Integer, String> servers = new LinkedHashMap<>();
        servers.put(1, "fails");
        servers.put(2, "two:2");
        OnlyDrain drain = (address, progress) -> {
            if (address.equals("fails")) {
                throw new MapException("another process uses it");
            }
            left.add(2);
            end.countDown();
            return NOTHING;
        };
        try (LostServerRemoval removal = removal(drain, servers)) {
            removal.start();
            end.await();
        }
        assertEquals(Set.of(2), left);
    }

    @Test
    void anErrorDoesNotEndTheThread() throws InterruptedException {
        AtomicInteger attempts = new AtomicInteger();
        OnlyDrain drain = (address, progress) -> {
            if (attempts.incrementAndGet() == 1) {
                throw new OutOfMemoryError("no native thread, in a test");
            }
            left.add(1);
            end.countDown();
            return NOTHING;
        };
        try (LostServerRemoval removal = removal(drain, Map.of(1, "one:1"))) {
            removal.start();
            end.await();
        }
        assertEquals(2, attempts.get());
    }

    /** A close interrupts a drain, and ends one that says how far it is. */
    @Test
    void aCloseEndsADrainThatIsUnderWay() throws InterruptedException {
        AtomicBoolean interrupted = new AtomicBoolean();
        OnlyDrain drain = (address, progress) -> {
            end.countDown();
            while (!Thread.currentThread().isInterrupted()) {
                LockSupport.park(this);
            }
            interrupted.set(true);
            while (true) {
                progress.accept(NOTHING);
            }
        };
        LostServerRemoval removal = removal(drain, Map.of(1, "one:1"));
        removal.start();
        end.await();
        removal.close();
        assertTrue(interrupted.get());
        assertEquals(Set.of(), left);
    }

    /** An attempt may fail after the server has left, as a process learns of that late. */
    @Test
    void whatHasLeftIsLoggedOnce() throws InterruptedException {
        List<String> logged = new CopyOnWriteArrayList<>();
        Logger log = Logger.getLogger(LostServerRemoval.class.getName());
        log.setFilter(each -> {
            if (each.getLevel().equals(Level.WARNING) && each.getMessage().contains("map of this test")) {
                logged.add(each.getMessage());
            }
            return false;
        });
        OnlyDrain drain = (address, progress) -> {
            left.add(1);
            throw new MapException("a process that has it open has not learned of that");
        };
        try (LostServerRemoval removal = new LostServerRemoval(
                "map of this test",
                Map.of(1, "one:1"),
                left::contains,
                () -> drain,
                () -> {},
                () -> {},
                SOON_NANOS,
                SOON_NANOS)) {
            removal.start();
            Wait.until(() -> !logged.isEmpty(), PATIENCE_NANOS, "nothing is logged");
        } finally {
            log.setFilter(null);
        }
        assertEquals(
                List.of("server one:1, which had joined map map of this test, was lost, and has been taken out with "
                        + "what it had"),
                logged);
    }

    @Test
    void attemptsGetRarer() {
        assertEquals(2, LostServerRemoval.longer(1));
        assertEquals(120_000_000_000L, LostServerRemoval.longer(100_000_000_000L));
        assertEquals(120_000_000_000L, LostServerRemoval.longer(120_000_000_000L));
    }
}
