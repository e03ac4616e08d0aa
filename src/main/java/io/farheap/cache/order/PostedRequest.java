package io.farheap.cache.order;

import io.farheap.cache.contract.Status;

/**
 * A request of a {@code SessionEngine}, with its progress: how much of it is posted, and how many work requests are
 * outstanding. Written inside the session's gate.
 */
public final class PostedRequest extends Request {

    /** How much of it has been posted, in bytes. */
    public long posted;
    /** Work requests in flight. */
    public int outstanding;

    public int status;
    /** Its number in the order of issue. */
    public long sequence;

    PostedRequest(int place) {
        super(place);
    }

    /** Begins with some bytes that count as posted, by some work requests. */
    public void begin(long bytesPosted, int workRequests) {
        posted = bytesPosted;
        outstanding = workRequests;
        status = Status.OK;
    }

    public boolean fullyPosted() {
        return posted == length;
    }

    /** Gives up the part of it that has not been posted; it ends when the rest has. */
    public void abandon() {
        if (!fullyPosted()) {
            status = Status.worse(status, Status.CLOSED);
            posted = length;
        }
    }

    /**
     * Posting it has thrown an unexpected exception: the part that has not been posted is lost, and it ends when the
     * rest has.
     */
    public void lose() {
        status = Status.LOST;
        posted = length;
    }

    boolean done() {
        return outstanding == 0 && fullyPosted();
    }
}
