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
 * One end's queue pair of message rings: writes what lies in a ring of its own to the same place of the other end's,
 * keeps count of its send queue, and has one receive posted, for immediates. One thread at a time.
 */
public final class RingQueuePair implements AutoCloseable {

    /** Work requests that are kept for others than batches. */
    public static final int RESERVED = 2;

    private static final int COMPLETION_BATCH = 16;
    /**
     * Ids of completions: how many requests have left the send queue with it, with a flag for control words; and the
     * receive's.
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
     * @param slots batches have a work request each
     * @param more work requests beside these, whose completions are always told
     * @param inlineBytes that the device takes with a work request
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
     * @param from its own ring
     * @throws VerbsException where the device refuses the other end
     */
    public void connect(Endpoint other, RegisteredMemory from, long address, int key) {
        localAddress = from.address();
        localKey = from.localKey();
        remoteAddress = address;
        remoteKey = key;
        queuePair.connect(other);
        queuePair.postReceive(RECEIVE_ID);
    }

    /** Lets all that is under way fail, and what the other end posts. */
    public void fail() {
        failed = true;
        queuePair.fail();
    }

    /** Whether nothing is to be posted any more. */
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
     * Writes a part of the ring, where there is {@link #room}.
     *
     * @param request which work request, of a slot or one of those behind them; it is in use until its completion
     * @param opcode WRITE, or with an immediate
     * @param where the part begins
     * @param bounded whether the native call is to be short enough for a critical one
     * @return errno where the device refused, else 0
     */
    public int post(int request, int opcode, long where, int bytes, boolean bounded) {
        int flags = bytes <= queuePair.inlineBytes() ? SendRequests.INLINE : 0;
        boolean control = request >= slots;
        if (++unsignaled >= signalEvery || control) {
            flags |= SendRequests.SIGNALED;
            // Its completion says that those before it have completed.
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
        // To the end: of what is left behind no event tells.
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

    /** Whether an immediate has come since this was asked last. */
    public boolean takeReceived() {
        boolean was = received;
        received = false;
        return was;
    }

    /** Whether a work request beside those of slots has completed since this was asked last. */
    public boolean takeControlled() {
        boolean was = controlled;
        controlled = false;
        return was;
    }

    /** Asks for one event on the channel at the next completion. */
    public void requestNotification() {
        completions.requestNotification();
    }

    /** May be called again, as long as the device is busy. */
    @Override
    public void close() {
        failed = true;
        Closeables.all(queuePair, requests, completions);
    }
}
