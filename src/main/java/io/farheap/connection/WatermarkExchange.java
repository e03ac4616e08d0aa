package io.farheap.connection;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.lifetime.Closeables;
import io.farheap.memory.RegisteredMemory;
import io.farheap.verbs.Access;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.Context;
import io.farheap.verbs.Endpoint;
import io.farheap.verbs.ProtectionDomain;
import io.farheap.verbs.QueuePair;
import io.farheap.verbs.SendRequests;
import io.farheap.verbs.VerbsException;
import io.farheap.verbs.WcStatus;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * Two processes tell each other their progress without messages. Each has a word that only the other writes, with an
 * RDMA WRITE over a queue pair of their own, and that its owner polls. The queue pair has a protection domain of its
 * own, so that the peer reaches the word and nothing else; the owner must check what it finds there.
 *
 * <p>One thread at a time.
 */
public final class WatermarkExchange implements AutoCloseable {

    /** The most marks in flight. */
    private static final int DEPTH = 16;
    /** The peer's mark has a cache line of its own; behind it lie the own marks, until the device has fetched them. */
    private static final long OWN = 64;

    private static final VarHandle WORD = JAVA_LONG.varHandle();
    private static final long TIMEOUT_NANOS = 10_000_000_000L;

    private final ProtectionDomain domain;
    private CompletionQueue completions;
    private RegisteredMemory memory;
    private QueuePair queuePair;
    private SendRequests requests;
    private int flags;
    private long peerAddress;
    private int peerKey;
    private long told;
    private long completed;

    /** @param mark the value of {@link #theirs} until the peer writes its first mark */
    public WatermarkExchange(Context context, long mark) {
        domain = context.allocateProtectionDomain();
        try {
            completions = context.createCompletionQueue(DEPTH, DEPTH, null);
            memory = RegisteredMemory.allocate(
                    domain, "farheap-marks", OWN + DEPTH * Long.BYTES, Access.LOCAL_WRITE | Access.REMOTE_WRITE);
            queuePair = domain.createQueuePair(completions, DEPTH, Long.BYTES);
            requests = new SendRequests(DEPTH);
            flags = SendRequests.SIGNALED | (queuePair.inlineBytes() >= Long.BYTES ? SendRequests.INLINE : 0);
            WORD.setRelease(memory.segment(), 0L, mark);
        } catch (Throwable e) {
            Closeables.after(e, this);
            throw e;
        }
    }

    /** The endpoint that the peer needs. */
    public Endpoint endpoint() {
        return queuePair.endpoint();
    }

    /** The address to which the peer writes its mark. */
    public long address() {
        return memory.address();
    }

    /** The rkey of that word. */
    public int remoteKey() {
        return memory.remoteKey();
    }

    /**
     * @param address the address of the peer's word for this end's marks
     * @throws VerbsException if the device refuses the peer's end
     */
    public void connect(Endpoint peer, long address, int remoteKey) {
        queuePair.connect(peer);
        peerAddress = address;
        peerKey = remoteKey;
    }

    /** The peer's latest mark, loaded with acquire: everything that the peer wrote here before that mark is visible. */
    public long theirs() {
        return (long) WORD.getAcquire(memory.segment(), 0L);
    }

    /**
     * Writes a mark to the peer.
     *
     * @throws VerbsException if the peer cannot be reached any more
     */
    public void tell(long mark) {
        check();
        await(DEPTH - 1);
        int slot = (int) (told % DEPTH);
        MemorySegment segment = memory.segment();
        long at = OWN + (long) slot * Long.BYTES;
        segment.set(JAVA_LONG, at, mark);
        requests.prepare(
                slot,
                SendRequests.WRITE,
                flags,
                memory.address() + at,
                Long.BYTES,
                memory.localKey(),
                peerAddress,
                peerKey);
        // Not bounded: the first mark makes a software device map the peer's word.
        int error = queuePair.postUnbounded(requests, slot);
        if (error != 0) {
            throw new VerbsException("cannot write a mark", error);
        }
        told++;
    }

    /**
     * Returns when all marks have arrived. Marks that have not arrived may never do so once this end is closed.
     *
     * @throws VerbsException as {@link #tell}
     */
    public void flush() {
        await(0);
    }

    /** Whether all marks had arrived at the last {@link #check}. */
    public boolean flushed() {
        return told == completed;
    }

    private void await(long onTheirWay) {
        long deadline = System.nanoTime() + TIMEOUT_NANOS;
        while (told - completed > onTheirWay) {
            if (System.nanoTime() - deadline > 0) {
                throw new VerbsException("the peer has not taken a mark for " + TIMEOUT_NANOS / 1_000_000_000L + " s");
            }
            Thread.onSpinWait();
            check();
        }
    }

    /**
     * Takes the completions of marks that have arrived.
     *
     * @throws VerbsException if a mark did not arrive
     */
    public void check() {
        int polled = completions.poll();
        for (int i = 0; i < polled; i++) {
            completed++;
            if (completions.status(i) != WcStatus.SUCCESS) {
                throw new VerbsException("a mark did not arrive: " + WcStatus.describe(completions.status(i)));
            }
        }
    }

    @Override
    public void close() {
        Closeables.all(queuePair, requests, memory, completions, domain);
    }
}
