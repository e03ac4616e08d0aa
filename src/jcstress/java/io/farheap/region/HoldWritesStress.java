package io.farheap.region;

import io.farheap.thread.OwnerGate;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * A session reads the table's entry and posts inside its gate, a migration swaps the entry and then claims the gate: from the claim on
 * nobody writes to the old region, and the copy has every write that was posted to it.
 */
@JCStressTest
@Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "written, and copied")
@Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "held: there is nothing to copy")
@Outcome(expect = Expect.FORBIDDEN, desc = "a write to the old region that the copy lacks")
@State
public class HoldWritesStress {

    private final RegionTable table = new RegionTable(new RemoteRegion[] {Regions.region(1)}, 1);
    private final OwnerGate gate = new OwnerGate();
    private int old;

    @Actor
    public void session(II_Result result) {
        gate.enter();
        if (!table.get(0).writesHeld()) {
            old = 1;
            result.r1 = 1;
        }
        gate.exit();
    }

    @Actor
    public void migration(II_Result result) {
        table.set(0, table.get(0).withWritesHeld(true));
        gate.claim();
        gate.unclaim();
        result.r2 = old;
    }
}
