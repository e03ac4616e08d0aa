package io.farheap.procedure.service;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * A thread puts calls back and takes the next ones, while another takes some of them: each call is with one thread, in
 * the state that its last slice left.
 */
@JCStressTest
@Outcome(id = "0, 0, 3", expect = Expect.ACCEPTABLE, desc = "each call is somewhere, once, and whole")
@Outcome(expect = Expect.FORBIDDEN, desc = "a call is with two threads, or lost, or not as its last slice left it")
@State
public class StolenCallStress {

    private static final int CALLS = 3;
    private static final LeaseProcedures LEASE = new LeaseProcedures("test", () -> 0);
    /** Shared by all tests, because none is executed, and their native memory is expensive. */
    private static final RunningCall[] SHARED = {new RunningCall(), new RunningCall(), new RunningCall()};

    private final RunQueue queue = new RunQueue(() -> 0);
    // The state that slices leave in each call: both numbers are equal before and after a slice.
    private final int[] first = new int[CALLS];
    private final int[] second = new int[CALLS];
    private int spoilt;
    private int spoiltByThief;
    private RunningCall own;
    private RunningCall stolen;

    public StolenCallStress() {
        for (RunningCall call : SHARED) {
            queue.add(call, LEASE, 0);
        }
    }

    private int slice(RunningCall call) {
        int index = call == SHARED[0] ? 0 : call == SHARED[1] ? 1 : 2;
        int wrong = first[index] == second[index] ? 0 : 1;
        first[index]++;
        second[index]++;
        return wrong;
    }

    @Actor
    public void owner() {
        for (int i = 0; i < 2; i++) {
            RunningCall call = queue.take();
            if (call != null) {
                spoilt += slice(call);
                queue.add(call, LEASE, 0);
            }
        }
        own = queue.take();
    }

    @Actor
    public void thief() {
        RunningCall[] some = new RunningCall[CALLS];
        RunningCall first = queue.take();
        if (first != null) {
            some[0] = first;
            int count = queue.takeMore(LEASE, some, 1, 2);
            for (int i = 0; i < count; i++) {
                spoiltByThief += slice(some[i]);
            }
            for (int i = 1; i < count; i++) {
                queue.add(some[i], LEASE, 0);
            }
        }
        stolen = first;
    }

    @Arbiter
    public void rest(III_Result result) {
        int found = 0;
        int twice = own != null && own == stolen ? 1 : 0;
        found += own == null ? 0 : 1;
        found += stolen == null ? 0 : 1;
        for (RunningCall call = queue.take(); call != null; call = queue.take()) {
            found++;
            twice += call == own || call == stolen ? 1 : 0;
            spoilt += slice(call);
        }
        result.r1 = spoilt + spoiltByThief;
        result.r2 = twice + (queue.size() == 0 ? 0 : 1);
        result.r3 = found;
    }
}
