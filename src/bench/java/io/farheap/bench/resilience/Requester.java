package io.farheap.bench.resilience;

import io.farheap.remote.contract.VerbCounts;
import io.farheap.resilience.contract.CodedStatus;
import java.util.SplittableRandom;

/**
 * Makes requests at random places. Each is timed from its issue until its client knows that it has ended, and then
 * compared with the shadow. One thread.
 */
final class Requester implements AutoCloseable {

    private final FarMemoryClient client;
    private final ShadowMemory shadow;
    private final int pageBytes;
    private final int pages;
    private final int every;
    private final int first;
    private final SplittableRandom random;
    private RequestKind access = new RequestKind(false, 0);
    private long address;
    private long begun;
    private long nanos;
    private boolean over = true;

    /**
     * @param bytes of the memory, whole pages
     * @param every it uses one page out of this many
     * @param first the first of its pages, from 0
     */
    Requester(FarMemoryClient client, ShadowMemory shadow, int pageBytes, long bytes, int every, int first) {
        this.client = client;
        this.shadow = shadow;
        this.pageBytes = pageBytes;
        this.every = every;
        this.first = first;
        this.pages = (int) (bytes / pageBytes);
        this.random = new SplittableRandom(first + 1L);
    }

    /** Prepares a request to a random place in its pages. */
    void prepare(RequestKind what) {
        long page = (long) random.nextInt(pages / every) * every + first;
        prepare(what, page * pageBytes + (long) random.nextInt(pageBytes / what.bytes()) * what.bytes());
    }

    private void prepare(RequestKind what, long at) {
        access = what;
        address = at;
        if (what.write()) {
            shadow.compose(client.memory(), what.bytes());
        }
    }

    /** Issues the prepared request. */
    void issue() {
        over = false;
        begun = System.nanoTime();
        client.begin(access, address);
    }

    /** Prepares and issues. */
    void begin(RequestKind what) {
        prepare(what);
        issue();
    }

    private void begin(RequestKind what, long at) {
        prepare(what, at);
        issue();
    }

    /** Makes progress, and returns whether the issued request has ended. Does not wait. */
    boolean over() {
        if (!over && client.ended()) {
            over = true;
            nanos = client.endedAt() - begun;
        }
        return over;
    }

    /** Makes progress, and adds the request to the tally when it has ended. Does not wait. */
    boolean ended(RequestTally tally) {
        if (over()) {
            tell(tally);
        }
        return over;
    }

    /** Compares the ended request with the shadow, and adds it to the tally. */
    void tell(RequestTally tally) {
        int status = client.status();
        int bytes = access.bytes();
        if (access.write() && status == CodedStatus.OK) {
            shadow.written(address, client.memory(), bytes);
        } else if (access.write()) {
            shadow.failed(address, bytes);
        }
        boolean read = !access.write() && status == CodedStatus.OK;
        tally.ended(status, nanos, read ? shadow.wrong(address, client.found(), bytes) : 0);
    }

    /** Runs one request after another, for a time; at least one. */
    void run(RequestKind what, long forNanos, RequestTally tally) {
        long bytesBefore = postedBytes();
        double cpu = CpuTime.now();
        long from = System.nanoTime();
        do {
            begin(what);
            await(tally);
        } while (System.nanoTime() - from < forNanos);
        tally.cpu(CpuTime.now() - cpu);
        tally.posted(postedBytes() - bytesBefore);
    }

    /** Returns bytes of READs and WRITEs since its client was opened. */
    long postedBytes() {
        VerbCounts posted = client.posted();
        return posted.bytesRead() + posted.bytesWritten();
    }

    private void await(RequestTally tally) {
        while (!ended(tally)) {
            Thread.onSpinWait();
        }
    }

    /** Writes every page of the memory. */
    void fill() {
        RequestTally tally = new RequestTally();
        RequestKind page = new RequestKind(true, pageBytes);
        for (long i = 0; i < pages; i++) {
            begin(page, i * pageBytes);
            await(tally);
        }
        if (tally.requests() != pages) {
            throw new IllegalStateException(
                    "of " + pages + " pages " + (pages - tally.requests()) + " could not be written");
        }
    }

    /** Reads every page of the memory. */
    RequestTally verify() {
        RequestTally tally = new RequestTally();
        RequestKind page = new RequestKind(false, pageBytes);
        for (long i = 0; i < pages; i++) {
            begin(page, i * pageBytes);
            await(tally);
        }
        return tally;
    }

    @Override
    public void close() {
        client.close();
    }
}
