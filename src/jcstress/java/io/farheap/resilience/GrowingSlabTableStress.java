package io.farheap.resilience;

import java.util.List;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * A slab is replaced in a table that has just grown: a write that took its page's word afterwards finds the new one,
 * whichever table it saw before.
 */
@JCStressTest
@Outcome(
        id = {"0, 0, 1", "1, 1, 1"},
        expect = Expect.ACCEPTABLE,
        desc = "the new slab has what the page has")
@Outcome(
        id = {"0, 5, 1", "1, 5, 1"},
        expect = Expect.ACCEPTABLE,
        desc = "the window was not had, and is tried again")
@Outcome(expect = Expect.FORBIDDEN, desc = "the new slab misses the write, or the larger table the slab")
@State
public class GrowingSlabTableStress {

    private static final int NOT_HAD = 5;

    private final StripeWords words = new StripeWords(1);
    private final Slab old = Slabs.good(1);
    private final Slab next = Slabs.rebuilding(1);
    private final List<Slab> more = List.of(Slabs.good(0), Slabs.good(1));
    private final SlabTable table = Slabs.table(Slabs.good(0), old);
    /** Plain, as what the device reads and writes: a split that is good, and its like in the new slab. */
    private int source;

    private int copy;
    private boolean had;

    public GrowingSlabTableStress() {
        table.makeVoid(old);
    }

    @Actor
    public void growAndRegenerate() {
        table.append(more);
        table.replace(old, next);
        if (words.tryHold(0)) {
            copy = source;
            had = true;
            words.endHold(0);
        }
    }

    @Actor
    public void write() {
        if (words.tryWrite(0)) {
            Slab second = table.slab(0, 1);
            source = 1;
            if (!second.isVoid()) {
                copy = 1;
            }
            words.endWrite(0);
        }
    }

    @Arbiter
    public void rest(III_Result result) {
        result.r1 = source;
        result.r2 = had ? copy : NOT_HAD;
        result.r3 = table.ranges() == 2 && table.slab(0, 1) == next && table.slab(1, 1) == more.get(1) ? 1 : 0;
    }
}
