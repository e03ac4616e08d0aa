package io.farheap.kv.leased.client;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** A process begins no request while it holds leases on less than half of a map's servers, by a clock of the test. */
class LeaseQuorumTest {

    private static final long SECOND = 1_000_000_000;

    /** {@code nanoTime} overflows. */
    private long now = Long.MAX_VALUE - 3 * SECOND;

    private final long[] until = new long[5];

    private LeaseQuorum of(int servers) {
        LeaseQuorum.Server[] all = new LeaseQuorum.Server[servers];
        for (int i = 0; i < servers; i++) {
            int server = i;
            until[server] = now + 10 * SECOND;
            all[server] = _ -> until[server];
        }
        return new LeaseQuorum(all, true, false, () -> now);
    }

    @Test
    void aProcessThatReachesOneOfThreeStopsByItsOwnClock() {
        LeaseQuorum three = of(3);
        until[0] = now + 4 * SECOND;
        until[2] = now + 5 * SECOND;
        now += 4 * SECOND;
        assertFalse(three.isMissing(), "two are held");
        now += SECOND;
        assertTrue(three.isMissing(), "the process was stopped, and no thread has noticed yet");
        until[2] = now + 10 * SECOND;
        now += SECOND;
        assertFalse(three.isMissing());
    }

    @Test
    void halfIsEnough() {
        LeaseQuorum four = of(4);
        until[0] = now;
        until[1] = now;
        assertFalse(four.isMissing(), "the other two cannot replace these");
        until[2] = now;
        now += SECOND;
        // What was held long enough when it was looked at is not looked at again.
        now += 10 * SECOND;
        assertTrue(four.isMissing());
    }

    @Test
    void ofTwoNoneIsReplaced() {
        LeaseQuorum two = of(2);
        now += 60 * SECOND;
        assertFalse(two.isMissing());
    }

    /** A thread has read the clock, and is to look at the leases; another one does so before, by a later clock. */
    @Test
    void aThreadIsNotToldThatTooFewAreHeldSinceAnotherOneHasLooked() {
        LeaseQuorum three = of(3);
        assertFalse(three.isMissing());
        now += 10 * SECOND;
        Arrays.fill(until, now + 10 * SECOND);
        long read = now;
        now += 1000;
        assertFalse(three.isMissing());
        assertTrue(three.holdsHalf(read));
        now += 10 * SECOND;
        read = now;
        now += 1000;
        assertTrue(three.isMissing());
        assertFalse(three.holdsHalf(read), "what another one has looked at in vain is not held");
    }

    /** One that has joined may be replaced as long as the one remains that the map was made on. */
    @Test
    void aServerThatHasJoinedIsReplacedByTheOthers() {
        until[0] = now + SECOND;
        LeaseQuorum one = new LeaseQuorum(new LeaseQuorum.Server[] {_ -> until[0]}, false, true, () -> now);
        assertFalse(one.isMissing());
        now += SECOND;
        assertTrue(one.isMissing());
        LeaseQuorum none = new LeaseQuorum(new LeaseQuorum.Server[] {_ -> until[0]}, false, false, () -> now);
        assertFalse(none.isMissing(), "nothing is replaced");
    }
}
