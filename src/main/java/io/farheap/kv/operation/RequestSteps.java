package io.farheap.kv.operation;

/**
 * The steps of a kind of request. Each step posts operations; when all of them have come back, the next step follows.
 */
public interface RequestSteps {

    /** Runs the first step of a request. Its key and, for a set, its value are in its memory. */
    void begin(int place);

    /** Runs the next step: all operations of the last step have come back, and were done. */
    void advance(int place);

    /**
     * A connection failed during the last step, and an attempt to make it again has ended. Posts the operations with
     * which the request continues: READs, operations that were not posted, and operations that may be done twice. The
     * effect of a compare-and-swap stays unknown if its connection was not made again; then operations that are posted
     * there fail.
     */
    void again(int place);

    /** Whether requests of this kind continue with {@link #again}; if not, they end. */
    default boolean goesOn() {
        return true;
    }

    /** A connection failed during the last step, and the request cannot continue. */
    void abandon(int place);
}
