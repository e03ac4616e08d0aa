package io.farheap.bench.ycsb;

/** One thread's access to what a {@link Contestant} holds; opened, used and closed by that thread. */
@SuppressWarnings("try")
public interface ContestantClient extends AutoCloseable {

    /** Begins all operations of the group. Those that take longer end in later calls; each is counted as it ends. */
    void run(OperationGroup group) throws Exception;

    /** Waits until all have ended. */
    default void drain() throws Exception {}

    @Override
    void close() throws Exception;
}
