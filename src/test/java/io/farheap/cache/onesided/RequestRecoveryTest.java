package io.farheap.cache.onesided;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.remote.contract.RemoteServer;
import java.lang.reflect.Proxy;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** When a session's link to a server is made again; times are the test's own. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RequestRecoveryTest {

    private static final long MILLI = 1_000_000;

    /** Its lease holds. */
    private final RemoteServer server = (RemoteServer) Proxy.newProxyInstance(
            RemoteServer.class.getClassLoader(), new Class<?>[] {RemoteServer.class}, (_, _, _) -> null);

    private final AtomicInteger made = new AtomicInteger();
    private final Semaphore wakes = new Semaphore(0);
    private long now;
    private final RequestRecovery recovery = new RequestRecovery(0, () -> now, wakes::release);

    RequestRecoveryTest() {
        recovery.maker(to -> made.incrementAndGet());
    }

    /** The link is missed, and made at once. */
    private void missAndMake() {
        int before = made.get();
        recovery.miss(server);
        recovery.look(now);
        wakes.acquireUninterruptibly();
        assertEquals(before + 1, made.get());
        recovery.look(now);
    }

    @Test
    void aLinkThatHasCarriedSomethingIsMadeAgainAtOnce() {
        missAndMake();
        now += MILLI;
        recovery.works(server);
        missAndMake();
        now += MILLI;
        recovery.miss(server);
        recovery.look(now);
        assertEquals(now + 5 * MILLI, recovery.next(now), "it has failed again soon, and carried nothing");
        now += 5 * MILLI;
        missAndMake();
    }

    @Test
    void aServerThatWasLeftIsNotMissedAnyMore() {
        missAndMake();
        now += MILLI;
        recovery.miss(server);
        recovery.forget(server);
        now += 10 * MILLI;
        recovery.look(now);
        assertEquals(1, made.get());
        assertEquals(now + 1_000 * MILLI, recovery.next(now), "nothing is due");
    }
}
