package io.farheap.bench.peers;

/** Whatever can take a turn. */
@SuppressWarnings("try")
interface PeerRunner extends AutoCloseable {

    /** @throws PeerAbsentException where it cannot do that operation with values of that size */
    PeerTurn turn(PeerOperation operation, int bytes) throws Exception;

    /**
     * Once, before its first turn: returns when compilers have had their time.
     *
     * @throws PeerAbsentException as {@link #turn} does
     */
    default void warmUp(int bytes) throws Exception {}

    @Override
    void close() throws Exception;
}
