package io.farheap.server.pull;

import io.farheap.coding.Coder;
import io.farheap.coding.ErasureCode;
import io.farheap.control.plane.PullResult;
import io.farheap.control.plane.PullSource;
import io.farheap.control.plane.RebuildPlan;
import io.farheap.lifetime.Closeables;
import io.farheap.memory.RegisteredMemory;
import io.farheap.verbs.Access;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.Context;
import io.farheap.verbs.Endpoint;
import io.farheap.verbs.ProtectionDomain;
import io.farheap.verbs.QueuePair;
import io.farheap.verbs.SendRequests;
import io.farheap.verbs.WcStatus;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Rebuilds a region from splits of an erasure code on other servers: reads a piece of each split, and decodes them into
 * the region when all have arrived. Further pieces are in flight while one is decoded.
 */
public final class RegionRebuild extends RegionFill {

    private static final int PIECES_IN_FLIGHT = 4;
    private static final int MOST_STAGING_BYTES = 4 << 20;

    private static final int ALIGNMENT = 64;

    private final RebuildPlan plan;
    private final MemorySegment into;
    private final int sources;
    private final int present;
    private final int maxPieceBytes;
    private final ProtectionDomain domain;
    /** Length of the piece in each slot, and the number of sources whose split of it has not arrived yet. */
    private final int[] lengths = new int[PIECES_IN_FLIGHT];

    private final int[] missing = new int[PIECES_IN_FLIGHT];
    /** Addresses of splits, for the coder. */
    private final long[] addresses;

    private final QueuePair[] queuePairs;
    private final PullSource[] opened;
    private SendRequests requests;
    private CompletionQueue completions;
    private RegisteredMemory staging;
    private Coder coder;

    /**
     * @param plan that was checked
     * @param pieceBytes that the client asks for; the actual piece may be smaller
     */
    public RegionRebuild(Context context, MemorySegment into, RebuildPlan plan, int pieceBytes) {
        this.plan = plan;
        this.into = into;
        this.sources = plan.sources().size();
        this.present = plan.present();
        this.addresses = new long[plan.dataSplits() + plan.paritySplits()];
        this.queuePairs = new QueuePair[sources];
        this.opened = new PullSource[sources];
        this.maxPieceBytes = (int) Math.min(
                stagingBytes(sources, pieceBytes) / (PIECES_IN_FLIGHT * sources),
                context.requireActivePort().maxMessageBytes());
        int reads = PIECES_IN_FLIGHT * sources;
        domain = context.allocateProtectionDomain();
        try {
            requests = new SendRequests(reads);
            completions = context.createCompletionQueue(reads, reads, null);
            for (int i = 0; i < sources; i++) {
                queuePairs[i] = domain.createQueuePair(completions, PIECES_IN_FLIGHT, 0);
            }
            staging = RegisteredMemory.allocate(
                    domain, "farheap-rebuild", (long) reads * maxPieceBytes, Access.LOCAL_WRITE);
            coder = new Coder(ErasureCode.of(plan.dataSplits(), plan.paritySplits()));
        } catch (Throwable e) {
            Closeables.after(e, this);
            throw e;
        }
    }

    /** Most bytes of splits that are in flight, or have arrived and are not decoded. */
    public static int stagingBytes(int sources, int pieceBytes) {
        int pieces = PIECES_IN_FLIGHT * sources;
        int fits = MOST_STAGING_BYTES / pieces / ALIGNMENT * ALIGNMENT;
        int wanted = Math.clamp(pieceBytes, ALIGNMENT, fits);
        return pieces * (wanted / ALIGNMENT * ALIGNMENT);
    }

    @Override
    public Endpoint endpoint(int source) {
        return queuePairs[source].endpoint();
    }

    @Override
    public void connect(int source, PullSource region) {
        if (region.length() < Long.BYTES) {
            throw failed("a source's region has " + region.length() + " bytes");
        }
        queuePairs[source].connect(region.source());
        opened[source] = region;
        read(queuePairs[source], requests, source, staging.address(), staging.localKey(), region, 0, Long.BYTES);
        long postedAt = System.nanoTime();
        while (completions.poll() == 0) {
            awaitRead(postedAt);
        }
        requireRead(0);
    }

    private void requireRead(int completion) {
        int status = completions.status(completion);
        if (status != WcStatus.SUCCESS) {
            throw failed("a read of " + plan.sources().get((int) completions.id(completion) % sources) + " ended in \""
                    + WcStatus.describe(status) + "\"");
        }
    }

    @Override
    public PullResult run(@Nullable CopyPace given) {
        CopyPace pace = Objects.requireNonNull(given);
        for (int i = 0; i < sources; i++) {
            if (pace.end() > opened[i].length()) {
                throw failed("the region of " + plan.sources().get(i) + " has " + opened[i].length()
                        + " bytes, and it is to be read up to " + pace.end());
            }
        }
        try {
            pace.begin();
            PullResult result = rebuild(pace, Math.min(pace.pieceBytes(), maxPieceBytes));
            pace.finish();
            return result;
        } finally {
            // Late reads end up in the staging memory.
            letGo();
        }
    }

    private PullResult rebuild(CopyPace pace, int pieceBytes) {
        long started = System.nanoTime();
        long progressAt = started;
        long allowed = pace.offset();
        long posted = allowed;
        long made = allowed;
        int head = 0;
        int inFlight = 0;
        while (made < pace.end()) {
            requireNotCancelled();
            if (posted == allowed) {
                allowed = pace.cleared();
            }
            if (posted < allowed && inFlight < PIECES_IN_FLIGHT) {
                int slot = (head + inFlight) % PIECES_IN_FLIGHT;
                lengths[slot] = (int) Math.min(pieceBytes, allowed - posted);
                ask(slot, posted);
                posted += lengths[slot];
                inFlight++;
            }
            poll();
            if (inFlight > 0 && missing[head] == 0) {
                decode(head, made);
                made += lengths[head];
                head = (head + 1) % PIECES_IN_FLIGHT;
                inFlight--;
                progressAt = System.nanoTime();
                pace.copied(made);
            } else if (inFlight == PIECES_IN_FLIGHT || inFlight > 0 && posted == allowed) {
                awaitRead(progressAt);
            } else if (inFlight == 0 && posted == allowed) {
                pace.await(progressAt);
            }
        }
        return new PullResult(pace.end() - pace.offset(), System.nanoTime() - started);
    }

    private long staged(int slot, int source) {
        return staging.address() + (long) (slot * sources + source) * maxPieceBytes;
    }

    private void ask(int slot, long at) {
        for (int i = 0; i < sources; i++) {
            read(
                    queuePairs[i],
                    requests,
                    slot * sources + i,
                    staged(slot, i),
                    staging.localKey(),
                    opened[i],
                    at,
                    lengths[slot]);
        }
        missing[slot] = sources;
    }

    private void poll() {
        int polled = completions.poll();
        for (int i = 0; i < polled; i++) {
            requireRead(i);
            missing[(int) completions.id(i) / sources]--;
        }
    }

    private void decode(int slot, long at) {
        for (int i = 0; i < sources; i++) {
            addresses[plan.sources().get(i).split()] = staged(slot, i);
        }
        addresses[plan.split()] = into.address() + at;
        if (!coder.agree(addresses, lengths[slot], present)) {
            throw failed("splits disagree between bytes " + at + " and " + (at + lengths[slot]));
        }
        coder.recover(addresses, lengths[slot], present, 1 << plan.split());
        // The coder may use non-temporal stores, which later stores do not wait for by themselves.
        VarHandle.fullFence();
    }

    /** If it was running, it has ended. */
    @Override
    public void close() {
        letGo();
        Closeables.all(() -> Closeables.all(queuePairs), staging, completions, requests, domain, coder);
    }
}
