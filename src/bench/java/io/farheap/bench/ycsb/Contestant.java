package io.farheap.bench.ycsb;

/** A store of the records, which takes turns with others. Threads open clients of their own. */
@SuppressWarnings("try")
public interface Contestant extends AutoCloseable {

    /** Stores every record. Called once, before the first client is opened. */
    void load() throws Exception;

    /** Opens a client for the calling thread. */
    ContestantClient open(ClientCounts tally) throws Exception;

    /** Returns the facts for its rows; called after {@link #load}. */
    Facts facts();

    @Override
    void close() throws Exception;

    /**
     * The properties of a contestant.
     *
     * @param localShare the part of the log's bytes in local memory, 0 to 1
     * @param farShare of the bytes that are not local, the part that far memory has, 0 to 1
     * @param indexBytes of local memory for the index, in addition
     * @param engine how it reaches bytes that are not local
     * @param device that has these bytes
     * @param bounded whether its memory is bounded by the budget that the others have
     */
    record Facts(double localShare, double farShare, long indexBytes, String engine, String device, boolean bounded) {

        /** All records in this process's memory. */
        public static Facts inMemory(long indexBytes) {
            return new Facts(1, 0, indexBytes, "memory", "none", true);
        }
    }
}
