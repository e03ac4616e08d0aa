package io.farheap.control.lease;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.grpc.InMemoryPlane;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A release that failed is sent again until the server has executed it. */
class PendingReleasesTest {

    private static final long LEASE = 5;

    private final InMemoryPlane plane = new InMemoryPlane();
    private final PendingReleases debts = new PendingReleases(plane, LEASE, () -> {});

    @AfterEach
    void close() {
        plane.mayGoOn.countDown();
        debts.close();
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        for (int i = 0; !condition.getAsBoolean(); i++) {
            assertTrue(i < 6000, "this does not come about");
            Thread.sleep(10);
        }
    }

    /** Waits for a release behind all that are pending: when it has been made, each of them has been tried. */
    private void awaitOffers() throws InterruptedException {
        await(() -> {
            debts.offer();
            return plane.calls.contains(List.of("abandon", LEASE, 99L));
        });
    }

    @ParameterizedTest
    @EnumSource(names = {"UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED", "BUSY", "INTERNAL"})
    void whatFailedIsOfferedUntilItIsTaken(Code code) throws Exception {
        plane.failWith = new ControlException(code, "not now");
        debts.release(3, 7);
        debts.release(4, 8);
        // If the server does not answer, only the first release waits for that: the second one is not tried.
        int tried = code == Code.DEADLINE_EXCEEDED ? 1 : 2;
        assertEquals(tried, plane.count("release"));
        debts.offer();
        await(() -> plane.count("release") == tried + 1);
        plane.failWith = null;
        debts.abandon(99);
        awaitOffers();

        assertEquals(tried + 3, plane.count("release"));
        assertEquals(List.of("release", LEASE, 3, 7L), plane.calls.get(tried + 1));
        assertEquals(List.of("release", LEASE, 4, 8L), plane.calls.get(tried + 2));
        debts.release(5, 9);
        assertEquals(List.of("release", LEASE, 5, 9L), plane.calls.getLast());
    }

    @ParameterizedTest
    @EnumSource(names = {"NOT_FOUND", "LEASE_EXPIRED"})
    void whatIsGoneIsNotOfferedAgain(Code code) throws Exception {
        plane.failWith = new ControlException(code, "gone");
        debts.release(3, 7);
        plane.failWith = null;
        debts.abandon(99);
        awaitOffers();
        assertEquals(1, plane.count("release"));
    }

    @Test
    void oneThreadOffersAndNobodyWaitsForIt() throws Exception {
        plane.hanging = Set.of("abandon");
        for (int i = 0; i < 100; i++) {
            debts.abandon(i + 1);
        }
        debts.abandon(99);
        await(() -> plane.count("abandon") == 1);
        debts.offer();
        Thread.sleep(50);
        assertEquals(1, plane.count("abandon"));
        plane.mayGoOn.countDown();
        awaitOffers();
        await(() -> plane.count("abandon") == 101);
    }

    @Test
    void anErrorEndsARoundAndTheNextGoesOn() throws Exception {
        plane.failWith = new LinkageError("injected");
        debts.abandon(1);
        await(() -> plane.count("abandon") == 1);
        plane.failWith = null;
        await(() -> {
            debts.offer();
            return plane.count("abandon") == 2;
        });
    }

    @Test
    void aLeaseThatIsGoneOwesNothing() throws Exception {
        plane.failWith = new ControlException(Code.UNAVAILABLE, "not now");
        debts.release(3, 7);
        debts.close();
        debts.offer();
        debts.abandon(8);
        debts.release(4, 7);
        debts.offer();
        Thread.sleep(50);
        assertEquals(2, plane.calls.size(), "only what was given back at once: " + plane.calls);
    }
}
