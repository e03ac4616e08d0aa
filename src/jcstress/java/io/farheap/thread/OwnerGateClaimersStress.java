package io.farheap.thread;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** Claimers exclude each other. */
@JCStressTest
@Outcome(id = "2", expect = Expect.ACCEPTABLE, desc = "every increment counts")
@Outcome(expect = Expect.FORBIDDEN, desc = "two claimers were inside at once")
@State
public class OwnerGateClaimersStress {

    private final OwnerGate gate = new OwnerGate();
    private int count;

    @Actor
    public void first() {
        increment();
    }

    @Actor
    public void second() {
        increment();
    }

    @Arbiter
    public void sum(I_Result result) {
        result.r1 = count;
    }

    private void increment() {
        gate.claim();
        count++;
        gate.unclaim();
    }
}
