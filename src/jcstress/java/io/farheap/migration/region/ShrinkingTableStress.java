package io.farheap.migration.region;

import io.farheap.migration.Regions;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.thread.OwnerGate;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * A request that was admitted finds its region in the table and not freed: the resizer claims the session's gate
 * between the smaller capacity and the smaller table.
 */
@JCStressTest
@Outcome(id = "0", expect = Expect.ACCEPTABLE, desc = "refused")
@Outcome(id = "7", expect = Expect.ACCEPTABLE, desc = "the content")
@Outcome(expect = Expect.FORBIDDEN, desc = "a region that is freed")
@State
public class ShrinkingTableStress {

    private static final int FREED = -1;

    private final RegionTable table = new RegionTable(
            new RemoteRegion[] {Regions.region(Regions.OLD), Regions.region(Regions.NEW)},
            2 * Regions.BYTES,
            Regions.BYTES);
    private final OwnerGate gate = new OwnerGate();
    private final int[] content = new int[Regions.NEW + 1];

    public ShrinkingTableStress() {
        content[Regions.NEW] = 7;
    }

    @Actor
    public void session(I_Result result) {
        gate.enter();
        if (table.capacity() == 2 * Regions.BYTES) {
            result.r1 = content[table.get(1).copy().regionId()];
        }
        gate.exit();
    }

    @Actor
    public void resizer() {
        table.capacity(Regions.BYTES);
        gate.claim();
        gate.unclaim();
        table.truncate(1);
        content[Regions.NEW] = FREED;
    }
}
