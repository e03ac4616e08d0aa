package io.farheap.cache;

import java.util.Arrays;

/** The requests of a {@link SessionEngine}. */
final class PostedRequests extends Requests {

    private final PostedRequest[] all;

    PostedRequests(int capacity) {
        PostedRequest[] made = new PostedRequest[capacity];
        Arrays.setAll(made, PostedRequest::new);
        super(made);
        all = made;
    }

    @Override
    PostedRequest get(int place) {
        return all[place];
    }

    @Override
    PostedRequest take() {
        return all[takePlace()];
    }
}
