package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.control.ControlException;
import io.farheap.kv.contract.MapException;
import io.farheap.testing.Fields;
import io.farheap.testing.Wait;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/** How often a map whose lease is lost is opened again. */
class MapReopenerTest {

    private final AtomicInteger attempts = new AtomicInteger();

    private static void await(BooleanSupplier condition) {
        Wait.until(condition, 20_000_000_000L, "it has not come to that");
    }

    private static boolean isWorking(MapReopener reopener) {
        synchronized (reopener) {
            return Fields.get(reopener, "thread", Thread.class) != null;
        }
    }

    @Test
    void triesAgainUntilTheMapHasEnded() throws Exception {
        try (TestSpace space = new TestSpace(1, 1, 1 << 20, 100)) {
            MapConnection connection = Fields.get(space.map, "now", MapConnection.class);
            Object calls = Fields.get(space.spaces.getFirst().server(), "calls", Object.class);
            Fields.field(calls, "lost").set(calls, new ControlException(ControlException.Code.UNAVAILABLE, "lost"));
            MapReopener reopener = new MapReopener(
                    addresses -> {
                        throw attempts.incrementAndGet() % 2 == 1
                                ? new MapException("a server does not answer")
                                : MapException.forGood("the map has ended");
                    },
                    () -> connection,
                    made -> false,
                    replaced -> {});
            reopener.look();
            await(() -> !isWorking(reopener));
            assertEquals(2, attempts.get());
            // Another lease is lost.
            reopener.look();
            await(() -> !isWorking(reopener));
            assertEquals(4, attempts.get());
            reopener.close();
        }
    }
}
