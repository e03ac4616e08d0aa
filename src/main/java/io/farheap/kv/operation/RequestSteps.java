package io.farheap.kv.operation;

/** What a kind of request does, step by step. Each step posts operations; when all have come back, it goes on. */
public interface RequestSteps {

    /** The first step of a request whose key, and for a set whose value, are in its memory. */
    void begin(int place);

    /** All that the last step posted has come back, and is done. */
    void advance(int place);

    /**
     * A connection failed during the last step, and it has been tried to make it again. Posts what goes on from there:
     * READs, what was not posted, and what may be done twice. What a compare-and-swap did on a connection that was not
     * made again stays unknown; then what is posted there fails.
     */
    void again(int place);

    /** Whether {@link #again} is for this kind of requests; else they end. */
    default boolean goesOn() {
        return true;
    }

    /** A connection failed during the last step, and the request cannot go on. */
    void abandon(int place);
}
