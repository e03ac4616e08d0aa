package io.farheap.server.pull;

import io.farheap.control.plane.PullPace;
import io.farheap.control.plane.PullResult;
import io.farheap.control.plane.PullSource;
import io.farheap.lifetime.Closeables;
import io.farheap.memory.RegisteredMemory;
import io.farheap.verbs.Access;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.Context;
import io.farheap.verbs.Endpoint;
import io.farheap.verbs.MemoryRegion;
import io.farheap.verbs.ProtectionDomain;
import io.farheap.verbs.QueuePair;
import io.farheap.verbs.SendRequests;
import io.farheap.verbs.WcStatus;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Fills a region by copying another server's region of the same length. */
public final class RegionCopy extends RegionFill {

    private static final int READS_IN_FLIGHT = 8;
    private static final long PIECE_BYTES = 1 << 20;

    private final ProtectionDomain domain;
    private final int maxPieceBytes;
    /** Length of the read in each slot. */
    private final int[] lengths = new int[READS_IN_FLIGHT];

    private SendRequests requests;
    private CompletionQueue completions;
    private QueuePair queuePair;
    private MemoryRegion registration;
    private RegisteredMemory scratch;
    /** Null until it is connected. */
    private @Nullable PullSource source;

    public RegionCopy(Context context, MemorySegment into) {
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
            Closeables.after(e, this);
            throw e;
        }
    }

    @Override
    public Endpoint endpoint(int only) {
        return queuePair.endpoint();
    }

    @Override
    public void connect(int only, PullSource opened) {
        if (opened.length() != registration.bytes()) {
            throw failed("the source's region has " + opened.length() + " bytes and this one " + registration.bytes()
                    + "; both servers must donate regions of one size");
        }
        queuePair.connect(opened.source());
        source = opened;
        read(opened, scratch.address(), scratch.localKey(), 0, Long.BYTES, Long.BYTES, null);
    }

    @Override
    public PullResult run(@Nullable CopyPace pace) {
        PullSource from = Objects.requireNonNull(source);
        long into = registration.address();
        int localKey = registration.localKey();
        if (pace == null) {
            int piece = (int) Math.min(PIECE_BYTES, maxPieceBytes);
            return read(from, into, localKey, 0, registration.bytes(), piece, null);
        }
        pace.begin();
        int piece = Math.min(pace.pieceBytes(), maxPieceBytes);
        PullResult result = read(from, into, localKey, pace.offset(), pace.end(), piece, pace);
        pace.finish();
        return result;
    }

    /** @param pace gives how far the copy may go, and receives how far it has come; null to copy at once */
    private PullResult read(
            PullSource region, long into, int localKey, long from, long to, int pieceBytes, @Nullable CopyPace pace) {
        long started = System.nanoTime();
        long progressAt = started;
        long allowed = pace == null ? to : from;
        long posted = from;
        long completed = from;
        int head = 0;
        int inFlight = 0;
        while (completed < to) {
            requireNotCancelled();
            if (posted == allowed && pace != null) {
                allowed = pace.cleared();
            }
            if (posted < allowed && inFlight < READS_IN_FLIGHT) {
                int slot = (head + inFlight) % READS_IN_FLIGHT;
                lengths[slot] = (int) Math.min(pieceBytes, allowed - posted);
                read(queuePair, requests, slot, into + posted, localKey, region, posted, lengths[slot]);
                posted += lengths[slot];
                inFlight++;
            }
            int polled = completions.poll();
            for (int i = 0; i < polled; i++) {
                if (completions.status(i) != WcStatus.SUCCESS) {
                    throw failed("a read ended in \"" + WcStatus.describe(completions.status(i)) + "\"");
                }
                // A queue pair completes its reads in order.
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
                awaitRead(progressAt);
            } else if (pace != null && inFlight == 0 && posted == allowed) {
                pace.await(progressAt);
            }
        }
        return new PullResult(to - from, System.nanoTime() - started);
    }

    @Override
    public void close() {
        Closeables.all(this::endReads, scratch, completions, requests, domain);
    }

    private void endReads() {
        Closeables.all(queuePair, registration);
        letGo();
    }
}
