package io.farheap.cache;

/** A request of a {@link SessionEngine}, with how far it has come. */
final class PostedRequest extends Request {

    /** How much of it has been posted, in bytes. */
    long posted;
    /** Work requests in flight. */
    int outstanding;

    int status;
    /** Its place in the order of issue. */
    long sequence;

    PostedRequest(int place) {
        super(place);
    }

    /** So much of it will have been posted at once, by so many work requests. */
    void begin(long bytesPosted, int workRequests) {
        posted = bytesPosted;
        outstanding = workRequests;
        status = Status.OK;
    }

    boolean fullyPosted() {
        return posted == length;
    }

    /** What of it has not been posted never will be. */
    void abandon() {
        if (!fullyPosted()) {
            status = Status.CLOSED;
            posted = length;
        }
    }

    /** Posting it has failed in a way that nothing foresees: what of it has not been posted is lost, and it ends. */
    void lose() {
        status = Status.LOST;
        posted = length;
    }

    boolean done() {
        return outstanding == 0 && fullyPosted();
    }
}
