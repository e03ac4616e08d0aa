package io.farheap.resilience.table;

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

    private final List<Slab> more = List.of(Slabs.good(0), Slabs.good(1));
    private final RegeneratedPage page = new RegeneratedPage();

    @Actor
    public void growAndRegenerate() {
        page.table().append(more);
        page.regenerate();
    }

    @Actor
    public void write() {
        page.write();
    }

    @Arbiter
    public void rest(III_Result result) {
        SlabTable table = page.table();
        result.r1 = page.source();
        result.r2 = page.copy();
        result.r3 = table.ranges() == 2 && table.slab(0, 1) == page.next() && table.slab(1, 1) == more.get(1) ? 1 : 0;
    }
}
