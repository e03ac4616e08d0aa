package io.farheap.bench.ycsb;

import java.util.List;

/** A contestant that takes its turn by itself, in a process of its own. */
@SuppressWarnings("try")
interface TurnTaker extends Contestant {

    /** Whether it can do that. */
    boolean takes(Workload workload, Distribution distribution);

    /** @param threads that it is to have, as others have clients */
    Turn turn(int threads, long nanos) throws Exception;

    @Override
    default Client open(Tally tally) {
        throw new UnsupportedOperationException("it takes its turns by itself");
    }

    /** A turn of any contestant. */
    static Turn turn(Contestant contestant, Workload workload, List<KeyStream> streams, long nanos) {
        if (!(contestant instanceof TurnTaker taker)) {
            return Turns.run(contestant, workload, streams, nanos);
        }
        try {
            return taker.turn(streams.size(), nanos);
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException("a contestant failed: " + e.getMessage(), e);
        }
    }

    static boolean takes(Contestant contestant, Workload workload, Distribution distribution) {
        return !(contestant instanceof TurnTaker taker) || taker.takes(workload, distribution);
    }
}
