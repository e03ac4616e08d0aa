package io.farheap.rpc.message;

import io.farheap.lifetime.Closeables;
import io.farheap.memory.RegisteredMemory;
import io.farheap.verbs.CompletionChannel;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.Context;
import io.farheap.verbs.Endpoint;
import io.farheap.verbs.ProtectionDomain;
import io.farheap.verbs.QueuePair;
import io.farheap.verbs.SendRequests;
import io.farheap.verbs.VerbsException;
import io.farheap.verbs.WcStatus;
import org.jspecify.annotations.Nullable;

/**
 * One end's queue pair of a pair of message rings: it writes parts of a local ring to the same offsets of the other
 * end's ring, counts its send queue, and keeps one receive posted, for immediates. One thread at a time.
 */
public final class RingQueuePair implements AutoCloseable {

    /** Work requests that batches leave free, for control words. */
    public static final int RESERVED = 2;

    private static final int COMPLETION_BATCH = 16;
    /**
     * Ids of completions. A send's id is the number of requests that have left the send queue with it, plus a flag for
     * control words; the receive has an id of its own.
     */
    private static final long CONTROL_ID = 1L << 32;

    private static final long RECEIVE_ID = -1;

    private final int slots;
    private final int sendDepth;
    private final int signalEvery;
    private CompletionQueue completions;
    private QueuePair queuePair;
    private SendRequests requests;
    private long localAddress;
    private int localKey;
    private long remoteAddress;
    private int remoteKey;

    private int inSendQueue;
    private int unsignaled;
    private boolean failed;
    private boolean received;
    private boolean controlled;

    /**
     * @param slots number of slots; the batch of each has a work request of its own
     * @param more number of further work requests, which are always signaled
     * @param inlineBytes the most bytes that should travel in the work request
     */
    public RingQueuePair(
            Context context,
            ProtectionDomain domain,
            @Nullable CompletionChannel channel,
            int slots,
            int more,
            int inlineBytes) {
        this.slots = slots;
        sendDepth = Math.min(slots + RESERVED, context.limits().maxQueuePairRequests());
        signalEvery = Math.max(1, sendDepth / 4);
        try {
            completions = context.createCompletionQueue(sendDepth + 2, COMPLETION_BATCH, channel);
            queuePair = domain.createQueuePair(completions, sendDepth, inlineBytes);
            requests = new SendRequests(slots + more);
        } catch (Throwable e) {
            Closeables.after(e, this);
            throw e;
        }
    }

    public Endpoint endpoint() {
        return queuePair.endpoint();
    }

    /**
     * @param from the local ring
     * @throws VerbsException if the device refuses the other end
     */
    public void connect(Endpoint other, RegisteredMemory from, long address, int key) {
        localAddress = from.address();
        localKey = from.localKey();
        remoteAddress = address;
        remoteKey = key;
        queuePair.connect(other);
        queuePair.postReceive(RECEIVE_ID);
    }

    /**
     * Moves the queue pair to the error state: requests in flight fail, and so do those that the other end posts later.
     */
    public void fail() {
        failed = true;
        queuePair.fail();
    }

    /** Whether the queue pair has failed, and nothing may be posted. */
    public boolean failed() {
        return failed;
    }

    /** How many work requests may be posted. */
    public int room() {
        return sendDepth - inSendQueue;
    }

    public boolean isSending() {
        return inSendQueue > 0;
    }

    /**
     * Writes a part of the ring to the other end. There must be {@link #room}.
     *
     * @param request which work request: that of a slot, or one of those behind them
     * @param opcode WRITE, or WRITE with an immediate
     * @param where offset of the part in both rings
     * @param bounded whether the native call is bounded, so that it may be a critical one
     * @return errno if the device refused, else 0
     */
    public int post(int request, int opcode, long where, int bytes, boolean bounded) {
        int flags = bytes <= queuePair.inlineBytes() ? SendRequests.INLINE : 0;
        boolean control = request >= slots;
        if (++unsignaled >= signalEvery || control) {
            flags |= SendRequests.SIGNALED;
            // Its completion also says that the unsignaled requests before it have completed.
            requests.id(request, unsignaled | (control ? CONTROL_ID : 0));
            unsignaled = 0;
        }
        inSendQueue++;
        requests.prepare(
                request, opcode, flags, localAddress + where, bytes, localKey, remoteAddress + where, remoteKey);
        return bounded ? queuePair.post(requests, request, bytes) : queuePair.postUnbounded(requests, request);
    }

    /**
     * Takes completions.
     *
     * @return the status of the first that is an error, else {@link WcStatus#SUCCESS}
     */
    public int reap() {
        int sound = WcStatus.SUCCESS;
        // Until the queue is empty: a completion that stays behind raises no event.
        for (int polled = COMPLETION_BATCH; polled == COMPLETION_BATCH; ) {
            polled = completions.poll();
            sound = take(polled, sound);
        }
        return sound;
    }

    private int take(int polled, int before) {
        int sound = before;
        for (int i = 0; i < polled; i++) {
            long id = completions.id(i);
            if (completions.status(i) != WcStatus.SUCCESS) {
                sound = sound == WcStatus.SUCCESS ? completions.status(i) : sound;
            } else if (id == RECEIVE_ID) {
                received = true;
                if (sound == WcStatus.SUCCESS && !failed) {
                    queuePair.postReceive(RECEIVE_ID);
                }
            } else {
                inSendQueue -= (int) id;
                controlled |= id >= CONTROL_ID;
            }
        }
        return sound;
    }

    /** Whether an immediate has arrived since the last call. */
    public boolean takeReceived() {
        boolean was = received;
        received = false;
        return was;
    }

    /** Whether one of the further work requests has completed since the last call. */
    public boolean takeControlled() {
        boolean was = controlled;
        controlled = false;
        return was;
    }

    /** Makes the next completion raise one event on the channel. */
    public void requestNotification() {
        completions.requestNotification();
    }

    /** May be called again if it throws because the device is busy. */
    @Override
    public void close() {
        failed = true;
        Closeables.all(queuePair, requests, completions);
    }
}
