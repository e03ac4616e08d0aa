package io.farheap.bench.peers;

/** Whatever can take a turn. */
@SuppressWarnings("try")
interface Contestant extends AutoCloseable {

    /** @throws AbsentException where it cannot do that operation with values of that size */
    Turn turn(Operation operation, int bytes) throws Exception;

    /**
     * Once, before its first turn: returns when compilers have had their time.
     *
     * @throws AbsentException as {@link #turn} does
     */
    default void warmUp(int bytes) throws Exception {}

    @Override
    void close() throws Exception;
}
