package io.farheap.procedure.service;

import io.farheap.posix.AsymmetricFence;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * A thread replaces a map, and waits for slices as {@link UnderWaySlices} does: no slice with the earlier map sees the
 * thread's later changes, such as a freed region.
 */
@JCStressTest
@Outcome(id = "0, [01]", expect = Expect.ACCEPTABLE, desc = "the slice used a region that was there, or the new map")
@Outcome(expect = Expect.FORBIDDEN, desc = "a slice used the map before after it had been waited for")
@State
public class ReplacedMapStress {

    private static final VarHandle FREED;

    static {
        try {
            FREED = MethodHandles.lookup().findVarHandle(ReplacedMapStress.class, "freed", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final LeaseRegionTable BEFORE = new LeaseRegionTable(1, new int[] {0}, 16);
    private static final LeaseRegionTable AFTER = new LeaseRegionTable(2, new int[] {-1}, 16);

    private final LeaseProcedures lease = new LeaseProcedures("test", () -> 0);
    private final SliceRunner slices = new SliceRunner();
    private boolean freed;
    private int usedFreed;
    private int usedAfter;

    public ReplacedMapStress() {
        lease.map(BEFORE);
    }

    @Actor
    public void slice() {
        slices.begin();
        if (lease.map() == BEFORE) {
            usedFreed = (boolean) FREED.getOpaque(this) ? 1 : 0;
        } else {
            usedAfter = 1;
        }
        slices.end();
    }

    @Actor
    public void replace() {
        lease.map(AFTER);
        AsymmetricFence.heavy();
        int number = slices.underWay();
        while (!slices.over(number)) {
            Thread.onSpinWait();
        }
        FREED.setOpaque(this, true);
    }

    @Arbiter
    public void rest(II_Result result) {
        result.r1 = usedFreed;
        result.r2 = usedAfter;
    }
}
