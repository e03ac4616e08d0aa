package io.farheap.resilience.table;

import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** A read that finds its page's word unchanged has splits of one write, though it asks for them without the word. */
@JCStressTest
@Outcome(
        id = {"0, 0", "1, 1"},
        expect = Expect.ACCEPTABLE,
        desc = "both splits are of one write")
@Outcome(id = "-1, -1", expect = Expect.ACCEPTABLE, desc = "it reads again")
@Outcome(expect = Expect.FORBIDDEN, desc = "splits of two writes")
@State
public class StripeReadStress {

    private final StripeWords words = new StripeWords(1);
    /** Plain, like memory that the device reads and writes. */
    private int first;

    private int second;

    @Actor
    public void write() {
        if (words.tryWrite(0)) {
            first = 1;
            second = 1;
            words.endWrite(0);
        }
    }

    @Actor
    public void read(II_Result result) {
        long word = words.look(0);
        int one = first;
        int other = second;
        VarHandle.acquireFence();
        boolean same = StripeWords.same(word, words.look(0));
        result.r1 = same ? one : -1;
        result.r2 = same ? other : -1;
    }
}
