package io.farheap.bench.ycsb;

import java.util.List;

/** A contestant that runs its turn itself, in a process of its own. */
@SuppressWarnings("try")
interface ExternalContestant extends Contestant {

    /** Whether it supports that load. */
    boolean takes(YcsbWorkload workload, KeyDistribution distribution);

    /**
     * Runs a turn.
     *
     * @param threads that it uses, instead of clients
     */
    ContestTurn turn(int threads, long nanos) throws Exception;

    @Override
    default ContestantClient open(ClientCounts tally) {
        throw new UnsupportedOperationException("it takes its turns by itself");
    }

    /** Runs a turn of any contestant. */
    static ContestTurn turn(Contestant contestant, YcsbWorkload workload, List<KeyStream> streams, long nanos) {
        if (!(contestant instanceof ExternalContestant taker)) {
            return TurnRunner.run(contestant, workload, streams, nanos);
        }
        try {
            return taker.turn(streams.size(), nanos);
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException("a contestant failed: " + e.getMessage(), e);
        }
    }

    static boolean takes(Contestant contestant, YcsbWorkload workload, KeyDistribution distribution) {
        return contestant instanceof ExternalContestant taker
                ? taker.takes(workload, distribution)
                : contestant.changes() || workload.readsOnly();
    }
}
