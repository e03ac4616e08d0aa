package io.farheap.cache.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.remote.contract.RemoteServer;
import java.lang.reflect.Proxy;
import java.util.Collections;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/** How long sessions wait for a server that their cache leaves, by a clock of the test. */
class CallSettlementTest {

    private static final long SECOND = 1_000_000_000;

    private long now;
    /** Whether the server answers the questions that it is asked, and the time until which it keeps the lease. */
    private boolean answers;

    private long heldUntil;
    private boolean lost;
    private int looks;

    private final RemoteServer server = (RemoteServer) Proxy.newProxyInstance(
            RemoteServer.class.getClassLoader(),
            new Class<?>[] {RemoteServer.class},
            (proxy, method, arguments) -> switch (method.getName()) {
                case "lost" -> lost ? new ControlException(ControlException.Code.UNAVAILABLE, "it is gone") : null;
                case "heldUntil" -> heldUntil;
                case "doubt" -> {
                    heldUntil = answers ? now + 30 * SECOND : heldUntil;
                    yield null;
                }
                case "address" -> "server:1";
                default -> throw new AssertionError(method.getName());
            });
    private final CallSettlement settlement = new CallSettlement(server, () -> now, nanos -> now += nanos);

    private boolean isUnderWay() {
        looks++;
        return true;
    }

    /** Eight sessions wait at once, not one after another. */
    @Test
    void aSilentServerIsWaitedForOnce() {
        settlement.await(Collections.nCopies(8, (BooleanSupplier) this::isUnderWay));
        assertTrue(now >= SECOND && now < 2 * SECOND, now + " ns");
        assertTrue(looks < 8 * 300, looks + " looks: the pause becomes longer");
    }

    @Test
    void aServerThatAnswersHasMoreTime() {
        answers = true;
        settlement.await(List.of(() -> now < 4 * SECOND));
        assertTrue(now >= 4 * SECOND && now < 5 * SECOND, now + " ns");
    }

    @Test
    void aServerThatAnswersAndSendsNoCallBackIsNotWaitedForForEver() {
        answers = true;
        settlement.await(List.of(this::isUnderWay));
        assertTrue(now >= 10 * SECOND && now < 11 * SECOND, now + " ns");
    }

    @Test
    void aServerThatIsLostIsNotWaitedFor() {
        settlement.await(List.of(() -> {
            lost = now > SECOND / 10;
            return true;
        }));
        assertTrue(now < SECOND / 5, now + " ns");
    }

    @Test
    void thereIsNoWaitIfNoCallIsUnderWay() {
        settlement.await(List.of(() -> false));
        assertEquals(0, now);
    }

    @Test
    void aSessionThatFailsKeepsNoOtherFromWaiting() {
        settlement.await(List.of(
                () -> {
                    throw new IllegalStateException("on purpose");
                },
                () -> now < SECOND / 2));
        assertTrue(now >= SECOND / 2 && now < SECOND, now + " ns");
    }
}
