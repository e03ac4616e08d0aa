package io.farheap.cache.order;

import java.util.Arrays;

/** The requests of a {@code SessionEngine}. */
public final class PostedRequests extends RequestTable {

    private final PostedRequest[] all;

    public PostedRequests(int capacity) {
        PostedRequest[] made = new PostedRequest[capacity];
        Arrays.setAll(made, PostedRequest::new);
        super(made);
        all = made;
    }

    @Override
    public PostedRequest get(int place) {
        return all[place];
    }

    @Override
    public PostedRequest take() {
        return all[takePlace()];
    }
}
