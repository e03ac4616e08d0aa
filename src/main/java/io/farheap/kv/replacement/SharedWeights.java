package io.farheap.kv.replacement;

/** What all sessions of a map have learned together, at a server (Ditto, section 4.3.2). Any thread may call. */
public interface SharedWeights {

    /** Words of 8 bytes of a message and of its answer. */
    int words();

    /**
     * Takes in what a session has learned and answers with what is known now, in the same words.
     *
     * @throws IllegalArgumentException where the words cannot be a session's; nothing is changed then
     */
    void answer(long[] words);

    /** How much an expert is trusted now, 0 to 1. */
    double weight(int expert);
}
