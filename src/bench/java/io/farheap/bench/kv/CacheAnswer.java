package io.farheap.bench.kv;

/** The answer of a {@link CacheServer} to a request. */
enum CacheAnswer {
    /** The key was set, or its value has arrived. */
    DONE,
    /** There is no such key. */
    ABSENT,
    /** A part of the answer has not arrived yet. */
    INCOMPLETE
}
