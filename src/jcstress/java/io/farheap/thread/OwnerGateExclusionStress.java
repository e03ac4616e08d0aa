package io.farheap.thread;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** Owner and claimer are never inside at once: no increment is lost. */
@JCStressTest
@Outcome(id = "3", expect = Expect.ACCEPTABLE, desc = "every increment counts")
@Outcome(expect = Expect.FORBIDDEN, desc = "owner and claimer were inside at once")
@State
public class OwnerGateExclusionStress {

    private final OwnerGate gate = new OwnerGate();
    private int count;

    @Actor
    public void owner() {
        gate.enter();
        count++;
        gate.exit();
        gate.enter();
        count++;
        gate.exit();
    }

    @Actor
    public void claimer() {
        gate.claim();
        count++;
        gate.unclaim();
    }

    @Arbiter
    public void sum(I_Result result) {
        result.r1 = count;
    }
}
