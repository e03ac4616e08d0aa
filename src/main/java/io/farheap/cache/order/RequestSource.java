package io.farheap.cache.order;

/** A source of other sessions' requests, which a client thread's session issues as its own. */
public interface RequestSource {

    /**
     * Issues the requests that are there, as far as the path has room. Inside the session's gate.
     *
     * @return how many it issued
     */
    int issueTo(RequestPath path);
}
