package io.farheap.migration.region;

import io.farheap.migration.Regions;
import io.farheap.remote.contract.RemoteRegion;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** A reader of the table sees a whole region, old or new, and with the new one all that was copied before the swap. */
@JCStressTest
@Outcome(id = "1, 1, 0", expect = Expect.ACCEPTABLE, desc = "the old region, before the copy")
@Outcome(id = "1, 1, 9", expect = Expect.ACCEPTABLE, desc = "the old region, after the copy")
@Outcome(id = "2, 2, 9", expect = Expect.ACCEPTABLE, desc = "the new region, and what was copied")
@Outcome(expect = Expect.FORBIDDEN, desc = "half a region, or one without its content")
@State
public class RegionSwapStress {

    private final RegionTable table = new RegionTable(new RemoteRegion[] {Regions.region(1)}, 1, 1);
    private int copied;

    @Actor
    public void session(III_Result result) {
        RemoteRegion region = table.get(0).copy();
        result.r1 = region.regionId();
        result.r2 = region.remoteKey();
        result.r3 = copied;
    }

    @Actor
    public void migration() {
        copied = 9;
        table.set(0, RegionEntry.whole(Regions.region(2)));
    }
}
