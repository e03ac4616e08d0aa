package io.farheap.bench.resilience;

import io.farheap.remote.contract.VerbCounts;
import io.farheap.resilience.contract.CodedStatus;
import java.lang.foreign.MemorySegment;

/** A client that makes one request at a time, from a piece of memory of its own. One thread. */
interface FarMemoryClient extends AutoCloseable {

    /**
     * Returns the memory, of a page, for data to write; data that was read is there unless {@link #found} returns
     * another place.
     */
    MemorySegment memory();

    /** Returns the data that the last request has read; valid until the next request. */
    default MemorySegment found() {
        return memory();
    }

    /** Begins a request. The last request must have ended. */
    void begin(RequestKind access, long address);

    /** Makes progress, and returns whether the request has ended. Does not wait. */
    boolean ended();

    /**
     * Returns when the request ended, by {@link System#nanoTime}: the current time, unless the poll of another client
     * may have noticed the end before.
     */
    default long endedAt() {
        return System.nanoTime();
    }

    /** Returns the status of the ended request, one of {@link CodedStatus}. */
    int status();

    /**
     * Returns the operations since it was opened. Of clients that share a session one returns all of them, and the
     * others none.
     */
    VerbCounts posted();

    @Override
    void close();
}
