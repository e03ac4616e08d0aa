package io.farheap.ring;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Values reach the other thread in order, each once, with the writes before them, also if the ring is full in between.
 */
@JCStressTest
@Outcome(id = "3, 0", expect = Expect.ACCEPTABLE, desc = "all came, in order and whole")
@Outcome(
        expect = Expect.FORBIDDEN,
        desc = "one was lost, came twice, out of order, or before what was written before it")
@State
public class LongRingStress {

    private static final int VALUES = 3;

    private final LongRing ring = new LongRing(2);
    private final int[] column = new int[VALUES];
    private int offered;
    private int taken;
    private int spoilt;

    @Actor
    public void producer() {
        offer();
        offer();
        offer();
    }

    @Actor
    public void consumer() {
        take();
        take();
        take();
    }

    @Arbiter
    public void rest(II_Result result) {
        while (taken < VALUES) {
            take();
            offer();
        }
        result.r1 = taken;
        result.r2 = spoilt;
    }

    private void offer() {
        if (offered < VALUES) {
            column[offered] = offered + 1;
            if (ring.offer(offered)) {
                offered++;
            }
        }
    }

    private void take() {
        if (ring.hasNext()) {
            int value = (int) ring.peek();
            if (value != taken || column[value] != value + 1) {
                spoilt++;
            }
            ring.remove();
            taken++;
        }
    }
}
