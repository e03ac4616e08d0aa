package io.farheap.soak;

import java.util.function.ObjIntConsumer;

/** One of the ways to use a cache. One thread at a time. */
interface CacheClient extends AutoCloseable {

    /** Makes a client whose finished requests are told to a consumer, with their status, on the client's thread. */
    interface Opener {
        CacheClient open(ObjIntConsumer<SoakRequest> finished);
    }

    /** Whether a request may have several records. */
    boolean takesRecords();

    /** Whether a request's data may be in a registered buffer. */
    boolean takesBuffers();

    /** @return false where there is no room for it now, and nothing has happened */
    boolean issue(SoakRequest request);

    /** Waits, a little at most, for requests to finish. */
    void progress();

    @Override
    void close();
}
