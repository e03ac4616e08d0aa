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
 * The client's queue pair to a server's message ring, and the memory of both of its rings: writes what is staged to the
 * same place of the server's, batches and control words, and keeps count of the send queue. One control word is on its
 * way at a time, for there is one work request for them; one wake-up too, for there is one receive.
 *
 * <p>Where a method says that the device refused, the connection has failed, and its owner calls {@link #fail}. One
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
    /** The server's asleep word when its bell was rung last. */
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

    /** What is written to the server's ring, at the same places. */
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

    /** @throws VerbsException where the device refuses */
    void connect(Endpoint server, long ringAddress, int ringKey) {
        posts.connect(server, staged, ringAddress, ringKey);
    }

    boolean failed() {
        return posts.failed();
    }

    /** Nothing is sent any more. */
    void fail() {
        posts.fail();
    }

    /** Whether the send queue has room for a batch, beside a control word. */
    boolean hasRoom() {
        return posts.room() > 1;
    }

    boolean isSending() {
        return posts.isSending();
    }

    /** Whether a control word is on its way. */
    boolean isControlling() {
        return controlling;
    }

    /** Whether a control word may be written. */
    boolean canControl() {
        return !controlling && posts.room() > 0;
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
        return posts.post(slot, ring ? SendRequests.WRITE_WITH_IMMEDIATE : SendRequests.WRITE, where, bytes, true) == 0;
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
        return posts.post(slots, opcode, where, Long.BYTES, false) == 0;
    }

    /**
     * Takes completions: room in the send queue, wake-ups.
     *
     * @return false where one is an error
     */
    boolean reap() {
        boolean sound = posts.reap() == WcStatus.SUCCESS;
        notifying &= !posts.takeReceived();
        controlling &= !posts.takeControlled();
        return sound;
    }

    /** Asks for one event on the channel at the next completion. */
    void requestNotification() {
        posts.requestNotification();
    }

    @Override
    public void close() {
        Closeables.all(posts, responses, staged, domain);
    }
}
