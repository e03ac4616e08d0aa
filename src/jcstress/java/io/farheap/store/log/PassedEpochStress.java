package io.farheap.store.log;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;

/**
 * A session looks at a mark and then at what the mark guards, inside an epoch; another thread moves the mark, and
 * changes what it guards once the epoch has passed.
 */
@JCStressTest
@Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "before the mark")
@Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "behind the mark, while the epoch was waited for")
@Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "behind both")
@Outcome(expect = Expect.FORBIDDEN, desc = "the session acts on the old mark, on what has changed")
@State
public class PassedEpochStress {

    /** Shared by all tests, with the session's place, because one thread runs all sessions. */
    private static final Epochs EPOCHS = new Epochs();

    private static final int PLACE = EPOCHS.take();

    /** Stores to this array are slow and delay later stores: without a fence the session's epoch would be seen late. */
    private static final long[] COLD = new long[1 << 22];

    private static int cold;

    private long mark;
    private long changed;

    @Actor
    public void session(JJ_Result result) {
        for (int i = 0; i < 16; i++) {
            cold = cold * 1_664_525 + 1_013_904_223;
            COLD[cold >>> 10] = cold;
        }
        EPOCHS.enter(PLACE);
        result.r1 = mark;
        result.r2 = changed;
        EPOCHS.leave(PLACE);
    }

    @Actor
    public void mover() {
        mark = 1;
        if (EPOCHS.passed(EPOCHS.advance())) {
            changed = 1;
        }
    }
}
