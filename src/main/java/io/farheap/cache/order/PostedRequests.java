package io.farheap.cache.order;

import java.util.Arrays;

/** The requests of a {@code SessionEngine}. */
public final class PostedRequests extends RequestTable {

    private PostedRequest[] all;

    public PostedRequests(int capacity) {
        PostedRequest[] made = new PostedRequest[capacity];
        Arrays.setAll(made, PostedRequest::new);
        super(made);
        all = made;
    }

    /** Doubles the number of requests. */
    public void grow() {
        PostedRequest[] more = Arrays.copyOf(all, 2 * all.length);
        for (int place = all.length; place < more.length; place++) {
            more[place] = new PostedRequest(place);
        }
        all = more;
        grow(more);
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
