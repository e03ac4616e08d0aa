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
        return PeerMeans.single(false, PeerMeans.CLIENT_AND_SERVER);
    }

    /**
     * Whether its operations are those of an RDMA device, which may have a model. It is known only of this process
     * which of them were late, and not of a program that a turn runs.
     */
    default boolean onDevice() {
        return false;
    }

    /** Whether a get posts READs alone to the device, of which it is not known whether they were late. */
    default boolean readsAlone() {
        return true;
    }

    @Override
    void close() throws Exception;
}
