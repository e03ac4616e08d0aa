package io.farheap.migration.region;

import io.farheap.migration.Regions;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.thread.OwnerGate;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * A session looks up a write's region and writes, inside its gate; a migration holds writes, claims the gate, copies,
 * and lets the writes continue to the new copy. The written value is in the copy that the table names in the end.
 */
@JCStressTest
@Outcome(id = "1, 7", expect = Expect.ACCEPTABLE, desc = "written to the old copy, and copied")
@Outcome(id = "2, 7", expect = Expect.ACCEPTABLE, desc = "written to the new copy")
@Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "held")
@Outcome(expect = Expect.FORBIDDEN, desc = "a write was lost, or is there though it was held")
@State
public class MovingWriteStress {

    private final RemoteRegion old = Regions.region(Regions.OLD);
    private final RemoteRegion fresh = Regions.region(Regions.NEW);
    private final RegionTable table = new RegionTable(new RemoteRegion[] {old}, Regions.BYTES, Regions.BYTES);
    private final OwnerGate gate = new OwnerGate();
    private final int[] content = new int[Regions.NEW + 1];

    @Actor
    public void session(II_Result result) {
        gate.enter();
        RegionEntry entry = table.get(0);
        RemoteRegion copy = entry.isSplit() ? entry.split().copy(true, 0) : entry.copy();
        if (copy != null) {
            content[copy.regionId()] = 7;
            result.r1 = copy.regionId();
        }
        gate.exit();
    }

    @Actor
    public void migration() {
        SplitRegion split = SplitRegion.whole(old, Regions.BYTES).moving(0, fresh, false, false);
        table.set(0, RegionEntry.split(split));
        split.held(Regions.BYTES);
        gate.claim();
        gate.unclaim();
        content[Regions.NEW] = content[Regions.OLD];
        split.moved(Regions.BYTES);
        table.set(0, RegionEntry.settled(split));
    }

    @Arbiter
    public void content(II_Result result) {
        result.r2 = content[table.get(0).copy().regionId()];
    }
}
