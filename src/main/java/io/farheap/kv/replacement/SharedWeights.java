package io.farheap.kv.replacement;

/**
 * The weights that all sessions of a map have learned together, at a server (Ditto, section 4.3.2). Any thread may
 * call.
 */
public interface SharedWeights {

    /** The number of 8-byte words of a message and of its answer. */
    int words();

    /**
     * Applies what a session has learned, and answers with the current weights, in the same words.
     *
     * @throws IllegalArgumentException if the words cannot be a session's message; nothing is changed then
     */
    void answer(long[] words);

    /** The current trust in an expert, 0 to 1. */
    double weight(int expert);
}
