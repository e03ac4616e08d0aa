package io.farheap.cli;

import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.Completion;
import io.farheap.cache.Session;
import io.farheap.cache.Status;
import io.farheap.control.Connected;
import io.farheap.control.ControlClient;
import io.farheap.control.ControlPlane;
import io.farheap.control.Lease;
import io.farheap.control.RegionGrant;
import io.farheap.memory.RegisteredMemory;
import io.farheap.verbs.Access;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import io.farheap.verbs.ProtectionDomain;
import io.farheap.verbs.QueuePair;
import io.farheap.verbs.RawLoop;
import io.farheap.verbs.SendRequests;
import io.farheap.verbs.VerbsException;

import java.util.Arrays;

/**
 * One operation after another on one remote address: a C loop, the same loop in Java on {@code io.farheap.verbs}, and a cache's
 * session, taking turns. A turn is a few thousand operations under one pair of clock reads, which cost more than an operation.
 */
final class RawBench implements AutoCloseable {

    /** Medians over the turns, in ns per operation, and the 25th and 75th percentiles of the C loop's. */
    record Row(String operation, int size, double rawNanos, double rawLow, double rawHigh, double verbsNanos, double sessionNanos,
               double trackedNanos) {
    }

    private static final int WARM_UP_TURNS = 20;
    private static final int COPY_OPERATIONS = 2_000_000;
    private static final int MIN_OPERATIONS = 200;
    private static final int MAX_OPERATIONS = 4_000;
    private static final int INLINE_BYTES = 172;

    private final Cache cache;
    private final Cache tracked;
    private final Session session;
    private final Session trackedSession;
    private final Buffer buffer;
    private final Buffer trackedBuffer;

    private final ControlClient control;
    private final Lease lease;
    private final RegionGrant region;
    private final Context context;
    private final ProtectionDomain domain;
    private final CompletionQueue completions;
    private final QueuePair queuePair;
    private final RegisteredMemory local;
    private final SendRequests requests = new SendRequests(1);

    private boolean done;
    private final Completion onDone = (token, status) -> {
        if (status != Status.OK) {
            throw new VerbsException("an operation ended with " + Status.describe(status));
        }
        done = true;
    };

    /** @param server with at least three free regions, of at least {@code maxBytes} */
    RawBench(String server, int maxBytes) {
        cache = Cache.builder().capacity(maxBytes).servers(server).name("bench").create();
        tracked = Cache.builder().capacity(maxBytes).servers(server).name("bench-tracked").trackLatency(true).create();
        session = cache.openSession();
        trackedSession = tracked.openSession();
        buffer = cache.allocate(maxBytes);
        trackedBuffer = tracked.allocate(maxBytes);

        control = ControlClient.connect(server);
        control.hello(ControlPlane.PROTOCOL_VERSION);
        lease = control.openLease("bench-raw");
        region = control.allocate(lease.id(), 1).getFirst();
        context = Devices.open();
        domain = context.allocateProtectionDomain();
        completions = context.createCompletionQueue(4, 1, null);
        queuePair = domain.createQueuePair(completions, 2, INLINE_BYTES);
        Connected connected = control.connect(lease.id(), queuePair.endpoint());
        queuePair.connect(connected.server());
        local = RegisteredMemory.allocate(domain, "bench-raw", maxBytes, Access.LOCAL_WRITE);
    }

    Row measure(boolean write, int bytes, int turns) {
        int operations = Math.clamp(COPY_OPERATIONS / bytes, MIN_OPERATIONS, MAX_OPERATIONS);
        prepare(write, bytes);
        control.renewLease(lease.id());
        double[] raw = new double[turns];
        double[] verbs = new double[turns];
        double[] sessions = new double[turns];
        double[] trackedSessions = new double[turns];
        for (int turn = -WARM_UP_TURNS; turn < turns; turn++) {
            double rawNanos = (double) RawLoop.run(queuePair, completions, requests, 0, operations) / operations;
            double verbsNanos = verbs(bytes, operations);
            double sessionNanos = session(session, buffer, write, bytes, operations);
            double trackedNanos = session(trackedSession, trackedBuffer, write, bytes, operations);
            control.renewLease(lease.id());
            if (turn >= 0) {
                raw[turn] = rawNanos;
                verbs[turn] = verbsNanos;
                sessions[turn] = sessionNanos;
                trackedSessions[turn] = trackedNanos;
            }
        }
        return new Row(write ? "write" : "read", bytes, percentile(raw, 0.5), percentile(raw, 0.25), percentile(raw, 0.75),
            percentile(verbs, 0.5), percentile(sessions, 0.5), percentile(trackedSessions, 0.5));
    }

    String device() {
        return context.device().name() + " (" + context.library().name().toLowerCase() + ")";
    }

    private void prepare(boolean write, int bytes) {
        int flags = SendRequests.SIGNALED | (write && bytes <= INLINE_BYTES ? SendRequests.INLINE : 0);
        requests.prepare(0, write ? SendRequests.WRITE : SendRequests.READ, flags, local.address(), bytes, local.localKey(),
            region.remoteAddress(), region.rkey());
    }

    private double verbs(int bytes, int operations) {
        long start = System.nanoTime();
        for (int i = 0; i < operations; i++) {
            if (queuePair.post(requests, 0, bytes) != 0) {
                throw new VerbsException("the device refused a request");
            }
            int polled = completions.poll();
            while (polled == 0) {
                polled = completions.poll();
            }
            if (completions.status(0) != 0) {
                throw new VerbsException("an operation failed");
            }
        }
        return (double) (System.nanoTime() - start) / operations;
    }

    private double session(Session through, Buffer with, boolean write, int bytes, int operations) {
        long start = System.nanoTime();
        for (int i = 0; i < operations; i++) {
            done = false;
            boolean accepted = write ? through.write(0, with, 0, bytes, onDone, 0) : through.read(0, with, 0, bytes, onDone, 0);
            if (!accepted) {
                throw new IllegalStateException("the queue is full");
            }
            while (!done) {
                through.poll();
            }
        }
        return (double) (System.nanoTime() - start) / operations;
    }

    private static double percentile(double[] values, double share) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[(int) Math.min(sorted.length - 1L, Math.round(share * (sorted.length - 1)))];
    }

    @Override
    public void close() {
        queuePair.close();
        requests.close();
        completions.close();
        local.close();
        domain.close();
        context.close();
        control.closeLease(lease.id());
        control.close();
        cache.close();
        tracked.close();
    }
}
