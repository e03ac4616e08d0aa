package io.farheap.thread;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIII_Result;

/** Inside the gate, a side sees all changes of the other side if that was inside before, and none if it comes later. */
@JCStressTest
@Outcome(id = "0, 0, 1, 1", expect = Expect.ACCEPTABLE, desc = "the owner was first")
@Outcome(id = "1, 1, 0, 0", expect = Expect.ACCEPTABLE, desc = "the claimer was first")
@Outcome(expect = Expect.FORBIDDEN, desc = "half of what the other side did, or both were first")
@State
public class OwnerGateVisibilityStress {

    private final OwnerGate gate = new OwnerGate();
    private int claimed1;
    private int claimed2;
    private int owned1;
    private int owned2;

    @Actor
    public void owner(IIII_Result result) {
        gate.enter();
        owned1 = 1;
        owned2 = 1;
        result.r2 = claimed2;
        result.r1 = claimed1;
        gate.exit();
    }

    @Actor
    public void claimer(IIII_Result result) {
        gate.claim();
        claimed1 = 1;
        claimed2 = 1;
        result.r4 = owned2;
        result.r3 = owned1;
        gate.unclaim();
    }
}
