package io.farheap.connection;

import io.farheap.lifetime.Closeables;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.DeviceLimits;
import io.farheap.verbs.Endpoint;
import io.farheap.verbs.OneOperation;
import io.farheap.verbs.ProtectionDomain;
import io.farheap.verbs.QueuePair;
import io.farheap.verbs.SendRequests;
import io.farheap.verbs.VerbsException;
import java.util.function.LongConsumer;
import java.util.function.LongPredicate;

/**
 * One-sided operations on one server over one queue pair, from prebuilt work requests. Each operation carries a tag
 * that is returned when it has completed. Operations complete in the order in which they were posted, so their work
 * requests form a ring, and only the last of a list is signaled. Nothing on the path of an operation allocates.
 *
 * <p>One thread at a time, except {@link #endpoint} and {@link #connect}, which the owner calls before the connection
 * is shared. The completion queue belongs to the caller and may serve many connections: a completion's id belongs to
 * the connection whose {@link #number} is {@link #connectionOf} of it.
 */
public final class Connection implements AutoCloseable {

    /** Returned by {@link #complete} for an operation that was given up when the connection failed. */
    public static final int LATE = -1;

    private static final int SLOT_BITS = 32;
    /** {@link #now} leaves an operation in flight after so many polls: a few us, in which most NICs answer. */
    private static final int POLLS = 100;
    /** Work requests beside those of ordinary operations: a flush and an operation of {@link #now}. */
    private static final int RESERVED = 2;

    private final QueuePair queuePair;
    private final SendRequests requests;
    private final OutstandingReads outstandingReads;
    private final int number;
    private final int inlineBytes;
    private final OperationRing ring;
    /** The latest READ. Only if it has not completed does a WRITE or an atomic check which ranges are being read. */
    private long lastRead = -1;
    /** The latest atomic, which counts as a READ for WRITEs. */
    private long lastAtomic = -1;

    /** The operations in the list count as posted. */
    private final RequestList list = new RequestList();

    private final int listLimit;

    /** A slot that ordinary operations do not use, so that a flush never waits for room. */
    private final int flushSlot;

    private boolean flushing;

    private final OneOperation now;
    private final int nowSlot;
    private final AdoptedOperation adopted = new AdoptedOperation();
    private final OutstandingKeys used;

    private boolean failed;

    private Connection(QueuePair queuePair, int number, int depth, int inlineBytes, int listLimit) {
        this.queuePair = queuePair;
        this.number = number;
        this.listLimit = Math.min(listLimit, depth);
        this.inlineBytes = Math.min(inlineBytes, queuePair.inlineBytes());
        this.ring = new OperationRing(depth);
        this.flushSlot = ring.slots();
        this.nowSlot = flushSlot + 1;
        this.now = queuePair.oneOperation(id(nowSlot), this.inlineBytes, POLLS);
        try {
            this.requests = new SendRequests(nowSlot);
        } catch (Throwable e) {
            now.close();
            throw e;
        }
        this.used = new OutstandingKeys(ring, requests, adopted, this::id);
        this.outstandingReads = new OutstandingReads(requests, flushSlot);
        for (int slot = 0; slot < nowSlot; slot++) {
            requests.id(slot, id(slot));
        }
    }

    /** The largest depth that a device allows: the connection adds requests of its own to the queue pair. */
    public static int maxDepth(DeviceLimits limits) {
        return limits.maxQueuePairRequests() - RESERVED;
    }

    /**
     * @param number identifies the connection among those of the completion queue
     * @param depth the most operations in flight (the field's q)
     * @param inlineBytes payloads of WRITEs up to this size should travel in the work request; the device may grant
     *     more, or none
     * @param listLimit how many operations are posted as one list: 1 posts each at once; with more, operations wait for
     *     {@link #postList} or for a full list
     */
    public static Connection create(
            ProtectionDomain domain,
            CompletionQueue completions,
            int number,
            int depth,
            int inlineBytes,
            int listLimit) {
        QueuePair queuePair = domain.createQueuePair(completions, depth + RESERVED, inlineBytes);
        try {
            return new Connection(queuePair, number, depth, inlineBytes, listLimit);
        } catch (Throwable e) {
            Closeables.after(e, queuePair);
            throw e;
        }
    }

    /** The client's endpoint, which the server needs to connect its queue pair. */
    public Endpoint endpoint() {
        return queuePair.endpoint();
    }

    /** @throws VerbsException if the device refuses the server's end */
    public void connect(Endpoint server) {
        queuePair.connect(server);
    }

    /** The number of the connection that a completion's id belongs to. */
    public static int connectionOf(long id) {
        return (int) (id >>> SLOT_BITS);
    }

    /** Its number among the connections of the completion queue; see {@link #connectionOf}. */
    public int number() {
        return number;
    }

    /** Whether another operation may be posted. */
    public boolean hasRoom() {
        return ring.hasRoom();
    }

    /** How many more operations may be posted. */
    public int room() {
        return ring.room();
    }

    /** Operations that are posted, or wait in a list, and have not completed. */
    public int inFlight() {
        return ring.inFlight() + (adopted.inFlight() ? 1 : 0);
    }

    /** Whether operations wait for {@link #postList}. */
    public boolean listing() {
        return list.count() > 0;
    }

    /** Whether an operation has ended in error: the queue pair posts nothing any more. */
    public boolean failed() {
        return failed;
    }

    /**
     * Posts a READ, or adds it to the list. There must be {@linkplain #hasRoom room}.
     *
     * @return 0, or errno if the device refused it or an earlier request of the list: the connection has
     *     {@linkplain #failed failed}, no completion will arrive for it, and the caller must end the operations in
     *     flight
     */
    public int read(long tag, long localAddress, int localKey, long remoteAddress, int remoteKey, int bytes) {
        int slot = ring.nextSlot();
        lastRead = ring.posted();
        ring.begin(tag);
        return post(slot, SendRequests.READ, 0, localAddress, localKey, remoteAddress, remoteKey, bytes);
    }

    /**
     * Posts a WRITE, or adds it to the list. It is fenced behind outstanding READs that it may overlap, since RDMA lets
     * a WRITE overtake them. There must be {@linkplain #hasRoom room}. An inline payload may be changed as soon as it
     * is posted.
     *
     * @return as {@link #read}
     */
    public int write(long tag, long localAddress, int localKey, long remoteAddress, int remoteKey, int bytes) {
        int slot = ring.nextSlot();
        int flags = writeFlags(remoteAddress, bytes);
        ring.begin(tag);
        return post(slot, SendRequests.WRITE, flags, localAddress, localKey, remoteAddress, remoteKey, bytes);
    }

    /**
     * Adds a READ or a WRITE to the list, without a limit to its length. There must be {@linkplain #hasRoom room}.
     * Parameters are those of {@link #read}.
     */
    public void list(
            boolean write, long tag, long localAddress, int localKey, long remoteAddress, int remoteKey, int bytes) {
        int slot = ring.nextSlot();
        int flags = 0;
        if (write) {
            flags = writeFlags(remoteAddress, bytes);
        } else {
            lastRead = ring.posted();
        }
        ring.begin(tag);
        append(
                slot,
                write ? SendRequests.WRITE : SendRequests.READ,
                flags,
                localAddress,
                localKey,
                remoteAddress,
                remoteKey,
                bytes);
    }

    /**
     * Posts a compare-and-swap or a fetch-and-add on 8 bytes, aligned to 8; their old value is written to
     * {@code localAddress}. It is fenced behind outstanding READs that it may overlap, as a WRITE is, and not behind
     * earlier atomics, which the server's device executes in order. A later WRITE to its 8 bytes is fenced behind it.
     * There must be {@linkplain #hasRoom room}, and the device must do atomics.
     *
     * @param compareOrAdd the value to compare with, or to add
     * @param value the value to store if the comparison succeeds
     * @return as {@link #read}
     */
    public int atomic(
            boolean swap,
            long tag,
            long localAddress,
            int localKey,
            long remoteAddress,
            int remoteKey,
            long compareOrAdd,
            long value) {
        int slot = ring.nextSlot();
        int flags = atomicFlags(remoteAddress);
        lastAtomic = ring.posted();
        ring.begin(tag);
        requests.prepareAtomic(
                slot,
                opcode(swap),
                flags | SendRequests.SIGNALED,
                localAddress,
                localKey,
                remoteAddress,
                remoteKey,
                compareOrAdd,
                value);
        int error = queuePair.post(requests, slot, Long.BYTES);
        return error == 0 ? 0 : refuse(error, slot);
    }

    /** Adds an {@link #atomic} to the list, without a limit to its length; as {@link #list}. */
    public void listAtomic(
            boolean swap,
            long tag,
            long localAddress,
            int localKey,
            long remoteAddress,
            int remoteKey,
            long compareOrAdd,
            long value) {
        int slot = ring.nextSlot();
        int flags = atomicFlags(remoteAddress);
        lastAtomic = ring.posted();
        ring.begin(tag);
        requests.aimAtomic(
                slot, opcode(swap), flags, localAddress, localKey, remoteAddress, remoteKey, compareOrAdd, value);
        requests.link(slot, ring.nextSlot());
        list.add(slot, flags, Long.BYTES);
    }

    private static int opcode(boolean swap) {
        return swap ? SendRequests.COMPARE_AND_SWAP : SendRequests.FETCH_AND_ADD;
    }

    /**
     * Posts the list, if it has operations.
     *
     * @return as {@link #read}
     */
    public int postList() {
        if (list.count() == 0) {
            return 0;
        }
        int error = list.post(queuePair, requests);
        return error == 0 ? 0 : refuse(error, list.first());
    }

    /**
     * Executes READs and WRITEs from post to completion, while nothing is in flight on any connection of the completion
     * queue. After {@link OneOperation#IN_FLIGHT} and {@link OneOperation#OTHER_COMPLETION} the caller must
     * {@link #adopt} the operation, after {@link OneOperation#FAILED} it must {@link #fail} the connection.
     */
    public OneOperation now() {
        return now;
    }

    /** Makes an ordinary operation of the one that {@link #now} left in flight. */
    public void adopt(long tag, boolean write, int localKey, long remoteAddress, int remoteKey, int bytes) {
        adopted.begin(tag, write, localKey, remoteAddress, remoteKey, bytes);
    }

    /**
     * Posts a signaled READ of 8 bytes in the slot kept for it. When it completes, every operation posted before it has
     * completed, and their WRITEs are in the server's memory. One flush at a time.
     *
     * @param localAddress the address to which the 8 bytes are read
     * @return 0 or errno
     */
    public int flush(long localAddress, int localKey, long remoteAddress, int remoteKey) {
        int error = postList();
        if (error == 0) {
            requests.aim(
                    flushSlot,
                    SendRequests.READ,
                    SendRequests.SIGNALED,
                    localAddress,
                    Long.BYTES,
                    localKey,
                    remoteAddress,
                    remoteKey);
            error = queuePair.postUnbounded(requests, flushSlot);
        }
        failed |= error != 0;
        flushing = error == 0;
        return error;
    }

    /** Whether a flush is in flight. */
    public boolean flushing() {
        return flushing;
    }

    /** Stops waiting for the completion of a flush: the connection is about to be closed. */
    public void forgetFlush() {
        flushing = false;
    }

    /** The id of the completion of {@link #flush}. */
    public long flushId() {
        return id(flushSlot);
    }

    /**
     * Processes a completion.
     *
     * @param id the id that the completion queue reported
     * @param status the status that it reported; any but success fails the connection
     * @return how many operations it ends, each to be taken by {@link #take}: the last with this status, those before
     *     it with success; 0 for a flush; or {@link #LATE}
     * @throws VerbsException if nothing with this id is in flight: to process it would end other operations too early
     */
    public int complete(long id, int status) {
        int slot = (int) id;
        if (status != 0) {
            failed = true;
        }
        if (slot < flushSlot) {
            int ended = ring.endedBy(slot);
            return ended > 0 ? ended : stray(id);
        }
        if (slot == flushSlot) {
            flushing = false;
            return 0;
        }
        return adopted.inFlight() ? 1 : stray(id);
    }

    private int stray(long id) {
        if (failed) {
            return LATE;
        }
        throw new VerbsException(
                "the device reports a completion of operation " + Long.toHexString(id) + ", which is not in flight");
    }

    /**
     * Takes the first operation that has ended, and frees its place.
     *
     * @param id the id of the completion that ended it
     * @return its tag
     */
    public long take(long id) {
        return (int) id == nowSlot ? adopted.take() : ring.takeFirst();
    }

    /** The tag that {@link #take} would return. */
    public long firstTag(long id) {
        return (int) id == nowSlot ? adopted.tag() : ring.firstTag();
    }

    /**
     * The length in bytes of the operation that {@link #take} would take; 0 for the one that {@link #now} has begun,
     * which is always all of its request. Of a connection that is closed, if its {@linkplain OutstandingKeys#keep
     * lengths are kept}.
     */
    public int firstBytes(long id) {
        return (int) id == nowSlot ? 0 : used.bytes(ring.firstSlot());
    }

    /** How many operations have been taken, without those that {@link #now} began. */
    public long taken() {
        return ring.completed();
    }

    /**
     * As {@link #take}, for the first operations that have ended, as long as they have the same tag.
     *
     * @param most the most operations to take, from 1
     * @return how many were taken
     */
    public int takeSame(long id, long tag, int most) {
        if ((int) id == nowSlot) {
            adopted.take();
            return 1;
        }
        return ring.takeSame(tag, most);
    }

    /** The ring of operations between post and completion. {@link #take} takes one of these, or the adopted one. */
    public OperationRing ring() {
        return ring;
    }

    /**
     * Passes ids of operations in flight to the consumer, in the order of posting: those behind the last operation
     * whose id {@code known} accepts.
     */
    public void forEachUnknown(LongPredicate known, LongConsumer consumer) {
        long first = ring.firstBehind(slot -> known.test(id(slot)));
        if (adopted.inFlight() && first == ring.completed() && !known.test(id(nowSlot))) {
            consumer.accept(id(nowSlot));
        }
        for (long n = first; n < ring.posted(); n++) {
            consumer.accept(id(ring.slot(n)));
        }
    }

    /** The keys and lengths of the operations that have not been taken. */
    public OutstandingKeys used() {
        return used;
    }

    /**
     * Gives up the operations in the list: like requests that the device refused, they get no completion. If there are
     * any, the connection has failed then.
     */
    public void abandonList() {
        if (list.count() > 0) {
            failed = true;
            ring.refuseLast(list.clear());
        }
    }

    /** The id of the last completion that will arrive for the operations in flight; -1 if none will. */
    public long lastId() {
        return ring.awaitsCompletion() ? id(ring.lastSlot()) : adopted.inFlight() ? id(nowSlot) : -1;
    }

    /** As {@link QueuePair#ordinaryPosts}. */
    long ordinaryPosts() {
        return queuePair.ordinaryPosts();
    }

    /** Ends posting; operations in flight complete with an error. */
    public void fail() {
        failed = true;
        queuePair.fail();
    }

    @Override
    public void close() {
        Closeables.all(now, queuePair, requests);
    }

    private int post(
            int slot,
            int opcode,
            int flags,
            long localAddress,
            int localKey,
            long remoteAddress,
            int remoteKey,
            int bytes) {
        if (listLimit == 1) {
            // prepare, not aim: the slot may have been in a list before, and its link must be cleared.
            requests.prepare(
                    slot,
                    opcode,
                    flags | SendRequests.SIGNALED,
                    localAddress,
                    bytes,
                    localKey,
                    remoteAddress,
                    remoteKey);
            int error = queuePair.post(requests, slot, bytes);
            return error == 0 ? 0 : refuse(error, slot);
        }
        append(slot, opcode, flags, localAddress, localKey, remoteAddress, remoteKey, bytes);
        return list.count() == listLimit ? postList() : 0;
    }

    private int writeFlags(long remoteAddress, int bytes) {
        int flags = bytes <= inlineBytes ? SendRequests.INLINE : 0;
        boolean fenced = adopted.reads(remoteAddress, bytes)
                || (lastRead >= ring.completed() || lastAtomic >= ring.completed())
                        && outstandingReads.mayOverlap(ring.completed(), ring.posted(), remoteAddress, bytes);
        return fenced ? flags | SendRequests.FENCE : flags;
    }

    private int atomicFlags(long remoteAddress) {
        boolean fenced = adopted.reads(remoteAddress, Long.BYTES)
                || lastRead >= ring.completed()
                        && outstandingReads.mayOverlapRead(ring.completed(), ring.posted(), remoteAddress, Long.BYTES);
        return fenced ? SendRequests.FENCE : 0;
    }

    private void append(
            int slot,
            int opcode,
            int flags,
            long localAddress,
            int localKey,
            long remoteAddress,
            int remoteKey,
            int bytes) {
        requests.link(slot, ring.nextSlot());
        requests.aim(slot, opcode, flags, localAddress, bytes, localKey, remoteAddress, remoteKey);
        list.add(slot, flags, bytes);
    }

    private int refuse(int error, int first) {
        failed = true;
        ring.refuseFrom(queuePair.refused(requests, first));
        return error;
    }

    private long id(int slot) {
        return (long) number << SLOT_BITS | slot;
    }
}
