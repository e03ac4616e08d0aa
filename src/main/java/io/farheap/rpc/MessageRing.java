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
 * The server's end of a pair of message rings. It takes request batches from a ring in its own registered memory, which
 * the client fills by one-sided WRITEs, executes their reads and writes on regions and their calls by handlers, and
 * writes the answers into the client's ring, by WRITEs too.
 *
 * <p><b>Idea.</b> Both rings have the same number of slots ({@link RingShape#slots}). Batches count from 1; batch
 * {@code n} is written to slot {@code n} modulo that number of the server's ring, and its answer to the same slot of
 * the client's. The two ends share no head and no tail, as the ends of a queue in shared memory do: each end knows
 * which sequence comes next and polls the one slot where it must appear. The layout of a batch is
 * {@link BatchFormat}'s.
 *
 * <p><b>Writers.</b> Each byte of both rings has one writer.
 *
 * <ul>
 *   <li>The client alone writes the request slots and the words {@link RingShape#BELL}, {@link RingShape#PROBE} and
 *       {@link RingShape#WANTED} in this end's memory. This class only reads them.
 *   <li>This end alone writes the response slots and the word {@link RingShape#ASLEEP} in the client's memory. It
 *       stages each of them in {@code out}, which has the same layout, and posts a WRITE from there.
 *   <li>A region has many writers: the server's threads, and the one-sided operations of every client that reaches it.
 *       Only its aligned 8-byte words are sure not to tear; {@link PayloadCopier} copies them so.
 *   <li>The server thread alone uses the fields of this object. Any thread may answer a call that was put off;
 *       {@code PendingCalls} hands its answer to the server thread.
 * </ul>
 *
 * <p><b>Why that is enough.</b>
 *
 * <ul>
 *   <li><em>A batch is whole when it is executed.</em> The bytes of a WRITE may become visible in any order, so the
 *       sequence says only that the batch has begun to arrive. It is loaded first, with acquire. The checksum in the
 *       header covers the sequence, the lengths, every request and every payload, and the batch is executed only if it
 *       matches. If it does not, the server looks at the slot again in later rounds, and ends the connection after a
 *       second.
 *   <li><em>A batch does not hold its server thread.</em> Of a batch with calls {@link #MOST_AT_ONCE} requests are
 *       executed at a time; between them the thread leaves its gate, so regions that the client has lost meanwhile are
 *       looked for before the rest. The batch is answered as a whole, and late answers to its calls wait for that.
 *   <li><em>A client that changes a batch later harms itself alone.</em> Each word that decides which memory is used
 *       (header, region, offset, length, arguments) is loaded once, checked, and kept in arrays of this process. Only
 *       the payload of a write is loaded again, when it is copied into the region, and its place and length are those
 *       that were checked.
 *   <li><em>A slot is free when it is written again.</em> The client sends batch {@code n} + slots only after it has
 *       finished batch {@code n}: it has taken the whole answer. So this end has executed batch {@code n}, the device
 *       has read its answer from {@code out}, and the client needs the answer's slot no more. The sequence of a batch
 *       thus tells this end all that a consumer position would. A call that is answered later has a place of its own
 *       for that, by slot and index; until the client has taken that answer, it leaves the index out of the slot's
 *       batches, with a call of no operation in its place.
 *   <li><em>An answer never waits for the device.</em> A batch is executed only if the send queue has room for its
 *       answer beside the work requests that are kept for control words; else the batch stays in its slot until
 *       completions make room.
 *   <li><em>No wake-up of the server is lost.</em> Before the server thread sleeps, it makes completions raise events
 *       ({@link #listen}), writes an odd sleep word to the client ({@link #announce}), and looks at the ring once more.
 *       A client that sees an odd word for which it has not rung yet sends its batch with an immediate, which completes
 *       this end's receive and raises an event. A batch that was sent before the word arrived is found by the last
 *       look, or else by the client: as long as it awaits an answer it reads the word again, and rings.
 *   <li><em>No wake-up of the client is lost.</em> A client without calls asks for an immediate by a flag in a batch,
 *       and the answer to that batch carries it. A client with calls writes the wanted word, with the number of
 *       messages that it has seen: if this end has posted more, it sends an immediate at once, else with its next
 *       message.
 * </ul>
 *
 * <p><b>Threads.</b> One server thread calls it, inside its gate. A thread that takes a region from the client clears
 * the region's holder and then waits for the thread to leave its gate, so no batch reaches a region that has gone to
 * another client ({@link RegionHolders}). The owner connects the ring before it is served; when no thread serves it any
 * more, the owner calls {@link #cancelCalls} and closes it.
 *
 * <p><b>States.</b> Serving, then ended, for good: by a batch that is not valid, a failed completion or the owner. An
 * ended ring has failed its queue pair, so that the client's next operation on the connection fails too.
 */
public final class MessageRing implements AutoCloseable {

    /**
     * The most requests of a batch with calls that a server thread executes before it opens its gate; the batch
     * continues when the thread has looked at its other rings.
     */
    public static final int MOST_AT_ONCE = 32;

    private static final System.Logger LOG = System.getLogger(MessageRing.class.getName());

    private static final long TORN_NANOS = 1_000_000_000L;
    /**
     * After so many looks at an incomplete batch only one turn in 64 looks again: a look costs as much as serving it.
     */
    private static final int TORN_LOOKS = 64;

    private static final int LOOK_MASK = 0x3F;
    /** How many late answers to calls are sent between two looks at the ring. */
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
     * Columns of the batch that is being served, by request: the offset of its bytes in the server's memory, or -1 if
     * the client does not hold the region; and the length, negative for a write and 0 for a call.
     */
    private final long[] places;

    private final int[] lengths;

    // The batch that is being served: its requests and those that have been executed, equal if there is none; the next
    // one's place, its answer's, and what the answer has so far.
    private int count;
    private int executed;
    private int flags;
    private boolean hasCalls;
    private long requestAt;
    private long answerAt;
    private long answerHash;
    private boolean refused;
    /** {@link HeldRegions#changes} before the client's regions were looked up last. */
    private int changes;

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

    /** Null if the client makes no calls. */
    private @Nullable ServedCalls calls;
    /** The calls that are answered later than their batch; null if the client makes no calls. */
    private @Nullable PendingCalls pending;
    /** How many messages were posted: answers to batches, and late answers to calls. */
    private int messages;
    /**
     * The client's wanted word as last read, and whether the next message carries an immediate that wakes the client.
     */
    private long wanted;

    private boolean wakeNext;

    /**
     * @param held the client's regions
     * @param handlers the operations that the client may call
     * @param channel the channel on which completions raise events
     * @param wake makes the server thread look at this ring, if it sleeps; any thread calls it
     * @param responseAddress the address of the client's ring in the client's memory
     * @param responseKey the rkey of the client's ring
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

    /** The server's endpoint, which the client needs to connect its queue pair. */
    public Endpoint endpoint() {
        return posts.endpoint();
    }

    /** The address of the ring that the client writes its batches to. */
    public long address() {
        return requestMemory.address();
    }

    /** The rkey of that ring. */
    public int remoteKey() {
        return requestMemory.remoteKey();
    }

    /** @throws VerbsException if the device refuses the client's end */
    public void connect(Endpoint client) {
        posts.connect(client, responseMemory, responseAddress, responseKey);
    }

    /** Whether it has ended, and serves no more batches. */
    public boolean ended() {
        return ended;
    }

    /**
     * Serves the next batch if it has arrived, or the next {@link #MOST_AT_ONCE} requests of it, and sends late answers
     * to calls first.
     *
     * @return 1 if there was something to serve, else 0
     */
    public int serve() {
        if (executed < count) {
            return continueBatch();
        }
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
        int requests = BatchFormat.count(summary);
        String fault = sequence != next ? "a sequence that is not the next" : parse(at, summary, requests);
        if (fault != null) {
            torn(fault);
            return 0;
        }
        tornSince = 0;
        looks = 0;
        if (BatchFormat.flags(summary) != 0) {
            // The client sent it with an immediate, which has consumed the receive: take its completion and post
            // another.
            reap();
        }
        count = requests;
        executed = 0;
        flags = BatchFormat.flags(summary);
        requestAt = at + BatchFormat.HEADER_BYTES;
        answerAt = answerSlot() + BatchFormat.HEADER_BYTES;
        answerHash = BatchFormat.start();
        refused = false;
        execute();
        return 1;
    }

    /** Executes more of a batch that was begun in an earlier round. Since then the client may have lost regions. */
    private int continueBatch() {
        if (ended || pending != null && callsFirst(pending) || !roomToAnswer()) {
            return 0;
        }
        int now = held.changes();
        if (now != changes) {
            changes = now;
            for (int i = executed; i < count; i++) {
                if (lengths[i] != 0 && places[i] >= 0 && !held.holds((int) (places[i] / regionBytes))) {
                    places[i] = -1;
                }
            }
        }
        execute();
        return 1;
    }

    /** The regions of its client. */
    public HeldRegions held() {
        return held;
    }

    /** Whether its requests may be calls. */
    public boolean takesCalls() {
        return calls != null;
    }

    /** Sends late answers to calls, and serves no batch. */
    public void answerCalls() {
        if (!ended && pending != null) {
            callsFirst(pending);
        }
    }

    /** Whether a batch has arrived, or is being served. */
    public boolean hasBatch() {
        return executed < count
                || BatchFormat.sequence(in, RingShape.CONTROL_BYTES + (long) slot * requestSlotBytes)
                        != Math.max(0, next - slots);
    }

    private long answerSlot() {
        return RingShape.CONTROL_BYTES + (long) slot * responseSlotBytes;
    }

    /** @return the fault of a batch, or null if it is valid; its requests are then in the columns */
    private @Nullable String parse(long slotAt, long summary, int requests) {
        int bytes = BatchFormat.bytes(summary);
        if (bytes < BatchFormat.HEADER_BYTES
                || bytes > requestSlotBytes
                || requests > batch
                || (BatchFormat.flags(summary) & ~BatchFormat.NOTIFY) != 0) {
            return "a header with a length, count or flag out of bounds";
        }
        long at = slotAt + BatchFormat.HEADER_BYTES;
        long end = slotAt + bytes;
        long hash = BatchFormat.start();
        changes = held.changes();
        hasCalls = false;
        for (int i = 0; i < requests; i++) {
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
                hasCalls = true;
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

    // A length of 0 marks a call, which parse accepts only if there is an object for calls.
    @SuppressWarnings("NullAway")
    private void execute() {
        int end = hasCalls ? Math.min(count, executed + MOST_AT_ONCE) : count;
        touch(executed, end);
        long from = requestAt;
        long at = answerAt;
        long hash = answerHash;
        for (int i = executed; i < end; i++) {
            int length = lengths[i];
            long place = places[i];
            from += BatchFormat.REQUEST_BYTES;
            if (length == 0) {
                from += calls.argumentBytes(i);
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
                    PayloadCopier.toRegion(inAddress + from, regionsAddress + place, -length);
                } else {
                    refused = true;
                }
                from += BatchFormat.padded(-length);
            }
        }
        if (hasCalls) {
            calls.executed(executed, end);
        }
        executed = end;
        requestAt = from;
        answerAt = at;
        answerHash = hash;
        if (end == count) {
            answer();
        }
        if (pending != null && pending.tooMany()) {
            end("it does not wait for answers to its calls");
        }
    }

    private void answer() {
        long at = answerAt;
        long hash = answerHash;
        if (refused) {
            hash = statuses(at, hash);
            at += BatchFormat.padded(count);
        }
        long responseSlot = answerSlot();
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

    /** Loads one word of each request's bytes, so that the cache misses overlap instead of following one another. */
    // As in execute.
    @SuppressWarnings("NullAway")
    private void touch(int from, int end) {
        if (calls != null) {
            pending.begin(next, slot);
            for (int i = from; i < end; i++) {
                if (lengths[i] == 0) {
                    places[i] = calls.touch(i);
                }
            }
        }
        // Nothing else is in this loop, so that the processor's out-of-order window reaches many of these loads at
        // once.
        long words = 0;
        for (int i = from; i < end; i++) {
            if (places[i] >= 0) {
                words += regions.get(JAVA_LONG, places[i] & ~7L);
            }
        }
        touched = words;
    }

    private long statuses(long at, long hash) {
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
     * Sends answers to calls that were put off, and reads the client's wanted word. Answers to calls of a batch that is
     * executed in parts wait until the batch is answered, as its client awaits none of these before, and so do those
     * that were given after them.
     *
     * @return whether the send queue has no room for more answers
     */
    private boolean callsFirst(PendingCalls waiting) {
        int left = LATER_AT_ONCE;
        for (PendingCall call = waiting.nextAnswer();
                call != null && call.sequence < next && left-- > 0;
                call = waiting.nextAnswer()) {
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
     * Reads the wanted word, with which the client says that it is about to sleep and how many messages it has seen. If
     * this end has posted more messages than that, it wakes the client at once, else with its next message. So messages
     * that were posted before this look and those that are posted after it both wake the client.
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

    /**
     * Takes completions: of answers, which makes room in the send queue, of errors, and of bells, which {@link #rung}
     * reports.
     */
    public void reap() {
        int status = posts.reap();
        if (status != WcStatus.SUCCESS) {
            end("an answer ended in \"" + WcStatus.describe(status) + "\"");
        }
        rung |= posts.takeReceived();
    }

    /**
     * Whether the client has rung since the last call. The batch for which it rang may have arrived just after the last
     * look at the ring, and no other event announces it: a thread that is about to sleep looks once more.
     */
    public boolean rung() {
        boolean was = rung;
        rung = false;
        return was;
    }

    /** Whether answers may still be in the send queue. */
    public boolean answering() {
        return posts.isSending();
    }

    /**
     * Makes the next completion raise an event.
     *
     * @return whether the client has rung already
     */
    public boolean listen() {
        posts.requestNotification();
        reap();
        return rung();
    }

    /**
     * Writes the sleep word to the client: whether a batch needs a bell to be noticed. If the send queue is full, the
     * word is not written now; a thread that sleeps calls this again after each completion, and a full queue always has
     * a completion to come that raises an event.
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

    /**
     * Serves no more batches, and fails the queue pair, so that the client's next operation on the connection fails
     * too.
     */
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

    /**
     * Cancels the calls that are not answered yet: the client receives no answers any more, and handlers that continue
     * such a call see that it is cancelled. Handlers may be running on any thread, but no server thread may serve this
     * ring any more.
     */
    public void cancelCalls() {
        if (pending != null) {
            pending.cancel();
        }
    }

    /** May be called again if it throws because the device is busy. */
    @Override
    public void close() {
        Closeables.all(calls, posts, responseMemory, requestMemory);
    }
}
