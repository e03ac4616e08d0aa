package io.farheap.cache.order;

import io.farheap.cache.contract.Completion;
import io.farheap.latency.OperationLatency;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A request from issue to callback. Each table of requests has one object for each place and reuses it, so that nothing
 * on the path of a request allocates. One thread at a time, or two that hand it to each other.
 */
public class Request {

    /** Kinds of an atomic. */
    public static final byte NO_ATOMIC = 0;

    public static final byte SWAP = 1;
    static final byte ADD = 2;

    /** Its index in its table. */
    public final int place;

    public boolean write;
    /** Its address in the cache, and its length in bytes. */
    public long address;

    public long length;
    /** The registered buffer, and the data's address in memory; null if the data are in a segment. */
    public @Nullable RequestBuffer buffer;

    public long local;
    /** The data, if they are not in a buffer. */
    public @Nullable MemorySegment segment;

    public Completion completion;
    public long token;
    /** How many requests its latency is recorded for; 0 if it is not timed. */
    public int timed;

    public long issuedAt;

    /** The kind of an atomic, and its operands; {@link #NO_ATOMIC} for a read or a write. */
    public byte atomic;

    public long compareOrAdd;
    public long value;

    // The completion is set at the first use.
    @SuppressWarnings("NullAway.Init")
    Request(int place) {
        this.place = place;
    }

    /** Makes requests for the places 0 to {@code places - 1}. */
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
        // These references seldom change, and storing one executes a GC barrier: so they are not cleared when the
        // request has ended.
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

    /**
     * Decides whether this request is timed, and if so notes the time.
     *
     * @param latency records latencies, and chooses the requests to time; null if none are recorded
     */
    public final void time(@Nullable OperationLatency latency) {
        timeFor(latency == null ? 0 : latency.due());
    }

    /** The same for a request for many records. */
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

    // A request is timed only if there is an OperationLatency.
    @SuppressWarnings("NullAway")
    public static void record(@Nullable OperationLatency latency, boolean write, long nanos, int timed) {
        if (write) {
            latency.write(nanos, timed);
        } else {
            latency.read(nanos, timed);
        }
    }

    /** The key of its buffer. */
    // A request without a segment has a buffer.
    @SuppressWarnings("NullAway")
    public final int localKey() {
        return buffer.localKey();
    }

    /** The address in the cache at which it ends, exclusive. */
    final long end() {
        return address + length;
    }

    public final boolean overlaps(long otherAddress, long otherLength) {
        return address < otherAddress + otherLength && otherAddress < address + length;
    }
}
