package io.farheap.rpc.batch;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.lifetime.Closeables;
import io.farheap.memory.RegisteredMemory;
import io.farheap.rpc.RingShape;
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
 * The client's queue pair to a server's message ring, and the memory of both of its rings. It writes batches and
 * control words from the staged ring to the same offsets of the server's ring, and counts the send queue. One control
 * word is in flight at a time, since they share one work request; one wake-up is outstanding at a time, since there is
 * one receive.
 *
 * <p>If a method returns that the device refused, the connection has failed, and the owner calls {@link #fail}. One
 * thread at a time.
 */
final class RingWriter implements AutoCloseable {

    private static final int WANTED_SHIFT = 32;
    private final int slots;
    private final ProtectionDomain domain;
    private RingQueuePair posts;
    private RegisteredMemory staged;
    private RegisteredMemory responses;
    private MemorySegment out;
    private MemorySegment in;

    private boolean controlling;
    private boolean notifying;
    /** The server's sleep word for which the client has rung last. */
    private long rungFor;

    private long asks;

    RingWriter(Context context, @Nullable CompletionChannel channel, RingShape shape, int inlineBytes) {
        this.slots = shape.slots();
        this.domain = context.allocateProtectionDomain();
        try {
            posts = new RingQueuePair(context, domain, channel, slots, 1, inlineBytes);
            staged = RegisteredMemory.allocate(domain, "farheap-batches", shape.requestRingBytes(), Access.LOCAL_WRITE);
            responses = RegisteredMemory.allocate(
                    domain, "farheap-answers", shape.responseRingBytes(), Access.LOCAL_WRITE | Access.REMOTE_WRITE);
            out = staged.segment();
            in = responses.segment();
        } catch (Throwable e) {
            Closeables.after(e, this);
            throw e;
        }
    }

    /** The staged ring, which is written to the same offsets of the server's ring. */
    MemorySegment out() {
        return out;
    }

    /** The client's own ring. */
    MemorySegment in() {
        return in;
    }

    Endpoint endpoint() {
        return posts.endpoint();
    }

    long responseAddress() {
        return responses.address();
    }

    int responseKey() {
        return responses.remoteKey();
    }

    /** @throws VerbsException if the device refuses the server's end */
    void connect(Endpoint server, long ringAddress, int ringKey) {
        posts.connect(server, staged, ringAddress, ringKey);
    }

    boolean failed() {
        return posts.failed();
    }

    /** Fails the queue pair; nothing is sent any more. */
    void fail() {
        posts.fail();
    }

    /** Whether the send queue has room for a batch, and for a control word beside it. */
    boolean hasRoom() {
        return posts.room() > 1;
    }

    boolean isSending() {
        return posts.isSending();
    }

    /** Whether a control word is in flight. */
    boolean isControlling() {
        return controlling;
    }

    /** Whether a control word may be posted. */
    boolean canControl() {
        return !controlling && posts.room() > 0;
    }

    /** Whether a wake-up was asked for and has not arrived. */
    boolean isNotifying() {
        return notifying;
    }

    /**
     * Sends a batch, with an immediate that rings the bell if the server thread sleeps.
     *
     * @param notify whether the batch asks for a wake-up
     * @return false if the device refused
     */
    boolean send(int slot, long where, int bytes, boolean notify) {
        long asleep = in.get(JAVA_LONG, RingShape.ASLEEP);
        boolean ring = notify || wantsBell(asleep);
        if (ring) {
            rungFor = asleep;
            notifying |= notify;
        }
        return posts.post(slot, ring ? SendRequests.WRITE_WITH_IMMEDIATE : SendRequests.WRITE, where, bytes, true) == 0;
    }

    private boolean wantsBell(long asleep) {
        return (asleep & 1) != 0 && asleep != rungFor;
    }

    /** @return false if the device refused */
    boolean ringIfAsleep() {
        long asleep = in.get(JAVA_LONG, RingShape.ASLEEP);
        if (!wantsBell(asleep) || !canControl()) {
            return true;
        }
        rungFor = asleep;
        return control(SendRequests.WRITE_WITH_IMMEDIATE, RingShape.BELL);
    }

    /** @return false if the device refused */
    boolean probe() {
        return control(SendRequests.WRITE, RingShape.PROBE);
    }

    /**
     * Writes the wanted word: the client is about to sleep. The immediate wakes the server thread if it sleeps.
     *
     * @param messages how many messages of the server the client has seen
     * @return false if the device refused
     */
    boolean want(long messages) {
        notifying = true;
        out.set(JAVA_LONG, RingShape.WANTED, ++asks << WANTED_SHIFT | messages & 0xFFFFFFFFL);
        return control(SendRequests.WRITE_WITH_IMMEDIATE, RingShape.WANTED);
    }

    private boolean control(int opcode, long where) {
        controlling = true;
        return posts.post(slots, opcode, where, Long.BYTES, false) == 0;
    }

    /**
     * Takes completions: of sends, which makes room in the send queue, and of wake-ups.
     *
     * @return false if one is an error
     */
    boolean reap() {
        boolean sound = posts.reap() == WcStatus.SUCCESS;
        notifying &= !posts.takeReceived();
        controlling &= !posts.takeControlled();
        return sound;
    }

    /** Makes the next completion raise one event on the channel. */
    void requestNotification() {
        posts.requestNotification();
    }

    @Override
    public void close() {
        Closeables.all(posts, responses, staged, domain);
    }
}
