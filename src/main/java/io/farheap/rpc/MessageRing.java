package io.farheap.rpc;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.lifetime.Closeables;
import io.farheap.memory.RegisteredMemory;
import io.farheap.rpc.message.BatchFormat;
import io.farheap.rpc.message.PayloadCopier;
import io.farheap.rpc.message.RingQueuePair;
import io.farheap.verbs.Access;
import io.farheap.verbs.CompletionChannel;
import io.farheap.verbs.Context;
import io.farheap.verbs.Endpoint;
import io.farheap.verbs.ProtectionDomain;
import io.farheap.verbs.SendRequests;
import io.farheap.verbs.VerbsException;
import io.farheap.verbs.WcStatus;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The server's end of a pair of message rings: takes request batches from a ring that the client writes to, executes
 * their reads and writes on regions and their calls by handlers, and writes the answers to the client's ring. The
 * client may write anything at any time: every field is read once, checked, and then used. A batch that is not what the
 * format says, once it has had time to arrive, ends the connection.
 *
 * <p>One server thread calls it, inside its gate; the owner connects it before and closes it after.
 */
public final class MessageRing implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(MessageRing.class.getName());

    private static final long TORN_NANOS = 1_000_000_000L;
    /** How often a batch that does not get whole is looked at again: each look costs as much as serving it. */
    private static final int TORN_LOOKS = 64;

    private static final int LOOK_MASK = 0x3F;
    /** Answers to calls that were put off, from one look at the ring to the next. */
    private static final int LATER_AT_ONCE = 16;

    private final HeldRegions held;
    private final long regionBytes;
    private final int recordBytes;
    private final int batch;
    private final int slots;
    private final int requestSlotBytes;
    private final int responseSlotBytes;
    private final RingShape shape;
    private final long responseAddress;
    private final int responseKey;

    private RingQueuePair posts;
    private RegisteredMemory requestMemory;
    private RegisteredMemory responseMemory;
    private final MemorySegment regions;
    private final long regionsAddress;
    private MemorySegment in;
    private MemorySegment out;
    private long inAddress;
    private long outAddress;
    /**
     * The batch under way: where each request's bytes are in the pool, -1 for a region that is not held; a write's
     * length is negative.
     */
    private final long[] places;

    private final int[] lengths;

    @SuppressWarnings("unused")
    private long touched;

    private long next = 1;
    private int slot;
    private boolean mapped;
    private boolean rung;
    private boolean ended;
    private final SleepWord asleepWord = new SleepWord();

    private long tornSince;
    private int looks;

    /** Null where the client makes no calls. */
    private @Nullable ServedCalls calls;
    /** Those that are answered later; null where the client makes none. */
    private @Nullable PendingCalls pending;
    /** Messages posted: answers to batches, and to calls later. */
    private int messages;
    /** The client's wanted word when it was last looked at, and whether the next message is to wake it. */
    private long wanted;

    private boolean wakeNext;

    /**
     * @param held the client's regions
     * @param handlers of its calls
     * @param channel on which completions raise events
     * @param wake makes the server thread look at this ring, if it sleeps; any thread calls it
     * @param responseAddress where the client's ring begins
     * @param responseKey its rkey
     */
    public MessageRing(
            Context context,
            ProtectionDomain domain,
            HeldRegions held,
            RpcHandlers handlers,
            RingShape shape,
            CompletionChannel channel,
            Runnable wake,
            long responseAddress,
            int responseKey) {
        this.held = held;
        this.regions = held.memory();
        this.regionsAddress = regions.address();
        this.regionBytes = held.regionBytes();
        this.recordBytes = shape.recordBytes();
        this.batch = shape.batch();
        this.slots = shape.slots();
        this.requestSlotBytes = shape.requestSlotBytes();
        this.responseSlotBytes = shape.responseSlotBytes();
        this.shape = shape;
        this.responseAddress = responseAddress;
        this.responseKey = responseKey;
        this.places = new long[batch];
        this.lengths = new int[batch];
        this.slot = 1;
        try {
            posts = new RingQueuePair(context, domain, channel, slots, 2, Long.BYTES);
            requestMemory = RegisteredMemory.allocate(
                    domain, "farheap-requests", shape.requestRingBytes(), Access.LOCAL_WRITE | Access.REMOTE_WRITE);
            responseMemory = RegisteredMemory.allocate(
                    domain, "farheap-responses", shape.responseRingBytes(), Access.LOCAL_WRITE);
            in = requestMemory.segment();
            out = responseMemory.segment();
            inAddress = requestMemory.address();
            outAddress = responseMemory.address();
            if (shape.calls()) {
                pending = new PendingCalls(shape, wake);
                calls = new ServedCalls(handlers, held, shape, out, pending);
            }
        } catch (Throwable e) {
            Closeables.after(e, this);
            throw e;
        }
    }

    public Endpoint endpoint() {
        return posts.endpoint();
    }

    /** Where the client writes its batches to. */
    public long address() {
        return requestMemory.address();
    }

    public int remoteKey() {
        return requestMemory.remoteKey();
    }

    /** @throws VerbsException where the device refuses the client's end */
    public void connect(Endpoint client) {
        posts.connect(client, responseMemory, responseAddress, responseKey);
    }

    /** Whether it takes no batches any more. */
    public boolean ended() {
        return ended;
    }

    /**
     * Serves the next batch, where one is there.
     *
     * @return how many batches were served: 0 or 1
     */
    public int serve() {
        long at = RingShape.CONTROL_BYTES + (long) slot * requestSlotBytes;
        long sequence = BatchFormat.sequence(in, at);
        if (ended
                || pending != null && callsFirst(pending)
                || sequence == Math.max(0, next - slots)
                || !roomToAnswer()) {
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
        if (pending != null && pending.tooMany()) {
            end("it does not wait for answers to its calls");
        }
        return 1;
    }

    /** @return what is wrong with a batch, or null; its checked requests are in the columns then */
    private @Nullable String parse(long slotAt, long summary, int count) {
        int bytes = BatchFormat.bytes(summary);
        if (bytes < BatchFormat.HEADER_BYTES
                || bytes > requestSlotBytes
                || count > batch
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
            int operation = BatchFormat.operation(request);
            if (operation == BatchFormat.CALL && calls != null) {
                if (length > recordBytes
                        || offset < 0
                        || offset > recordBytes
                        || BatchFormat.padded(length) > end - at) {
                    return "a call whose arguments or reply are too long";
                }
                lengths[i] = 0;
                hash = calls.take(i, BatchFormat.region(request), inAddress + at, length, (int) offset, hash);
                at += BatchFormat.padded(length);
                continue;
            }
            if (length < 1 || length > recordBytes || offset < 0 || offset > regionBytes - length) {
                return "a request of a length or offset out of bounds";
            }
            places[i] = held.place(BatchFormat.region(request), offset);
            if (operation == BatchFormat.READ) {
                lengths[i] = length;
            } else if (operation == BatchFormat.WRITE && BatchFormat.padded(length) <= end - at) {
                lengths[i] = -length;
                hash = PayloadCopier.hash(inAddress + at, length, hash);
                at += BatchFormat.padded(length);
            } else {
                return "an operation that is none, or a payload longer than the batch";
            }
        }
        return at == end && BatchFormat.complete(in, slotAt, next, summary, hash) ? null : "a wrong length or checksum";
    }

    // A request of length 0 is a call: parse takes one only where there are calls.
    @SuppressWarnings("NullAway")
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
            if (length == 0) {
                requestAt += calls.argumentBytes(i);
                int reply = calls.execute(i, at + Long.BYTES);
                out.set(JAVA_LONG, at, reply);
                BatchFormat.pad(outAddress + at + Long.BYTES, reply);
                hash = PayloadCopier.hash(outAddress + at + Long.BYTES, reply, BatchFormat.mix(hash, reply));
                at += Long.BYTES + BatchFormat.padded(reply);
                refused |= calls.status(i) != BatchFormat.DONE;
            } else if (length > 0) {
                if (place >= 0) {
                    hash = PayloadCopier.fromRegion(regionsAddress + place, outAddress + at, length, hash);
                } else {
                    refused = true;
                    out.asSlice(at, BatchFormat.padded(length)).fill((byte) 0);
                    hash = PayloadCopier.hash(outAddress + at, length, hash);
                }
                at += BatchFormat.padded(length);
            } else {
                if (place >= 0) {
                    PayloadCopier.toRegion(inAddress + requestAt, regionsAddress + place, -length);
                } else {
                    refused = true;
                }
                requestAt += BatchFormat.padded(-length);
            }
        }
        if (refused) {
            hash = statuses(at, count, hash);
            at += BatchFormat.padded(count);
        }
        int bytes = (int) (at - responseSlot);
        BatchFormat.header(
                out, responseSlot, next, BatchFormat.summary(bytes, count, refused ? BatchFormat.STATUSES : 0), hash);
        boolean wake = (flags & BatchFormat.NOTIFY) != 0 | wakeNext;
        wakeNext = false;
        messages++;
        int request = slot;
        next++;
        slot = slot + 1 == slots ? 0 : slot + 1;
        post(request, wake ? SendRequests.WRITE_WITH_IMMEDIATE : SendRequests.WRITE, responseSlot, bytes);
    }

    /** Loads a word of each place, so that the misses overlap instead of following one another. */
    // As in execute.
    @SuppressWarnings("NullAway")
    private void touch(int count) {
        if (calls != null) {
            pending.begin(next, slot);
            for (int i = 0; i < count; i++) {
                if (lengths[i] == 0) {
                    places[i] = calls.touch(i);
                }
            }
        }
        // A loop with nothing else in it: a processor looks ahead as far as to all of these loads.
        long words = 0;
        for (int i = 0; i < count; i++) {
            if (places[i] >= 0) {
                words += regions.get(JAVA_LONG, places[i] & ~7L);
            }
        }
        touched = words;
    }

    private long statuses(long at, int count, long hash) {
        for (int i = 0; i < count; i++) {
            out.set(JAVA_BYTE, at + i, status(i));
        }
        for (int i = count; i < BatchFormat.padded(count); i++) {
            out.set(JAVA_BYTE, at + i, (byte) 0);
        }
        return PayloadCopier.hash(outAddress + at, BatchFormat.padded(count), hash);
    }

    // As in execute.
    @SuppressWarnings("NullAway")
    private byte status(int i) {
        if (lengths[i] == 0) {
            return calls.status(i);
        }
        return places[i] >= 0 ? BatchFormat.DONE : BatchFormat.NOT_HELD;
    }

    /**
     * Sends answers that were put off, and looks whether the client wants to be woken.
     *
     * @return whether there is no room to answer more
     */
    private boolean callsFirst(PendingCalls waiting) {
        int left = LATER_AT_ONCE;
        for (PendingCall call = waiting.nextAnswer(); call != null && left-- > 0; call = waiting.nextAnswer()) {
            if (!roomToAnswer()) {
                return true;
            }
            long at = RingShape.CONTROL_BYTES + (long) call.slot * responseSlotBytes + shape.laterAt(call.index);
            int bytes = PendingCalls.write(call, out, at);
            waiting.sent();
            boolean wake = wakeNext;
            wakeNext = false;
            messages++;
            post(slots + 1, wake ? SendRequests.WRITE_WITH_IMMEDIATE : SendRequests.WRITE, at, bytes);
        }
        return lookAtWanted();
    }

    /**
     * The wanted word says how many messages the client has seen, and that it is about to sleep. Where it has missed
     * one it is woken at once, else by the next: what was posted before this looked and what is posted after are both
     * thought of.
     */
    private boolean lookAtWanted() {
        long now = BatchFormat.sequence(in, RingShape.WANTED);
        if (now == wanted) {
            return false;
        }
        if ((int) now == messages) {
            wakeNext = true;
        } else if (roomToAnswer()) {
            out.set(JAVA_LONG, RingShape.ASLEEP, asleepWord.told());
            post(slots, SendRequests.WRITE_WITH_IMMEDIATE, RingShape.ASLEEP, Long.BYTES);
        } else {
            return true;
        }
        wanted = now;
        return false;
    }

    private boolean roomToAnswer() {
        if (posts.room() <= RingQueuePair.RESERVED) {
            reap();
        }
        return posts.room() > RingQueuePair.RESERVED;
    }

    private void post(int request, int opcode, long where, int bytes) {
        int error = posts.post(request, opcode, where, bytes, mapped);
        mapped = true;
        if (error != 0) {
            end("its device refused an answer with errno " + error);
        }
    }

    /** Takes completions: room in the send queue, errors, and bells, which {@link #rung} tells of. */
    public void reap() {
        int status = posts.reap();
        if (status != WcStatus.SUCCESS) {
            end("an answer ended in \"" + WcStatus.describe(status) + "\"");
        }
        rung |= posts.takeReceived();
    }

    /**
     * Whether there was a bell since this was asked last. What it was rung for may have come just after the ring was
     * looked at, and nothing tells of it again: who is about to sleep looks once more.
     */
    public boolean rung() {
        boolean was = rung;
        rung = false;
        return was;
    }

    /** Whether answers may be on their way. */
    public boolean answering() {
        return posts.isSending();
    }

    /**
     * Makes the next bell raise an event.
     *
     * @return whether there was one already
     */
    public boolean listen() {
        posts.requestNotification();
        reap();
        return rung();
    }

    /**
     * Tells the client whether a bell is wanted for batches to be noticed; later, where the send queue is full. Who
     * sleeps calls it again after each completion: the queue never is full without one that will be raised.
     */
    public void announce(boolean asleep) {
        if (ended || !asleepWord.isNews(asleep)) {
            return;
        }
        if (posts.room() == 0) {
            reap();
        }
        if (posts.room() == 0) {
            asleepWord.notTold(asleep);
        } else {
            out.set(JAVA_LONG, RingShape.ASLEEP, asleepWord.tell(asleep));
            post(slots, SendRequests.WRITE, RingShape.ASLEEP, Long.BYTES);
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
    public void end(String reason) {
        if (!ended) {
            ended = true;
            if (pending != null) {
                pending.cancel();
            }
            posts.fail();
            LOG.log(
                    System.Logger.Level.WARNING,
                    "the message ring of client " + held.client() + " is closed: " + reason);
        }
    }

    /** Nobody hears answers to its calls any more, and who goes on with one finds that out. Off its thread. */
    public void cancelCalls() {
        if (pending != null) {
            pending.cancel();
        }
    }

    /** May be called again, as long as the device is busy. */
    @Override
    public void close() {
        Closeables.all(calls, posts, responseMemory, requestMemory);
    }
}
