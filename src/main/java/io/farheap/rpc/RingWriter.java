package io.farheap.rpc;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

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
import org.jspecify.annotations.Nullable;

/**
 * The client's queue pair to a server's message ring, and the memory of both of its rings: writes what is staged to the
 * same place of the server's, batches and control words, and keeps count of the send queue. One control word is on its
 * way at a time, for there is one work request for them; one wake-up too, for there is one receive.
 *
 * <p>Where a method says that the device refused, the connection has failed, and its owner calls {@link #fail}. One
 * thread at a time.
 */
final class RingWriter implements AutoCloseable {

    private static final int RESERVED_REQUESTS = 2;
    private static final int COMPLETION_BATCH = 16;
    private static final int WANTED_SHIFT = 32;
    /**
     * Ids of completions: how many requests have left the send queue, with a flag for control words; and the receive's.
     */
    private static final long CONTROL_ID = 1L << 32;

    private static final long RECEIVE_ID = -1;

    private final int slots;
    private final ProtectionDomain domain;
    private CompletionQueue completions;
    private QueuePair queuePair;
    private SendRequests requests;
    private RegisteredMemory staged;
    private RegisteredMemory responses;
    private MemorySegment out;
    private MemorySegment in;

    private int sendDepth;
    private int signalEvery;

    private long ringAddress;
    private int ringKey;

    private int inSendQueue;
    private int unsignaled;
    private boolean failed;
    private boolean controlling;
    private boolean notifying;
    /** The server's asleep word when its bell was rung last. */
    private long rungFor;

    private long asks;

    RingWriter(Context context, @Nullable CompletionChannel channel, RingShape shape, int inlineBytes) {
        this.slots = shape.slots();
        this.domain = context.allocateProtectionDomain();
        try {
            sendDepth = Math.min(slots + RESERVED_REQUESTS, context.limits().maxQueuePairRequests());
            signalEvery = Math.max(1, sendDepth / 4);
            completions = context.createCompletionQueue(sendDepth + 2, COMPLETION_BATCH, channel);
            queuePair = domain.createQueuePair(completions, sendDepth, inlineBytes);
            requests = new SendRequests(slots + 1);
            staged = RegisteredMemory.allocate(domain, "farheap-batches", shape.requestRingBytes(), Access.LOCAL_WRITE);
            responses = RegisteredMemory.allocate(
                    domain, "farheap-answers", shape.responseRingBytes(), Access.LOCAL_WRITE | Access.REMOTE_WRITE);
            out = staged.segment();
            in = responses.segment();
        } catch (Throwable e) {
            Closing.after(e, this);
            throw e;
        }
    }

    /** What is written to the server's ring, at the same places. */
    MemorySegment out() {
        return out;
    }

    /** The client's own ring. */
    MemorySegment in() {
        return in;
    }

    Endpoint endpoint() {
        return queuePair.endpoint();
    }

    long responseAddress() {
        return responses.address();
    }

    int responseKey() {
        return responses.remoteKey();
    }

    /** @throws VerbsException where the device refuses */
    void connect(Endpoint server, long ringAddress, int ringKey) {
        this.ringAddress = ringAddress;
        this.ringKey = ringKey;
        queuePair.connect(server);
        queuePair.postReceive(RECEIVE_ID);
    }

    boolean failed() {
        return failed;
    }

    /** Nothing is sent any more. */
    void fail() {
        failed = true;
        queuePair.fail();
    }

    /** Whether the send queue has room for a batch, beside a control word. */
    boolean hasRoom() {
        return inSendQueue < sendDepth - 1;
    }

    boolean isSending() {
        return inSendQueue > 0;
    }

    /** Whether a control word is on its way. */
    boolean isControlling() {
        return controlling;
    }

    /** Whether a control word may be written. */
    boolean canControl() {
        return !controlling && inSendQueue < sendDepth;
    }

    /** Whether a wake-up was asked for and has not come. */
    boolean isNotifying() {
        return notifying;
    }

    /**
     * Sends a batch, and rings the bell with it where the server sleeps.
     *
     * @param notify whether the batch asks for a wake-up
     * @return false where the device refused
     */
    boolean send(int slot, long where, int bytes, boolean notify) {
        long asleep = in.get(JAVA_LONG, RingShape.ASLEEP);
        boolean ring = notify || wantsBell(asleep);
        if (ring) {
            rungFor = asleep;
            notifying |= notify;
        }
        return post(slot, ring ? SendRequests.WRITE_WITH_IMMEDIATE : SendRequests.WRITE, where, bytes);
    }

    private boolean wantsBell(long asleep) {
        return (asleep & 1) != 0 && asleep != rungFor;
    }

    /** @return false where the device refused */
    boolean ringIfAsleep() {
        long asleep = in.get(JAVA_LONG, RingShape.ASLEEP);
        if (!wantsBell(asleep) || !canControl()) {
            return true;
        }
        rungFor = asleep;
        return control(SendRequests.WRITE_WITH_IMMEDIATE, RingShape.BELL);
    }

    /** @return false where the device refused */
    boolean probe() {
        return control(SendRequests.WRITE, RingShape.PROBE);
    }

    /**
     * Says that the client is about to sleep, with an immediate, which wakes the server's thread where it sleeps.
     *
     * @param messages how many of the server's were seen
     * @return false where the device refused
     */
    boolean want(long messages) {
        notifying = true;
        out.set(JAVA_LONG, RingShape.WANTED, ++asks << WANTED_SHIFT | messages & 0xFFFFFFFFL);
        return control(SendRequests.WRITE_WITH_IMMEDIATE, RingShape.WANTED);
    }

    private boolean control(int opcode, long where) {
        controlling = true;
        return post(slots, opcode, where, Long.BYTES);
    }

    private boolean post(int request, int opcode, long where, int bytes) {
        boolean control = request == slots;
        int flags = bytes <= queuePair.inlineBytes() ? SendRequests.INLINE : 0;
        if (++unsignaled >= signalEvery || control) {
            flags |= SendRequests.SIGNALED;
            // Its completion says that those before it have completed.
            requests.id(request, unsignaled | (control ? CONTROL_ID : 0));
            unsignaled = 0;
        }
        inSendQueue++;
        requests.prepare(
                request,
                opcode,
                flags,
                staged.address() + where,
                bytes,
                staged.localKey(),
                ringAddress + where,
                ringKey);
        int error = control ? queuePair.postUnbounded(requests, request) : queuePair.post(requests, request, bytes);
        return error == 0;
    }

    /**
     * Takes completions: room in the send queue, wake-ups.
     *
     * @return false where one is an error
     */
    boolean reap() {
        boolean sound = true;
        int polled = completions.poll();
        for (int i = 0; i < polled; i++) {
            long id = completions.id(i);
            if (completions.status(i) != WcStatus.SUCCESS) {
                sound = false;
            } else if (id == RECEIVE_ID) {
                notifying = false;
                if (sound && !failed) {
                    queuePair.postReceive(RECEIVE_ID);
                }
            } else {
                inSendQueue -= (int) id;
                controlling &= id < CONTROL_ID;
            }
        }
        return sound;
    }

    /** Asks for one event on the channel at the next completion. */
    void requestNotification() {
        completions.requestNotification();
    }

    @Override
    public void close() {
        failed = true;
        Closing.all(queuePair, responses, staged, requests, completions, domain);
    }
}
