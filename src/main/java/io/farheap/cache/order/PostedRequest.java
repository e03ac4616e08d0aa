package io.farheap.cache.order;

import io.farheap.cache.contract.Status;

/** A request of a {@code SessionEngine}, with how far it has come. */
public final class PostedRequest extends Request {

    /** How much of it has been posted, in bytes. */
    public long posted;
    /** Work requests in flight. */
    public int outstanding;

    public int status;
    /** Its place in the order of issue. */
    public long sequence;

    PostedRequest(int place) {
        super(place);
    }

    /** So much of it will have been posted at once, by so many work requests. */
    public void begin(long bytesPosted, int workRequests) {
        posted = bytesPosted;
        outstanding = workRequests;
        status = Status.OK;
    }

    public boolean fullyPosted() {
        return posted == length;
    }

    /** What of it has not been posted never will be. */
    public void abandon() {
        if (!fullyPosted()) {
            status = Status.CLOSED;
            posted = length;
        }
    }

    /** Posting it has failed in a way that nothing foresees: what of it has not been posted is lost, and it ends. */
    public void lose() {
        status = Status.LOST;
        posted = length;
    }

    boolean done() {
        return outstanding == 0 && fullyPosted();
    }
}
