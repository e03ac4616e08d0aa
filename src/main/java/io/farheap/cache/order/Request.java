package io.farheap.cache.order;

import io.farheap.cache.contract.Completion;
import io.farheap.latency.OperationLatency;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What a request is, from issue to callback. Wherever requests wait, there is an object for each place, which is used
 * again and again, so that nothing on the path of a request allocates. One thread at a time, or two that hand it to
 * each other.
 */
public class Request {

    /** Kinds of an atomic. */
    public static final byte NO_ATOMIC = 0;

    public static final byte SWAP = 1;
    static final byte ADD = 2;

    /** Its index in its table. */
    public final int place;

    public boolean write;
    /** Where in the cache, and how long. */
    public long address;

    public long length;
    /** The registered buffer and the address in it; no buffer where data come from a segment, or go to one. */
    public @Nullable RequestBuffer buffer;

    public long local;
    /** Instead of a buffer. */
    public @Nullable MemorySegment segment;

    public Completion completion;
    public long token;
    /** How many requests its time stands for; 0 where it is not timed. */
    public int timed;

    public long issuedAt;

    /** What an atomic does, with what; the others are reads and writes. */
    public byte atomic;

    public long compareOrAdd;
    public long value;

    // It has a completion from its first use on.
    @SuppressWarnings("NullAway.Init")
    Request(int place) {
        this.place = place;
    }

    /** Requests for the places from 0 on. */
    public static Request[] make(int places) {
        Request[] made = new Request[places];
        Arrays.setAll(made, Request::new);
        return made;
    }

    public final void fill(
            boolean isWrite,
            long at,
            long bytes,
            @Nullable RequestBuffer from,
            long localAddress,
            Completion whenDone,
            long itsToken) {
        write = isWrite;
        address = at;
        length = bytes;
        local = localAddress;
        token = itsToken;
        // Storing a reference is not free, and they seldom change; so they stay when the request has ended.
        if (completion != whenDone) {
            completion = whenDone;
        }
        if (buffer != from) {
            buffer = from;
        }
    }

    public final void fillAtomic(boolean swap, long comparedOrAdded, long stored) {
        atomic = swap ? SWAP : ADD;
        compareOrAdd = comparedOrAdded;
        value = stored;
    }

    /** @param latency where latencies are recorded, and which requests are timed; null for none */
    public final void time(@Nullable OperationLatency latency) {
        timeFor(latency == null ? 0 : latency.due());
    }

    /** The same of a request for many records. */
    public final void time(@Nullable OperationLatency latency, int records) {
        timeFor(latency == null ? 0 : latency.due(records));
    }

    private void timeFor(int requests) {
        timed = requests;
        if (requests > 0) {
            issuedAt = System.nanoTime();
        }
    }

    /** Records the latency of a request that has ended, if it is timed. */
    public final void record(@Nullable OperationLatency latency) {
        if (timed > 0) {
            record(latency, write, System.nanoTime() - issuedAt, timed);
        }
    }

    // What is timed has where to record it.
    @SuppressWarnings("NullAway")
    public static void record(@Nullable OperationLatency latency, boolean write, long nanos, int timed) {
        if (write) {
            latency.write(nanos, timed);
        } else {
            latency.read(nanos, timed);
        }
    }

    /** The key of its buffer. */
    // It has one where it has no segment.
    @SuppressWarnings("NullAway")
    public final int localKey() {
        return buffer.localKey();
    }

    /** Where it ends in the cache, exclusive. */
    final long end() {
        return address + length;
    }

    public final boolean overlaps(long otherAddress, long otherLength) {
        return address < otherAddress + otherLength && otherAddress < address + length;
    }
}
