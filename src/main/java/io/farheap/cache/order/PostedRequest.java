package io.farheap.cache.order;

import io.farheap.cache.contract.Status;
import org.jspecify.annotations.Nullable;

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
    /** Its rank in the order of issue; see {@link #issuedAs}. Set when the request is queued or held. */
    long rank;
    /**
     * Until when what has not been posted of it waits for its server, as {@link System#nanoTime}; 0 if it waits for
     * none. Of a held request only, as the next two fields.
     */
    public long deadline;
    /** Whether it was posted as a list: it is never posted again, and which of its records have failed is not known. */
    public boolean list;
    /** What is known about its work requests that failed with their connection; null if none has. */
    public @Nullable RequestFailure failure;

    PostedRequest(int place) {
        super(place);
    }

    /** Begins with some bytes that count as posted, by some work requests. */
    public void begin(long bytesPosted, int workRequests) {
        posted = bytesPosted;
        outstanding = workRequests;
        status = Status.OK;
    }

    /** It has a sequence number in the {@link RequestOrder}. */
    public void issuedAs(long sequence) {
        rank = 2 * sequence + 1;
    }

    /**
     * It was issued on another path, behind the requests before a sequence number and before the one that has it; and
     * behind others of the same rank that were held before.
     */
    public void issuedBefore(long sequence) {
        rank = 2 * sequence;
    }

    /** Whether it was issued before the request with a sequence number. */
    public boolean precedes(long sequence) {
        return rank < 2 * sequence + 1;
    }

    public boolean fullyPosted() {
        return posted == length;
    }

    /** Gives up the part of it that has not been posted; it ends when the rest has. */
    public void abandon() {
        giveUp(Status.CLOSED);
    }

    /** The same, as its server cannot be reached. If a part of a write has been posted, the write is done in part. */
    public void giveUp() {
        giveUp(Status.UNREACHABLE);
    }

    private void giveUp(int why) {
        if (!fullyPosted()) {
            status = Status.worse(status, write && posted > 0 ? Status.UNKNOWN : why);
            posted = length;
        }
    }

    /** Ends it: it has no work request outstanding, and no more of it is posted. */
    public void end(int how) {
        status = Status.worse(status, how);
        posted = length;
        outstanding = 0;
    }

    /** Posts it again, all of it. */
    public void restart() {
        posted = 0;
        outstanding = 0;
    }

    /** It was posted as a list, and is held from now on as a request for the range that encloses its records. */
    public void enclose(long from, long bytes) {
        list = true;
        address = from;
        length = bytes;
        posted = bytes;
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
