package io.farheap.bench.ycsb;

import java.util.Map;

/** A store of the records, which takes turns with others. Threads open clients of their own. */
@SuppressWarnings("try")
public interface Contestant extends AutoCloseable {

    /** Stores every record. Called once, before the first client is opened. */
    void load() throws Exception;

    /** Opens a client for the calling thread. */
    ContestantClient open(ClientCounts tally) throws Exception;

    /** Returns the facts for its rows; called after {@link #load}. */
    Facts facts();

    /** Returns the means by which it reaches its figures; called after {@link #load}. */
    Means means();

    /**
     * Returns the number of threads of its turns.
     *
     * @param clients the number that the plan has; a contestant that has a number of its own is measured once
     */
    default int threads(int clients) {
        return clients;
    }

    /** Returns the cores that it keeps busy in its turns beside those of its threads, such as a server's. */
    default int otherCores() {
        return 0;
    }

    /** Whether its operations, or a part of them, are those of this process's RDMA device, which may have a model. */
    default boolean onDevice() {
        return false;
    }

    /** Whether its records can be changed; if not, it takes part in loads of reads alone. */
    default boolean changes() {
        return true;
    }

    /** Returns further figures of all turns so far, by the name of the row's field. */
    default Map<String, Double> figures() {
        return Map.of();
    }

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

    /**
     * The means of a contestant: two rows are a fair comparison only if these are alike.
     *
     * @param bytesLocal of local memory that it may use for records, indexes and caches, the page cache included; if
     *     nothing bounds it, what it has used so far
     * @param inFlight the most operations of one thread that are under way at a time
     * @param group operations that a thread hands over at once; 1 if it carries them out one by one
     */
    record Means(long bytesLocal, int inFlight, int group) {

        /** One operation after another. */
        public static Means single(long bytesLocal) {
            return new Means(bytesLocal, 1, 1);
        }

        /** The operations of a group overlap, and no others. */
        public static Means grouped(long bytesLocal) {
            return new Means(bytesLocal, OperationGroup.SIZE, OperationGroup.SIZE);
        }
    }
}
