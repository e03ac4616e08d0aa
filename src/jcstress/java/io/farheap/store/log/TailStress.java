package io.farheap.store.log;

import io.farheap.store.format.RecordLayout;
import java.util.Arrays;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJJJ_Result;

/**
 * Two threads take 24 bytes at the tail, twice each; a page has room for two: each gets bytes of its own, within a
 * page, and no page is passed over.
 */
@JCStressTest
@Outcome(id = "64, 88, 128, 152", expect = Expect.ACCEPTABLE, desc = "rooms that do not meet, in their order")
@Outcome(expect = Expect.FORBIDDEN, desc = "two have the same room, or one has none, or a page is passed over")
@State
public class TailStress {

    private static final int PAGE_BITS = 6;
    private static final int BYTES = RecordLayout.LEAST_RECORD;
    /** Shared by all tests, which write only the mark behind the last record of a page. */
    private static final PageFrames FRAMES = new PageFrames(null, PAGE_BITS, 4);

    private static final Epochs EPOCHS = new Epochs();

    static {
        FRAMES.give(1);
        FRAMES.give(2);
        FRAMES.give(3);
    }

    private final HybridLog log = new HybridLog(FRAMES, EPOCHS, RecordLayout.COMPACT, HybridLog.FIRST);
    private final long[] taken = new long[4];

    public TailStress() {
        log.ready(3);
    }

    @Actor
    public void one() {
        taken[0] = log.allocate(BYTES, HybridLog.OPERATION);
        taken[1] = log.allocate(BYTES, HybridLog.OPERATION);
    }

    @Actor
    public void another() {
        taken[2] = log.allocate(BYTES, HybridLog.OPERATION);
        taken[3] = log.allocate(BYTES, HybridLog.OPERATION);
    }

    @Arbiter
    public void look(JJJJ_Result result) {
        Arrays.sort(taken);
        result.r1 = taken[0];
        result.r2 = taken[1];
        result.r3 = taken[2];
        result.r4 = taken[3];
    }
}
