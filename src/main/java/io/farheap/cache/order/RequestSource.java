package io.farheap.cache.order;

/** Where a session gets the requests of others, which it issues as its own. */
public interface RequestSource {

    /**
     * Issues what there is, as far as there is room. Inside the session's gate.
     *
     * @return how many requests
     */
    int issueTo(RequestPath path);
}
