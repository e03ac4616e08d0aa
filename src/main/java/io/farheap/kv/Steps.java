package io.farheap.kv;

/** What a kind of request does, step by step. Each step posts operations; when all have come back, it goes on. */
interface Steps {

    /** The first step of a request whose key, and for a set whose value, are in its memory. */
    void begin(int place);

    /** All that the last step posted has come back, and is done. */
    void advance(int place);

    /** A server was lost during the last step. */
    void abandon(int place);
}
