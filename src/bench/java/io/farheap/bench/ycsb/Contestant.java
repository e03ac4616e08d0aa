package io.farheap.bench.ycsb;

/** What holds the records, and takes turns with others. Threads open clients of their own. */
@SuppressWarnings("try")
public interface Contestant extends AutoCloseable {

    /** Stores every record. Once, before the first client. */
    void load() throws Exception;

    /** For the calling thread. */
    ContestantClient open(ClientCounts tally) throws Exception;

    /** What its rows say of it; after {@link #load}. */
    Facts facts();

    @Override
    void close() throws Exception;

    /**
     * What a contestant is made of.
     *
     * @param localShare of the log's bytes, how much is in local memory, 0 to 1
     * @param farShare of what is not local, how much is in far memory
     * @param indexBytes of local memory, beside
     * @param engine how it reaches what is not local
     * @param device what has that
     * @param bounded whether its memory is bounded by the budget that the others have
     */
    record Facts(double localShare, double farShare, long indexBytes, String engine, String device, boolean bounded) {

        /** All in this process's memory. */
        public static Facts inMemory(long indexBytes) {
            return new Facts(1, 0, indexBytes, "memory", "none", true);
        }
    }
}
