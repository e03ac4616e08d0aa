package io.farheap.resilience;

import io.farheap.resilience.table.RegeneratedPage;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** A write during a slab's regeneration is in the new slab: the regeneration or the write stores it there. */
@JCStressTest
@Outcome(
        id = {"0, 0", "1, 1"},
        expect = Expect.ACCEPTABLE,
        desc = "the new slab has what the page has")
@Outcome(
        id = {"0, 5", "1, 5"},
        expect = Expect.ACCEPTABLE,
        desc = "the window was not had, and is tried again")
@Outcome(expect = Expect.FORBIDDEN, desc = "the new slab misses the write")
@State
public class RegeneratedSlabStress {

    private final RegeneratedPage page = new RegeneratedPage();

    @Actor
    public void regenerate() {
        page.regenerate();
    }

    @Actor
    public void write() {
        page.write();
    }

    @Arbiter
    public void rest(II_Result result) {
        result.r1 = page.source();
        result.r2 = page.copy();
    }
}
