package io.farheap.migration.region;

import io.farheap.migration.Regions;
import io.farheap.remote.contract.RemoteRegion;
import java.util.List;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** A request that a capacity admits finds a whole region below it, with the changes that the resizer made before. */
@JCStressTest
@Outcome(id = "0, 0, 0", expect = Expect.ACCEPTABLE, desc = "refused: it is not larger yet")
@Outcome(id = "2, 2, 9", expect = Expect.ACCEPTABLE, desc = "the new region, prepared")
@Outcome(expect = Expect.FORBIDDEN, desc = "half a region, or one that is not prepared")
@State
public class GrowingTableStress {

    private final RegionTable table =
            new RegionTable(new RemoteRegion[] {Regions.region(Regions.OLD)}, Regions.BYTES, Regions.BYTES);
    private int prepared;

    @Actor
    public void session(III_Result result) {
        if (table.capacity() < 2 * Regions.BYTES) {
            return;
        }
        RemoteRegion region = table.get(1).copy();
        result.r1 = region.regionId();
        result.r2 = region.remoteKey();
        result.r3 = prepared;
    }

    @Actor
    public void resizer() {
        prepared = 9;
        table.append(List.of(Regions.region(Regions.NEW)));
        table.capacity(2 * Regions.BYTES);
    }
}
