package io.farheap.server.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.posix.Errno;
import io.farheap.testing.RefusedCalls;
import io.farheap.testing.RefusedCalls.Call;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RegionPoolTest {

    private static final long REGION = 1 << 16;

    /** A machine may have less memory than it reported: the pool then keeps regions withdrawn, and no process ends. */
    @Test
    void whatTheMachineDoesNotGiveStaysWithdrawn() throws Exception {
        try (Context context = Devices.open(TestDevice.server());
                RegionPool pool = new RegionPool(context, REGION, 4, true)) {
            assertEquals(0, pool.owe(3, pool.withdrawals(), () -> 0));
            pool.oweNothing();
            for (List<Call> refused : List.of(
                    List.of(Call.populate(Errno.ENOMEM)),
                    List.of(RefusedCalls.NO_POPULATE, Call.takePages(Errno.ENOSPC)))) {
                assertFalse(RefusedCalls.during(refused, pool::restore));
                assertEquals(3, pool.withdrawnCount());
                assertEquals(1, pool.freeCount());
            }
            assertTrue(RefusedCalls.during(List.of(RefusedCalls.NO_POPULATE), pool::restore), "an older kernel");
            assertTrue(pool.restore());
            assertTrue(pool.restore());
            assertFalse(pool.restore(), "there are no more");
            for (int id : pool.take(4)) {
                assertEquals(0, pool.segment(id).get(ValueLayout.JAVA_LONG, 0), "region " + id);
                pool.segment(id).fill((byte) 1);
            }
        }
    }

    /** The machine's available memory was read earlier and so does not count regions withdrawn since. */
    @Test
    void whatIsWithdrawnMeanwhileIsNotOwedAgain() {
        try (Context context = Devices.open(TestDevice.server());
                RegionPool pool = new RegionPool(context, REGION, 4, true)) {
            int[] taken = pool.take(4);
            long read = pool.withdrawals();
            assertEquals(3, pool.owe(3, read, () -> 0));
            pool.free(taken[0]);
            assertEquals(2, pool.owe(3, read, () -> 0));
            pool.free(taken[1]);
            pool.free(taken[2]);
            pool.free(taken[3]);
            assertEquals(3, pool.withdrawnCount());
            assertEquals(1, pool.freeCount());
            assertEquals(0, pool.owe(0, pool.withdrawals(), () -> 0));
        }
    }

    /** What is promised stays free, also if it is given back later; the rest is owed. */
    @Test
    void whatIsPromisedIsNotWithdrawn() {
        try (Context context = Devices.open(TestDevice.server());
                RegionPool pool = new RegionPool(context, REGION, 6, true)) {
            int[] taken = pool.take(2);
            assertEquals(5, pool.owe(6, pool.withdrawals(), () -> 3));
            assertEquals(1, pool.withdrawnCount());
            assertEquals(3, pool.freeCount());
            pool.take(1);
            pool.free(taken[0]);
            assertEquals(3, pool.freeCount());
            pool.free(taken[1]);
            assertEquals(3, pool.freeCount());
            assertEquals(2, pool.withdrawnCount());
        }
    }

    /** A manager that is asked for room may promise more, until it has heard that regions are wanted. */
    @Test
    void nothingIsWithdrawnBeforeTheManagerHasSaidWhatIsPromised() {
        try (Context context = Devices.open(TestDevice.server());
                RegionPool pool = new RegionPool(context, REGION, 6, true)) {
            int[] taken = pool.take(2);
            AtomicInteger reported = new AtomicInteger();
            assertEquals(5, pool.owe(5, pool.withdrawals(), () -> Integer.MAX_VALUE));
            assertEquals(5, pool.wanted(reported::set));
            assertEquals(5, reported.get());
            pool.free(taken[0]);
            assertEquals(5, pool.freeCount());
            assertEquals(2, pool.owe(5, pool.withdrawals(), () -> 2));
            assertEquals(2, pool.wanted(reported::set));
            pool.free(taken[1]);
            assertEquals(4, pool.withdrawnCount());
            assertEquals(2, pool.freeCount());
            pool.oweNothing();
            assertEquals(0, pool.wanted(reported::set));
        }
    }
}
