package io.farheap.bench.ycsb;

/** One thread's access to the records of a {@link Contestant}; opened, used and closed by that thread. */
@SuppressWarnings("try")
public interface ContestantClient extends AutoCloseable {

    /**
     * Begins all operations of the group. Operations that take longer end in later calls; each is counted as it ends.
     */
    void run(OperationGroup group) throws Exception;

    /** Waits until all operations have ended. */
    default void drain() throws Exception {}

    @Override
    void close() throws Exception;
}
