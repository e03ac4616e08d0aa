package io.farheap.kv.elastic;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.contract.MapDrain;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.elastic.LostServerRemoval.LostServerDrain;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The thread that takes lost servers out, with drains that a test decides. */
@Timeout(60)
class LostServerRemovalTest {

    private static final MapDrain NOTHING = new MapDrain(0, 0, 0, 0);
    private static final long SOON_NANOS = 1;
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
}
