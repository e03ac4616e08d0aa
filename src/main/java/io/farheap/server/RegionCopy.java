package io.farheap.server;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.PullPace;
import io.farheap.control.PullResult;
import io.farheap.control.PullSource;
import io.farheap.lifetime.Closing;
import io.farheap.memory.RegisteredMemory;
import io.farheap.verbs.Access;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.Context;
import io.farheap.verbs.Endpoint;
import io.farheap.verbs.MemoryRegion;
import io.farheap.verbs.ProtectionDomain;
import io.farheap.verbs.QueuePair;
import io.farheap.verbs.SendRequests;
import io.farheap.verbs.VerbsException;
import io.farheap.verbs.WcStatus;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The new server's end of a pull: fills a region with one-sided READs, several in flight. One thread makes, runs and
 * closes it; another may {@link #cancel} it.
 */
final class RegionCopy implements AutoCloseable {

    private static final int READS_IN_FLIGHT = 8;
    private static final long PIECE_BYTES = 1 << 20;
    private static final long STALL_NANOS = 10_000_000_000L;
    private static final long CANCEL_MILLIS = 100;

    private final ProtectionDomain domain;
    private final int maxPieceBytes;
    /** Of the read in each slot. */
    private final int[] lengths = new int[READS_IN_FLIGHT];

    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile boolean cancelled;
    private SendRequests requests;
    private CompletionQueue completions;
    private QueuePair queuePair;
    private MemoryRegion registration;
    private RegisteredMemory scratch;

    RegionCopy(Context context, MemorySegment into) {
        maxPieceBytes = (int)
                Math.min(PullPace.MAX_PIECE_BYTES, context.requireActivePort().maxMessageBytes());
        domain = context.allocateProtectionDomain();
        try {
            requests = new SendRequests(READS_IN_FLIGHT);
            completions = context.createCompletionQueue(READS_IN_FLIGHT, READS_IN_FLIGHT, null);
            queuePair = domain.createQueuePair(completions, READS_IN_FLIGHT, 0);
            registration = domain.register(into, Access.LOCAL_WRITE);
            scratch = RegisteredMemory.allocate(domain, "farheap-pull", Long.BYTES, Access.LOCAL_WRITE);
        } catch (Throwable e) {
            Closing.after(e, this);
            throw e;
        }
    }

    Endpoint endpoint() {
        return queuePair.endpoint();
    }

    /**
     * Connects to the source, and reads a little of it: a device that maps a peer's memory on first use does it now.
     *
     * @throws ControlException PULL_FAILED where the source cannot be read, or its region has another length
     */
    void connect(PullSource source) {
        if (source.length() != registration.bytes()) {
            throw failed("the source's region has " + source.length() + " bytes and this one " + registration.bytes()
                    + "; both servers must donate regions of one size");
        }
        try {
            queuePair.connect(source.source());
            // Not into the region: until the lease knows of this copy, it may be given back and granted to another.
            read(source, scratch.address(), scratch.localKey(), Long.BYTES);
        } catch (VerbsException e) {
            throw new ControlException(Code.PULL_FAILED, e.getMessage(), e);
        }
    }

    /**
     * Reads all of the region at once.
     *
     * @throws ControlException PULL_FAILED; the region's content is then undefined
     */
    PullResult run(PullSource source) {
        try {
            return read(source, registration.address(), registration.localKey(), registration.bytes());
        } catch (VerbsException e) {
            throw new ControlException(Code.PULL_FAILED, e.getMessage(), e);
        }
    }

    /**
     * Reads the region from the pace's offset on, as the client clears it.
     *
     * @throws ControlException PULL_FAILED
     */
    PullResult run(PullSource source, CopyPace pace) {
        try {
            pace.begin();
            PullResult result = read(
                    source,
                    registration.address(),
                    registration.localKey(),
                    pace.offset(),
                    pace.end(),
                    Math.min(pace.pieceBytes(), maxPieceBytes),
                    pace);
            pace.finish();
            return result;
        } catch (VerbsException e) {
            throw new ControlException(Code.PULL_FAILED, e.getMessage(), e);
        }
    }

    private PullResult read(PullSource source, long into, int localKey, long bytes) {
        return read(source, into, localKey, 0, bytes, (int) Math.min(PIECE_BYTES, maxPieceBytes), null);
    }

    /** @param pace says how far the copy may go, and is told how far it has come; null for one that goes at once */
    private PullResult read(
            PullSource source, long into, int localKey, long from, long to, int pieceBytes, @Nullable CopyPace pace) {
        long started = System.nanoTime();
        long progressAt = started;
        long allowed = pace == null ? to : from;
        long posted = from;
        long completed = from;
        int head = 0;
        int inFlight = 0;
        while (completed < to) {
            if (cancelled) {
                throw failed("the region was given back, or its lease ended, during the copy");
            }
            if (posted == allowed && pace != null) {
                allowed = pace.cleared();
            }
            if (posted < allowed && inFlight < READS_IN_FLIGHT) {
                int slot = (head + inFlight) % READS_IN_FLIGHT;
                lengths[slot] = (int) Math.min(pieceBytes, allowed - posted);
                post(slot, source, into, localKey, posted, lengths[slot]);
                posted += lengths[slot];
                inFlight++;
            }
            int polled = completions.poll();
            for (int i = 0; i < polled; i++) {
                if (completions.status(i) != WcStatus.SUCCESS) {
                    throw failed("a read ended in \"" + WcStatus.describe(completions.status(i)) + "\"");
                }
                // One queue pair completes in order.
                completed += lengths[head];
                head = (head + 1) % READS_IN_FLIGHT;
                inFlight--;
            }
            if (polled > 0) {
                progressAt = System.nanoTime();
                if (pace != null) {
                    pace.copied(completed);
                }
            } else if (inFlight > 0 && (inFlight == READS_IN_FLIGHT || posted == allowed)) {
                await(progressAt);
            } else if (pace != null && inFlight == 0 && posted == allowed) {
                pace.await(progressAt);
            }
        }
        return new PullResult(to - from, System.nanoTime() - started);
    }

    private void post(int slot, PullSource source, long into, int localKey, long at, int length) {
        requests.prepare(
                slot,
                SendRequests.READ,
                SendRequests.SIGNALED,
                into + at,
                length,
                localKey,
                source.remoteAddress() + at,
                source.rkey());
        int error = queuePair.postUnbounded(requests, slot);
        if (error != 0) {
            throw new VerbsException("cannot post a read", error);
        }
    }

    private static void await(long progressAt) {
        if (System.nanoTime() - progressAt > STALL_NANOS) {
            throw failed("no read has completed for " + STALL_NANOS / 1_000_000_000L + " s");
        }
        Thread.onSpinWait();
    }

    private static ControlException failed(String why) {
        return new ControlException(Code.PULL_FAILED, why);
    }

    /**
     * Stops the copy. Bounded.
     *
     * @return whether nothing of it can reach the region any more. Only for a copy that is running, or was
     */
    boolean cancel() {
        cancelled = true;
        try {
            return ended.await(CANCEL_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return ended.getCount() == 0;
        }
    }

    /** May be called again, as long as the device is busy. */
    @Override
    public void close() {
        Closing.all(this::letGo, scratch, completions, requests, domain);
    }

    /** Nothing is written to the region after it. */
    private void letGo() {
        Closing.all(queuePair, registration);
        ended.countDown();
    }
}
