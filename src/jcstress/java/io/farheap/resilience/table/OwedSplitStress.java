package io.farheap.resilience.table;

import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** A split that is still pending after its write's callback is not read until it has been stored. */
@JCStressTest
@Outcome(
        id = {"0, 0", "1, 1"},
        expect = Expect.ACCEPTABLE,
        desc = "both splits are of one write")
@Outcome(id = "1, 7", expect = Expect.ACCEPTABLE, desc = "the second is owed, and not asked")
@Outcome(id = "-1, -1", expect = Expect.ACCEPTABLE, desc = "it reads again")
@Outcome(expect = Expect.FORBIDDEN, desc = "a split that was still to come")
@State
public class OwedSplitStress {

    private static final int SECOND = 2;
    private static final int NOT_ASKED = 7;

    private final StripeWords words = new StripeWords(1);
    /** Plain, like memory that the device reads and writes. */
    private int first;

    private int second;

    @Actor
    public void write() {
        if (words.tryWrite(0)) {
            first = 1;
            words.owe(0, SECOND);
            second = 1;
            words.pay(0, SECOND);
        }
    }

    @Actor
    public void read(II_Result result) {
        long word = words.look(0);
        int one = first;
        int other = (StripeWords.owed(word) & SECOND) == 0 ? second : NOT_ASKED;
        VarHandle.acquireFence();
        boolean same = StripeWords.same(word, words.look(0));
        result.r1 = same ? one : -1;
        result.r2 = same ? other : -1;
    }
}
