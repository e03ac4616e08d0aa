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
 * Reads continue while a region moves: from the old copy until the new one is complete, and never from the old one once
 * it is freed, which comes after a claim of every session's gate.
 */
@JCStressTest
@Outcome(id = "7", expect = Expect.ACCEPTABLE, desc = "the content")
@Outcome(expect = Expect.FORBIDDEN, desc = "a copy that is not complete yet, or not any more")
@State
public class MovingReadStress {

    private final RemoteRegion old = Regions.region(Regions.OLD);
    private final RemoteRegion fresh = Regions.region(Regions.NEW);
    private final RegionTable table = new RegionTable(new RemoteRegion[] {old}, Regions.BYTES, Regions.BYTES);
    private final OwnerGate gate = new OwnerGate();
    private final int[] content = new int[Regions.NEW + 1];

    public MovingReadStress() {
        content[Regions.OLD] = 7;
    }

    @Actor
    public void session(I_Result result) {
        gate.enter();
        RegionEntry entry = table.get(0);
        RemoteRegion copy = entry.isSplit() ? entry.split().copy(false, 0) : entry.copy();
        result.r1 = content[copy.regionId()];
        gate.exit();
    }

    @Actor
    public void migration() {
        SplitRegion split = SplitRegion.whole(old, Regions.BYTES).moving(0, fresh, false, false);
        table.set(0, RegionEntry.split(split));
        content[Regions.NEW] = content[Regions.OLD];
        split.moved(Regions.BYTES);
        table.set(0, RegionEntry.settled(split));
        gate.claim();
        gate.unclaim();
        content[Regions.OLD] = 0;
    }
}
