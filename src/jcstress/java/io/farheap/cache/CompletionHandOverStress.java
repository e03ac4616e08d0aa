package io.farheap.cache;

import io.farheap.thread.OwnerGate;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Completions that a migration takes reach the session's thread whole, once, and none is lost. */
@JCStressTest
@Outcome(id = "2, 0", expect = Expect.ACCEPTABLE, desc = "both were handled, each once")
@Outcome(expect = Expect.FORBIDDEN, desc = "one was lost, came twice or came in half")
@State
public class CompletionHandOverStress {

    private static final int STATUS = 5;

    private final OwnerGate gate = new OwnerGate();
    private final StashedCompletions foreign = new StashedCompletions(4);
    private int handled;
    private int spoilt;

    @Actor
    public void session() {
        handle();
        handle();
    }

    @Actor
    public void migration() {
        keep(1);
        keep(2);
    }

    @Arbiter
    public void rest(II_Result result) {
        handle();
        result.r1 = handled;
        result.r2 = spoilt;
    }

    private void keep(long id) {
        gate.claim();
        foreign.add(id, STATUS);
        gate.unclaim();
    }

    private void handle() {
        gate.enter();
        for (int i = 0; i < foreign.count(); i++) {
            handled++;
            if (foreign.id(i) != handled || foreign.status(i) != STATUS) {
                spoilt++;
            }
        }
        foreign.clear();
        gate.exit();
    }
}
