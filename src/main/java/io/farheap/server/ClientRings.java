package io.farheap.server;

import io.farheap.connection.RingShape;
import io.farheap.control.ConnectedRing;
import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.RingRequest;
import io.farheap.verbs.Context;
import io.farheap.verbs.ProtectionDomain;
import io.farheap.verbs.VerbsException;

import java.util.HashMap;
import java.util.Map;

/** The message rings of one lease. Guarded by its {@link ClientLease}. */
final class ClientRings implements AutoCloseable {

    private static final int MAX_RINGS = 256;
    private static final long MAX_BYTES = 256L << 20;

    private record Served(MessageRing ring, ServerThread thread, long bytes) {
    }

    private final ClientLease lease;
    private final Context context;
    private final ProtectionDomain domain;
    private final RegionPool pool;
    private final RegionHolders holders;
    private final ServerThreads threads;
    private final Map<Long, Served> rings = new HashMap<>();
    /** Leases begin at different threads, or a server of many small clients would use its first thread only. */
    private final int firstThread;
    private int connected;
    private long bytes;

    ClientRings(ClientLease lease, Context context, ProtectionDomain domain, RegionPool pool, RegionHolders holders, ServerThreads threads) {
        this.lease = lease;
        this.context = context;
        this.domain = domain;
        this.pool = pool;
        this.holders = holders;
        this.threads = threads;
        this.firstThread = (int) lease.id();
    }

    ConnectedRing connect(long connectionId, RingRequest request) {
        RingShape shape = shape(request);
        long wanted = shape.requestRingBytes() + shape.responseRingBytes();
        if (rings.size() == MAX_RINGS || bytes + wanted > MAX_BYTES) {
            throw new ControlException(Code.INVALID_ARGUMENT, "the lease has " + rings.size() + " message rings of " + (bytes >> 10)
                + " KiB and asks for " + (wanted >> 10) + " KiB more; it may have " + MAX_RINGS + " of " + (MAX_BYTES >> 10)
                + " KiB, so use fewer sessions, or a smaller batch or queue depth");
        }
        ServerThread thread = threads.thread(firstThread + connected % Math.min(request.threads(), threads.most()));
        MessageRing ring = new MessageRing(context, domain, pool, holders, lease, shape, thread.channel(), request.responseAddress(),
            request.responseKey());
        try {
            ring.connect(request.client());
        } catch (VerbsException e) {
            ring.close();
            throw new ControlException(Code.INVALID_ARGUMENT, e.getMessage(), e);
        }
        ConnectedRing described = new ConnectedRing(connectionId, ring.endpoint(), ring.address(), ring.remoteKey());
        rings.put(connectionId, new Served(ring, thread, wanted));
        bytes += wanted;
        connected++;
        thread.add(ring);
        return described;
    }

    private static RingShape shape(RingRequest request) {
        if (request.threads() < 1) {
            throw new ControlException(Code.INVALID_ARGUMENT, "message rings for " + request.threads() + " server threads; ask for at least 1");
        }
        try {
            return new RingShape(request.queueDepth(), request.batch());
        } catch (IllegalArgumentException e) {
            throw new ControlException(Code.INVALID_ARGUMENT, e.getMessage(), e);
        }
    }

    /** When it returns, no batch of that connection takes effect any more. */
    void disconnect(long connectionId) {
        Served served = rings.remove(connectionId);
        if (served != null) {
            bytes -= served.bytes;
            end(served);
        }
    }

    private static void end(Served served) {
        served.thread.remove(served.ring);
        served.ring.close();
    }

    /** Ends all; where the device does not let go of one, the others end all the same. */
    @Override
    public void close() {
        RuntimeException failed = null;
        for (Served served : rings.values()) {
            try {
                end(served);
            } catch (RuntimeException e) {
                failed = e;
            }
        }
        rings.clear();
        if (failed != null) {
            throw failed;
        }
    }
}
