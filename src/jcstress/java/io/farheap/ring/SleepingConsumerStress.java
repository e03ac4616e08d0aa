package io.farheap.ring;

import io.farheap.posix.AsymmetricFence;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * A client thread goes to sleep: a thread that hands over an element sees that the client thread sleeps, or the client
 * thread sees the element.
 */
@JCStressTest
@Outcome(
        id = {"true, false", "false, true", "true, true"},
        expect = Expect.ACCEPTABLE,
        desc = "one of them saw the other")
@Outcome(expect = Expect.FORBIDDEN, desc = "it sleeps on something, and nobody wakes it")
@State
public class SleepingConsumerStress {

    private final LongRing ring = new LongRing(1);
    private volatile boolean asleep;

    @Actor
    public void producer(ZZ_Result result) {
        ring.offer(1);
        AsymmetricFence.light();
        result.r1 = asleep;
    }

    @Actor
    public void consumer(ZZ_Result result) {
        asleep = true;
        AsymmetricFence.heavy();
        result.r2 = ring.hasNext();
    }
}
