package io.farheap.procedure.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.rpc.RinglessCall;
import io.farheap.server.contract.CallInterleaving;
import io.farheap.testing.Fields;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A thread that has replaced maps learns when no other thread uses the old ones, and does not wait for that. */
@Timeout(60)
class UnderWaySlicesTest {

    private final ThreadCalls own = thread(0);
    private final ThreadCalls other = thread(1);
    private final ThreadCalls third = thread(2);

    private static ThreadCalls thread(int number) {
        return new ThreadCalls(number, Map.of(), CallInterleaving.OFF, new CallContextPool(), new Alone(), () -> {});
    }

    /** A group that has no calls, and whose slices are those of the threads that the test names. */
    private static final class Alone implements ThreadCalls.ServerThreadGroup {

        SliceRunner[] threads = {};

        @Override
        public @Nullable RunningCall steal(ThreadCalls thief) {
            return null;
        }

        @Override
        public void help(ThreadCalls busy) {}

        @Override
        public UnderWaySlices underWay(ThreadCalls caller) {
            return new UnderWaySlices(threads, caller.slices());
        }
    }

    @Test
    void theyAreOverWhenEachHasEnded() {
        other.slices().begin();
        third.slices().begin();
        UnderWaySlices both =
                new UnderWaySlices(new SliceRunner[] {own.slices(), other.slices(), third.slices()}, own.slices());
        assertFalse(both.over());
        third.slices().end();
        assertFalse(both.over());
        // A slice that begins later uses the new map.
        third.slices().begin();
        other.slices().end();
        other.slices().begin();
        assertTrue(both.over());
        assertTrue(new UnderWaySlices(new SliceRunner[] {own.slices()}, own.slices()).over());
    }

    /** Another thread is in a slice for long, as one whose core is taken away: this one does its rounds. */
    @Test
    void aThreadDoesItsRoundsWhileAnotherIsInASlice() throws IllegalAccessException {
        ((Alone) Fields.get(own, "peers", ThreadCalls.ServerThreadGroup.class)).threads =
                new SliceRunner[] {own.slices(), other.slices()};
        RinglessCall map = new RinglessCall();
        own.replaced(map.call());
        other.slices().begin();
        for (int round = 0; round < 1000 || !fenced(); round++) {
            assertTrue(own.run(false), "there is a reply to send");
        }
        assertFalse(map.answered(), "a slice may use the old map");
        other.slices().end();
        assertTrue(own.run(false));
        assertTrue(map.answered());
        assertFalse(own.run(false));
        assertEquals(0, own.queue().size());
    }

    private boolean fenced() throws IllegalAccessException {
        return Fields.field(own, "underWay").get(own) != null;
    }
}
