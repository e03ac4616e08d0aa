package io.farheap.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.control.RegionGrant;
import io.farheap.control.plane.ConnectedQueuePair;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.Lease;
import io.farheap.memory.RegisteredMemory;
import io.farheap.verbs.Access;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import io.farheap.verbs.ProtectionDomain;
import io.farheap.verbs.QueuePair;
import io.farheap.verbs.SendRequests;
import io.farheap.verbs.WcStatus;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** A client with one lease, one queue pair and a page to read into and write from, one operation at a time. */
public final class TestClient implements AutoCloseable {

    public static final int PAGE = 4096;
    private static final long TIMEOUT_NANOS = 60_000_000_000L;

    final ControlPlane server;
    public final Lease lease;
    private final Context context = Devices.open("");
    private final ProtectionDomain domain = context.allocateProtectionDomain();
    private final CompletionQueue completions = context.createCompletionQueue(1, 1, null);
    private final RegisteredMemory page = RegisteredMemory.allocate(domain, "test-page", PAGE, Access.LOCAL_WRITE);
    private final SendRequests requests = new SendRequests(1);
    private QueuePair queuePair;
    private ConnectedQueuePair connected;

    public TestClient(ControlPlane server) {
        this.server = server;
        lease = server.openLease("test");
        connect();
    }

    /** Connects a new queue pair; the old one, if any, is destroyed at this end alone. */
    public void connect() {
        if (queuePair != null) {
            queuePair.close();
        }
        queuePair = domain.createQueuePair(completions, 1, 0);
        connected = server.connect(lease.id(), queuePair.endpoint());
        queuePair.connect(connected.server());
    }

    long connectionId() {
        return connected.connectionId();
    }

    RegionGrant allocate() {
        return server.allocate(lease.id(), 1).getFirst();
    }

    public MemorySegment page() {
        return page.segment();
    }

    /** @return one of {@link WcStatus} */
    public int read(RegionGrant region, long at) {
        return run(SendRequests.READ, region, at);
    }

    /** @return one of {@link WcStatus} */
    int write(RegionGrant region, long at) {
        return run(SendRequests.WRITE, region, at);
    }

    private int run(int opcode, RegionGrant region, long at) {
        requests.prepare(
                0,
                opcode,
                SendRequests.SIGNALED,
                page.address(),
                PAGE,
                page.localKey(),
                region.remoteAddress() + at,
                region.rkey());
        assertEquals(0, queuePair.postUnbounded(requests, 0));
        long deadline = System.nanoTime() + TIMEOUT_NANOS;
        while (completions.poll() == 0) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("no completion in " + TIMEOUT_NANOS / 1_000_000_000L + " s");
            }
            Thread.onSpinWait();
        }
        return completions.status(0);
    }

    /** Writes a pattern that differs in every 8 bytes of the region. */
    public void fill(RegionGrant region, long seed) {
        for (long at = 0; at < region.length(); at += PAGE) {
            for (int i = 0; i < PAGE; i += 8) {
                page().set(ValueLayout.JAVA_LONG, i, pattern(seed, at + i));
            }
            assertEquals(WcStatus.SUCCESS, write(region, at));
        }
    }

    public void assertFilled(RegionGrant region, long seed) {
        assertFilled(region, seed, 0, region.length());
    }

    /** @param from a multiple of {@link #PAGE}, as is {@code to} */
    void assertFilled(RegionGrant region, long seed, long from, long to) {
        for (long at = from; at < to; at += PAGE) {
            assertEquals(WcStatus.SUCCESS, read(region, at));
            for (int i = 0; i < PAGE; i += 8) {
                assertEquals(pattern(seed, at + i), page().get(ValueLayout.JAVA_LONG, i), "at " + (at + i));
            }
        }
    }

    public void assertZero(RegionGrant region) {
        assertZero(region, 0, region.length());
    }

    /** @param from a multiple of {@link #PAGE}, as is {@code to} */
    void assertZero(RegionGrant region, long from, long to) {
        for (long at = from; at < to; at += PAGE) {
            page().fill((byte) -1);
            assertEquals(WcStatus.SUCCESS, read(region, at));
            for (int i = 0; i < PAGE; i += 8) {
                assertEquals(0, page().get(ValueLayout.JAVA_LONG, i), "at " + (at + i));
            }
        }
    }

    private static long pattern(long seed, long at) {
        return (at + 1) * 0x9E37_79B9_7F4A_7C15L ^ seed;
    }

    /** Destroys this end; the lease stays, as it does when a process dies. */
    @Override
    public void close() {
        queuePair.close();
        requests.close();
        page.close();
        completions.close();
        domain.close();
        context.close();
    }
}
