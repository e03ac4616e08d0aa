package io.farheap.connection;

import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.Endpoint;
import io.farheap.verbs.ProtectionDomain;
import io.farheap.verbs.QueuePair;
import io.farheap.verbs.SendRequests;

import java.util.Arrays;
import java.util.function.LongConsumer;

/**
 * One-sided operations on one server over one queue pair, from prebuilt work requests. Every request is signaled and carries a tag
 * that comes back with its completion. Nothing on the path of an operation allocates.
 *
 * <p>One thread at a time, except {@link #endpoint} and {@link #connect}, which the owner calls before the connection is shared. The
 * completion queue is the caller's and may serve many connections: an id that it reports belongs to the connection whose
 * {@link #number} is {@link #connectionOf}.
 */
public final class Connection implements AutoCloseable {

    private static final int SLOT_BITS = 32;
    private static final long NO_REQUEST = -1;

    private final QueuePair queuePair;
    private final SendRequests requests;
    private final OutstandingReads outstandingReads = new OutstandingReads();
    private final int number;
    private final int depth;
    private final int inlineBytes;

    private final int[] freeSlots;
    private int free;
    private final long[] tags;
    /** Where the READ of a slot starts; {@link #NO_REQUEST} for a slot that holds none. */
    private final long[] readAddresses;
    private final int[] readBytes;

    /** The slot that no ordinary operation takes, so that a flush never waits for room. */
    private final int flushSlot;
    private boolean flushing;
    private boolean failed;

    private Connection(QueuePair queuePair, int number, int depth, int inlineBytes) {
        this.queuePair = queuePair;
        this.number = number;
        this.depth = depth;
        this.inlineBytes = Math.min(inlineBytes, queuePair.inlineBytes());
        this.flushSlot = depth;
        this.requests = new SendRequests(depth + 1);
        this.freeSlots = new int[depth];
        this.tags = new long[depth + 1];
        this.readAddresses = new long[depth + 1];
        this.readBytes = new int[depth + 1];
        Arrays.fill(readAddresses, NO_REQUEST);
        for (int slot = 0; slot <= depth; slot++) {
            requests.id(slot, (long) number << SLOT_BITS | slot);
        }
        for (int slot = depth - 1; slot >= 0; slot--) {
            freeSlots[free++] = slot;
        }
    }

    /**
     * @param number      identifies the connection among those of the completion queue
     * @param depth       operations in flight at most (the field's q)
     * @param inlineBytes payloads of WRITEs up to this size should travel in the work request; the device grants more or none
     */
    public static Connection create(ProtectionDomain domain, CompletionQueue completions, int number, int depth, int inlineBytes) {
        QueuePair queuePair = domain.createQueuePair(completions, depth + 1, inlineBytes);
        try {
            return new Connection(queuePair, number, depth, inlineBytes);
        } catch (Throwable e) {
            queuePair.close();
            throw e;
        }
    }

    /** What the server needs to connect its side. */
    public Endpoint endpoint() {
        return queuePair.endpoint();
    }

    public void connect(Endpoint server) {
        queuePair.connect(server);
    }

    /** The number of the connection that a completion's id belongs to. */
    public static int connectionOf(long id) {
        return (int) (id >>> SLOT_BITS);
    }

    public int number() {
        return number;
    }

    public int depth() {
        return depth;
    }

    /** Whether another operation may be posted. */
    public boolean hasRoom() {
        return free > 0;
    }

    public int inFlight() {
        return depth - free;
    }

    /** Whether an operation ended in error: the queue pair posts nothing any more. */
    public boolean failed() {
        return failed;
    }

    /**
     * Posts a READ. There must be {@linkplain #hasRoom room}.
     *
     * @return 0, or errno where the device refused it, after which the connection has {@linkplain #failed failed}
     */
    public int read(long tag, long localAddress, int localKey, long remoteAddress, int remoteKey, int bytes) {
        int slot = freeSlots[--free];
        tags[slot] = tag;
        readAddresses[slot] = remoteAddress;
        readBytes[slot] = bytes;
        outstandingReads.add(remoteAddress, bytes);
        requests.prepare(slot, SendRequests.READ, SendRequests.SIGNALED, localAddress, bytes, localKey, remoteAddress, remoteKey);
        return post(slot, bytes);
    }

    /**
     * Posts a WRITE, fenced behind outstanding READs that it may overlap: RDMA lets a WRITE overtake them. There must be
     * {@linkplain #hasRoom room}. An inline payload may be changed as soon as this returns.
     *
     * @return 0, or errno where the device refused it, after which the connection has {@linkplain #failed failed}
     */
    public int write(long tag, long localAddress, int localKey, long remoteAddress, int remoteKey, int bytes) {
        int slot = freeSlots[--free];
        tags[slot] = tag;
        int flags = SendRequests.SIGNALED;
        if (bytes <= inlineBytes) {
            flags |= SendRequests.INLINE;
        }
        if (outstandingReads.mayOverlap(remoteAddress, bytes)) {
            flags |= SendRequests.FENCE;
        }
        requests.prepare(slot, SendRequests.WRITE, flags, localAddress, bytes, localKey, remoteAddress, remoteKey);
        return post(slot, bytes);
    }

    /**
     * Posts a signaled READ of 8 bytes in the slot kept for it. When it completes, every operation posted before it has completed and
     * its WRITEs are in the server's memory. One flush at a time.
     *
     * @param localAddress where 8 bytes may land
     * @return 0 or errno
     */
    public int flush(long localAddress, int localKey, long remoteAddress, int remoteKey) {
        requests.prepare(flushSlot, SendRequests.READ, SendRequests.SIGNALED, localAddress, Long.BYTES, localKey, remoteAddress, remoteKey);
        int error = queuePair.postUnbounded(requests, flushSlot);
        failed |= error != 0;
        flushing = error == 0;
        return error;
    }

    /** Whether a flush is on its way. */
    public boolean flushing() {
        return flushing;
    }

    /** The id with which the completion of {@link #flush} comes. */
    public long flushId() {
        return (long) number << SLOT_BITS | flushSlot;
    }

    /**
     * Takes note of a completion and frees its place.
     *
     * @param id     that the completion queue reported
     * @param status that it reported; anything but success fails the connection
     * @return the operation's tag
     */
    public long complete(long id, int status) {
        int slot = (int) id;
        if (status != 0) {
            failed = true;
        }
        if (readAddresses[slot] != NO_REQUEST) {
            outstandingReads.remove(readAddresses[slot], readBytes[slot]);
            readAddresses[slot] = NO_REQUEST;
        }
        if (slot == flushSlot) {
            flushing = false;
        } else {
            freeSlots[free++] = slot;
        }
        return tags[slot];
    }

    /** Tells the ids of the operations in flight. */
    public void forEachInFlight(LongConsumer consumer) {
        boolean[] idle = new boolean[depth];
        for (int i = 0; i < free; i++) {
            idle[freeSlots[i]] = true;
        }
        for (int slot = 0; slot < depth; slot++) {
            if (!idle[slot]) {
                consumer.accept((long) number << SLOT_BITS | slot);
            }
        }
    }

    /** Posts nothing any more; what is in flight completes with an error. */
    public void fail() {
        failed = true;
        queuePair.fail();
    }

    @Override
    public void close() {
        queuePair.close();
        requests.close();
    }

    private int post(int slot, int bytes) {
        int error = queuePair.post(requests, slot, bytes);
        if (error != 0) {
            refuse(slot);
        }
        return error;
    }

    private void refuse(int slot) {
        complete((long) number << SLOT_BITS | slot, -1);
    }
}
