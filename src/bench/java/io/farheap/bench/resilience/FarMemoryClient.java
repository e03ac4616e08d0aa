package io.farheap.bench.resilience;

import io.farheap.remote.contract.VerbCounts;
import io.farheap.resilience.contract.CodedStatus;
import java.lang.foreign.MemorySegment;

/** One that requests, one request at a time, from a piece of memory of its own. One thread. */
interface FarMemoryClient extends AutoCloseable {

    /** Where what is to be written is, and what was read where {@link #found} says nothing else. Of a page. */
    MemorySegment memory();

    /** Where what the last request read is, until the next. */
    default MemorySegment found() {
        return memory();
    }

    /** The last request has ended. */
    void begin(RequestKind access, long address);

    /** Makes progress; whether the request has ended. Does not wait. */
    boolean ended();

    /** Of the request that has ended, by {@link System#nanoTime}: now, where nobody else could have noticed. */
    default long endedAt() {
        return System.nanoTime();
    }

    /** Of the request that has ended: one of {@link CodedStatus}. */
    int status();

    /** Operations since it was opened; of those that share a session one has them all, and the others none. */
    VerbCounts posted();

    @Override
    void close();
}
