package io.farheap.cache;

/** The requests of a {@link SessionEngine}, with how far each has come. */
final class PostedRequests extends Requests {

    /** How much of it has been posted, in bytes. */
    final long[] posted;
    /** Work requests in flight. */
    final int[] outstanding;

    final int[] status;
    /** Its place in the order of issue. */
    final long[] sequence;

    PostedRequests(int capacity) {
        super(capacity);
        posted = new long[capacity];
        outstanding = new int[capacity];
        status = new int[capacity];
        sequence = new long[capacity];
    }

    /** A request of which so much will have been posted at once, by so many work requests. */
    void begin(int request, long bytesPosted, int workRequests) {
        posted[request] = bytesPosted;
        outstanding[request] = workRequests;
        status[request] = Status.OK;
    }

    boolean fullyPosted(int request) {
        return posted[request] == length[request];
    }

    /** What of it has not been posted never will be. */
    void abandon(int request) {
        if (!fullyPosted(request)) {
            status[request] = Status.CLOSED;
            posted[request] = length[request];
        }
    }

    boolean done(int request) {
        return outstanding[request] == 0 && fullyPosted(request);
    }
}
