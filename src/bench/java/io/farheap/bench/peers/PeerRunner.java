package io.farheap.bench.peers;

/** A contestant that takes turns. */
@SuppressWarnings("try")
interface PeerRunner extends AutoCloseable {

    /** @throws PeerAbsentException if it cannot do that operation with values of that size */
    PeerTurn turn(PeerOperation operation, int bytes) throws Exception;

    /**
     * Runs once, before its first turn, until its code is compiled.
     *
     * @throws PeerAbsentException as {@link #turn} does
     */
    default void warmUp(int bytes) throws Exception {}

    /** Returns the means of its turns. */
    default PeerMeans means() {
        return PeerMeans.REMOTE;
    }

    @Override
    void close() throws Exception;
}
