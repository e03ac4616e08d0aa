package io.farheap.resilience.table;

import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** A read that sees a page as a write left it also sees that the slab which the write missed is void. */
@JCStressTest
@Outcome(
        id = {"0, 0", "0, 1"},
        expect = Expect.ACCEPTABLE,
        desc = "it reads the page as it was before")
@Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "it reads the write, and not the slab that missed it")
@Outcome(id = "-1, -1", expect = Expect.ACCEPTABLE, desc = "it reads again")
@Outcome(id = "1, 1", expect = Expect.FORBIDDEN, desc = "it reads the write, and a slab that missed it")
@State
public class VoidSlabStress {

    private final StripeWords words = new StripeWords(1);
    private final Slab missing = Slabs.good(1);
    private final SlabTable table = Slabs.table(Slabs.good(0), missing);
    /** Plain, like memory that the device reads and writes. */
    private int first;

    @Actor
    public void write() {
        if (words.tryWrite(0)) {
            first = 1;
            table.makeVoid(missing);
            words.endWrite(0);
        }
    }

    @Actor
    public void read(II_Result result) {
        long word = words.look(0);
        int reads = table.slab(0, 1).isGood() ? 1 : 0;
        int one = first;
        VarHandle.acquireFence();
        boolean same = StripeWords.same(word, words.look(0));
        result.r1 = same ? one : -1;
        result.r2 = same ? reads : -1;
    }
}
