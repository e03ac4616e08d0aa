package io.farheap.remote.queue;

import io.farheap.thread.OwnerGate;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Completions that another thread takes, such as a migration's, reach the owner whole, once, and none is lost. */
@JCStressTest
@Outcome(id = "2, 0", expect = Expect.ACCEPTABLE, desc = "both were handled, each once")
@Outcome(expect = Expect.FORBIDDEN, desc = "one was lost, came twice or came in half")
@State
public class CompletionHandOverStress {

    private static final int STATUS = 5;

    private final OwnerGate gate = new OwnerGate();
    private final CompletionStash stash = new CompletionStash(4);
    private int handled;
    private int spoilt;

    @Actor
    public void owner() {
        handle();
        handle();
    }

    @Actor
    public void other() {
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
        stash.add(id, STATUS);
        gate.unclaim();
    }

    private void handle() {
        gate.enter();
        while (stash.count() > 0) {
            handled++;
            if (stash.firstId() != handled || stash.firstStatus() != STATUS) {
                spoilt++;
            }
            stash.removeFirst();
        }
        gate.exit();
    }
}
