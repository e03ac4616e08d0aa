package io.farheap.procedure.translate.running;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;

/** A set of two words under its region's lock, concurrent with an addition to one word, sets both words or none. */
@JCStressTest
@Outcome(id = "2, 1", expect = Expect.ACCEPTABLE, desc = "the set, then the addition")
@Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "the addition first, so that the set found another value")
@Outcome(expect = Expect.FORBIDDEN, desc = "half of a set, or a lost addition")
@State
public class WordSetStress {

    /** All tests share this region's lock, as regions do whose addresses map to the same lock. */
    private static final long REGION = 4096;

    private long first;
    private long second;

    @Actor
    public void set() {
        int lock = lock();
        if (first == 0 && second == 0) {
            first = 1;
            second = 1;
        }
        RegionLocks.unlock(lock);
    }

    @Actor
    public void add() {
        int lock = lock();
        first++;
        RegionLocks.unlock(lock);
    }

    @Arbiter
    public void rest(JJ_Result result) {
        result.r1 = first;
        result.r2 = second;
    }

    private static int lock() {
        int lock;
        do {
            lock = RegionLocks.lock(REGION);
        } while (lock == RegionLocks.NONE);
        return lock;
    }
}
