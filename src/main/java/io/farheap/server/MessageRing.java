package io.farheap.server;

import io.farheap.connection.BatchConnection;
import io.farheap.connection.BatchFormat;
import io.farheap.connection.Payload;
import io.farheap.connection.RingShape;
import io.farheap.lifetime.Closing;
import io.farheap.memory.RegisteredMemory;
import io.farheap.verbs.Access;
import io.farheap.verbs.CompletionChannel;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.Context;
import io.farheap.verbs.Endpoint;
import io.farheap.verbs.ProtectionDomain;
import io.farheap.verbs.QueuePair;
import io.farheap.verbs.SendRequests;
import io.farheap.verbs.VerbsException;
import io.farheap.verbs.WcStatus;

import java.lang.foreign.MemorySegment;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * The server's end of a pair of message rings: takes request batches from a ring that the client writes to, executes them on regions,
 * and writes the answers to the client's ring. The client may write anything at any time: every field is read once, checked, and
 * then used. A batch that is not what the format says, once it has had time to arrive, ends the connection.
 *
 * <p>One server thread calls it, inside its gate; the owner connects it before and closes it after.
 */
final class MessageRing implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(MessageRing.class.getName());

    private static final int RESERVED_REQUESTS = 2;
    private static final int COMPLETION_BATCH = 16;
    private static final long RECEIVE_ID = -1;
    private static final long TORN_NANOS = 1_000_000_000L;
    /** How often a batch that does not get whole is looked at again: each look costs as much as serving it. */
    private static final int TORN_LOOKS = 64;
    private static final int LOOK_MASK = 0x3F;

    private final RegionPool pool;
    private final RegionHolders holders;
    private final ClientLease lease;
    private final long regionBytes;
    private final int recordBytes;
    private final int batch;
    private final int slots;
    private final int requestSlotBytes;
    private final int responseSlotBytes;
    private final long responseAddress;
    private final int responseKey;

    private CompletionQueue completions;
    private QueuePair queuePair;
    private SendRequests requests;
    private RegisteredMemory requestMemory;
    private RegisteredMemory responseMemory;
    private final MemorySegment regions;
    private final long regionsAddress;
    private MemorySegment in;
    private MemorySegment out;
    private long inAddress;
    private long outAddress;
    private int sendDepth;
    private int signalEvery;

    /** The batch under way: where each request's bytes are in the pool, -1 for a region that is not held; a write's length is negative. */
    private final long[] places;
    private final int[] lengths;
    private long touched;

    private long next = 1;
    private int slot;
    private int inSendQueue;
    private int unsignaled;
    private boolean mapped;
    private boolean ended;
    /** What the client's asleep word was set to: odd for asleep. */
    private long announced;
    private long tornSince;
    private int looks;

    MessageRing(Context context, ProtectionDomain domain, RegionPool pool, RegionHolders holders, ClientLease lease, RingShape shape,
                CompletionChannel channel, long responseAddress, int responseKey) {
        this.pool = pool;
        this.regions = pool.memory();
        this.regionsAddress = regions.address();
        this.holders = holders;
        this.lease = lease;
        this.regionBytes = pool.regionBytes();
        this.recordBytes = shape.recordBytes();
        this.batch = shape.batch();
        this.slots = shape.slots();
        this.requestSlotBytes = shape.requestSlotBytes();
        this.responseSlotBytes = shape.responseSlotBytes();
        this.responseAddress = responseAddress;
        this.responseKey = responseKey;
        this.places = new long[batch];
        this.lengths = new int[batch];
        this.slot = 1;
        try {
            allocate(context, domain, shape, channel);
        } catch (Throwable e) {
            Closing.after(e, this);
            throw e;
        }
    }

    private void allocate(Context context, ProtectionDomain domain, RingShape shape, CompletionChannel channel) {
        sendDepth = Math.min(slots + RESERVED_REQUESTS, context.limits().maxQueuePairRequests());
        signalEvery = Math.max(1, sendDepth / 4);
        completions = context.createCompletionQueue(sendDepth + 2, COMPLETION_BATCH, channel);
        queuePair = domain.createQueuePair(completions, sendDepth, Long.BYTES);
        requests = new SendRequests(slots + 1);
        requestMemory = RegisteredMemory.allocate(domain, "farheap-requests", shape.requestRingBytes(),
            Access.LOCAL_WRITE | Access.REMOTE_WRITE);
        responseMemory = RegisteredMemory.allocate(domain, "farheap-responses", shape.responseRingBytes(), Access.LOCAL_WRITE);
        in = requestMemory.segment();
        out = responseMemory.segment();
        inAddress = requestMemory.address();
        outAddress = responseMemory.address();
    }

    Endpoint endpoint() {
        return queuePair.endpoint();
    }

    /** Where the client writes its batches to. */
    long address() {
        return requestMemory.address();
    }

    int remoteKey() {
        return requestMemory.remoteKey();
    }

    /** @throws VerbsException where the device refuses the client's end */
    void connect(Endpoint client) {
        queuePair.connect(client);
        queuePair.postReceive(RECEIVE_ID);
    }

    /** Whether it takes no batches any more. */
    boolean ended() {
        return ended;
    }

    /** Serves the next batch, where one is there. @return how many batches were served: 0 or 1 */
    int serve() {
        long at = RingShape.CONTROL_BYTES + (long) slot * requestSlotBytes;
        long sequence = BatchFormat.sequence(in, at);
        if (ended || sequence == Math.max(0, next - slots) || !roomToAnswer()) {
            return 0;
        }
        if (tornSince != 0 && ++looks > TORN_LOOKS && (looks & LOOK_MASK) != 0) {
            return 0;
        }
        long summary = BatchFormat.summary(in, at);
        int count = BatchFormat.count(summary);
        String fault = sequence != next ? "a sequence that is not the next" : parse(at, summary, count);
        if (fault != null) {
            torn(fault);
            return 0;
        }
        tornSince = 0;
        looks = 0;
        if (BatchFormat.flags(summary) != 0) {
            // It came with an immediate, which has used up the receive.
            reap();
        }
        execute(at, count, BatchFormat.flags(summary));
        return 1;
    }

    /** @return what is wrong with a batch, or null; its checked requests are in the columns then */
    private String parse(long slotAt, long summary, int count) {
        int bytes = BatchFormat.bytes(summary);
        if (bytes < BatchFormat.HEADER_BYTES || bytes > requestSlotBytes || count > batch
            || (BatchFormat.flags(summary) & ~BatchFormat.NOTIFY) != 0) {
            return "a header with a length, count or flag out of bounds";
        }
        long at = slotAt + BatchFormat.HEADER_BYTES;
        long end = slotAt + bytes;
        long hash = BatchFormat.start();
        for (int i = 0; i < count; i++) {
            if (at > end - BatchFormat.REQUEST_BYTES) {
                return "more requests than bytes";
            }
            long request = in.get(JAVA_LONG, at);
            long offset = in.get(JAVA_LONG, at + 8);
            at += BatchFormat.REQUEST_BYTES;
            hash = BatchFormat.mix(hash, request, offset);
            int length = BatchFormat.length(request);
            if (length < 1 || length > recordBytes || offset < 0 || offset > regionBytes - length) {
                return "a request of a length or offset out of bounds";
            }
            int region = BatchFormat.region(request);
            places[i] = holders.holds(lease.id(), region) ? region * regionBytes + offset : -1;
            int operation = BatchFormat.operation(request);
            if (operation == BatchFormat.READ) {
                lengths[i] = length;
            } else if (operation == BatchFormat.WRITE && BatchFormat.padded(length) <= end - at) {
                lengths[i] = -length;
                hash = Payload.hash(inAddress + at, length, hash);
                at += BatchFormat.padded(length);
            } else {
                return "an operation that is none, or a payload longer than the batch";
            }
        }
        return at == end && BatchFormat.complete(in, slotAt, next, summary, hash) ? null : "a wrong length or checksum";
    }

    private void execute(long slotAt, int count, int flags) {
        touch(count);
        long requestAt = slotAt + BatchFormat.HEADER_BYTES;
        long responseSlot = RingShape.CONTROL_BYTES + (long) slot * responseSlotBytes;
        long at = responseSlot + BatchFormat.HEADER_BYTES;
        long hash = BatchFormat.start();
        boolean refused = false;
        for (int i = 0; i < count; i++) {
            int length = lengths[i];
            long place = places[i];
            requestAt += BatchFormat.REQUEST_BYTES;
            if (length > 0) {
                if (place >= 0) {
                    hash = Payload.fromRegion(regionsAddress + place, outAddress + at, length, hash);
                } else {
                    out.asSlice(at, BatchFormat.padded(length)).fill((byte) 0);
                    hash = Payload.hash(outAddress + at, length, hash);
                }
                at += BatchFormat.padded(length);
            } else {
                if (place >= 0) {
                    Payload.toRegion(inAddress + requestAt, regionsAddress + place, -length);
                }
                requestAt += BatchFormat.padded(-length);
            }
            refused |= place < 0;
        }
        if (refused) {
            hash = statuses(at, count, hash);
            at += BatchFormat.padded(count);
        }
        int bytes = (int) (at - responseSlot);
        BatchFormat.header(out, responseSlot, next, BatchFormat.summary(bytes, count, refused ? BatchFormat.STATUSES : 0), hash);
        boolean wake = (flags & BatchFormat.NOTIFY) != 0;
        int request = slot;
        next++;
        slot = slot + 1 == slots ? 0 : slot + 1;
        post(request, wake ? SendRequests.WRITE_WITH_IMMEDIATE : SendRequests.WRITE, responseSlot, bytes);
    }

    /** Loads a word of each place, so that the misses overlap instead of following one another. */
    private void touch(int count) {
        long words = 0;
        for (int i = 0; i < count; i++) {
            words += regions.get(JAVA_LONG, Math.max(0, places[i]) & ~7L);
        }
        touched = words;
    }

    private long statuses(long at, int count, long hash) {
        out.asSlice(at, BatchFormat.padded(count)).fill((byte) 0);
        for (int i = 0; i < count; i++) {
            out.set(JAVA_BYTE, at + i, places[i] >= 0 ? BatchFormat.DONE : BatchFormat.NOT_HELD);
        }
        return Payload.hash(outAddress + at, BatchFormat.padded(count), hash);
    }

    private boolean roomToAnswer() {
        if (inSendQueue >= sendDepth - RESERVED_REQUESTS) {
            reap();
        }
        return inSendQueue < sendDepth - RESERVED_REQUESTS;
    }

    private void post(int request, int opcode, long where, int bytes) {
        int flags = bytes <= queuePair.inlineBytes() ? SendRequests.INLINE : 0;
        if (++unsignaled >= signalEvery || request == slots) {
            flags |= SendRequests.SIGNALED;
            requests.id(request, unsignaled);
            unsignaled = 0;
        }
        inSendQueue++;
        requests.prepare(request, opcode, flags, responseMemory.address() + where, bytes, responseMemory.localKey(),
            responseAddress + where, responseKey);
        int error = mapped ? queuePair.post(requests, request, bytes) : queuePair.postUnbounded(requests, request);
        mapped = true;
        if (error != 0) {
            end("its device refused an answer with errno " + error);
        }
    }

    /** Takes completions: room in the send queue, errors, bells. @return whether there was a bell */
    boolean reap() {
        boolean rung = false;
        int polled = completions.poll();
        for (int i = 0; i < polled; i++) {
            if (completions.status(i) != WcStatus.SUCCESS) {
                end("an answer ended in \"" + WcStatus.describe(completions.status(i)) + "\"");
            } else if (completions.id(i) == RECEIVE_ID) {
                rung = true;
                queuePair.postReceive(RECEIVE_ID);
            } else {
                inSendQueue -= (int) completions.id(i);
            }
        }
        return rung;
    }

    /** Whether answers may be on their way. */
    boolean answering() {
        return inSendQueue > 0;
    }

    /** Makes the next bell raise an event. @return whether there was one already */
    boolean listen() {
        completions.requestNotification();
        return reap();
    }

    /**
     * Tells the client whether a bell is wanted for batches to be noticed; later, where the send queue is full. It is
     * called again after each completion: the queue never is full without one that will be raised.
     */
    void announce(boolean asleep) {
        boolean told = (announced & 1) != 0;
        if (ended || told == asleep) {
            return;
        }
        if (inSendQueue == sendDepth) {
            reap();
        }
        if (inSendQueue < sendDepth) {
            out.set(JAVA_LONG, BatchConnection.ASLEEP, ++announced);
            post(slots, SendRequests.WRITE, BatchConnection.ASLEEP, Long.BYTES);
        }
    }

    private void torn(String fault) {
        long now = System.nanoTime();
        if (tornSince == 0) {
            tornSince = now;
        } else if (now - tornSince > TORN_NANOS) {
            end("it sent a batch with " + fault);
        }
    }

    /** Serves nothing any more, and lets the client's next operation on the connection fail. */
    void end(String reason) {
        if (!ended) {
            ended = true;
            queuePair.fail();
            LOG.log(System.Logger.Level.WARNING, "the message ring of client " + lease.clientName() + " is closed: "
                + reason);
        }
    }

    /** May be called again, as long as the device is busy. */
    @Override
    public void close() {
        Closing.all(queuePair, responseMemory, requestMemory, requests, completions);
    }
}
