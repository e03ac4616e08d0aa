package io.farheap.resilience.table;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Two writes of a page, and a thread that keeps writers out: one at a time has the page's word, and sees the changes of
 * the one before.
 */
@JCStressTest
@Outcome(id = "[1-3], 0", expect = Expect.ACCEPTABLE, desc = "who got the word had it alone")
@Outcome(expect = Expect.FORBIDDEN, desc = "two had it at once")
@State
public class StripeWordExclusionStress {

    private final StripeWords words = new StripeWords(1);
    /** Plain: the word orders them. */
    private int first;

    private int second;
    private int firstGot;
    private int secondGot;
    private int heldGot;
    private int unlike;

    @Actor
    public void write() {
        if (words.tryWrite(0)) {
            firstGot = 1;
            change();
            words.endWrite(0);
        }
    }

    @Actor
    public void writeAndHold() {
        if (words.tryWrite(0)) {
            secondGot = 1;
            change();
            words.endWrite(0);
        }
        if (words.tryHold(0)) {
            heldGot = 1;
            change();
            words.endHold(0);
        }
    }

    private void change() {
        if (first != second) {
            unlike++;
        }
        first++;
        second++;
    }

    @Arbiter
    public void rest(II_Result result) {
        result.r1 = firstGot + secondGot + heldGot;
        result.r2 = unlike + first - result.r1 + second - result.r1;
    }
}
