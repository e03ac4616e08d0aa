package io.farheap.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.contract.CallCompletion;
import io.farheap.procedure.CallStatus;
import io.farheap.server.contract.ServedCode;
import io.farheap.testing.TestDevice;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The moments at which calls are called back. */
class CallCallbackTest {

    private static final long REGION = Cluster.REGION_BYTES;

    /** Otherwise a callback that repeats a lost call would call itself until the stack overflows. */
    @ParameterizedTest
    @EnumSource(
            value = ServedCode.class,
            names = {"JAVA", "OFF"})
    void callbacksComeFromPollsAlone(ServedCode second) throws InterruptedException {
        int most = 3_000;
        CountDownLatch gone = new CountDownLatch(1);
        try (Cluster cluster = new Cluster().serving(ServedCode.JAVA)) {
            cluster.add(1);
            cluster.serving(second).add(1, TestDevice.shortLease(1_000_000_000L));
            try (Cache cache = Cache.builder()
                            .capacity(2 * REGION)
                            .servers(cluster.addresses())
                            .onLost((server, why, regions) -> gone.countDown())
                            .create();
                    Caller caller = new Caller(cache)) {
                Procedure store = cache.procedures().register(TestProcedures.Store.class, Procedures.WRITES);
                assertEquals(
                        CallStatus.DONE, caller.call(store, REGION, REGION, 1).status());
                cluster.stop(1);
                assertTrue(gone.await(TestDevice.patience(60), TimeUnit.SECONDS), "the server is lost");
                // A call to the server is never sent; one that runs in its session has lost an access.
                int status = second == ServedCode.JAVA ? CallStatus.UNREACHABLE : CallStatus.LOST;
                Repeating lost = new Repeating(caller, store, most, status);
                assertTrue(lost.issue());
                while (lost.ended < most) {
                    caller.session.awaitProgress();
                }
                assertEquals(most, lost.expected);
                assertEquals(0, lost.withinACall);
                assertEquals(0, caller.session.pending());
            }
        }
    }

    /** Makes the call again each time it is called back. */
    private static final class Repeating implements CallCompletion {
        private final Caller caller;
        private final Procedure store;
        private final int most;
        private final int expectedStatus;
        private boolean issuing;
        private int ended;
        private int expected;
        private int withinACall;

        Repeating(Caller caller, Procedure store, int most, int expectedStatus) {
            this.caller = caller;
            this.store = store;
            this.most = most;
            this.expectedStatus = expectedStatus;
        }

        boolean issue() {
            issuing = true;
            boolean taken = caller.session.call(store, REGION, caller.buffer, 0, 16, 64, 8, this, 0);
            issuing = false;
            return taken;
        }

        @Override
        public void completed(long token, int status, int code, int bytes) {
            ended++;
            expected += status == expectedStatus ? 1 : 0;
            withinACall += issuing ? 1 : 0;
            if (ended < most) {
                assertTrue(issue());
            }
        }
    }
}
