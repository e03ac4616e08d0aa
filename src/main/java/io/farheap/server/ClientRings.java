package io.farheap.server;

import io.farheap.connection.RingShape;
import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.RingRequest;
import io.farheap.verbs.Context;
import io.farheap.verbs.ProtectionDomain;
import io.farheap.verbs.VerbsException;

import java.util.ArrayList;
import java.util.List;

/** Makes the message rings of one lease. Guarded by its {@link ClientLease}. */
final class ClientRings {

    /**
     * A ring at its thread, with what was lent for it. When it is closed, no batch of that connection takes effect any
     * more.
     */
    record Served(MessageRing ring, Lent lent) {
    }

    private final ClientLease lease;
    private final Context context;
    private final ProtectionDomain domain;
    private final RegionPool pool;
    private final RegionHolders holders;
    private final ServerThreads threads;
    /** Leases begin at different threads, or a server of many small clients would use its first thread only. */
    private final int firstThread;
    private int connected;

    ClientRings(ClientLease lease, Context context, ProtectionDomain domain, RegionPool pool, RegionHolders holders, ServerThreads threads) {
        this.lease = lease;
        this.context = context;
        this.domain = domain;
        this.pool = pool;
        this.holders = holders;
        this.threads = threads;
        this.firstThread = (int) lease.id();
    }

    /** @param retired closes what cannot be connected */
    Served connect(RingRequest request, Retired retired) {
        RingShape shape = shape(request);
        List<Budget.Loan> loans = new ArrayList<>();
        try {
            Budgets budgets = lease.budgets();
            loans.add(lease.lend(budgets.rings(), 1));
            loans.add(lease.lend(budgets.queuePairs(), 1));
            loans.add(lease.lend(budgets.ringBytes(), shape.requestRingBytes() + shape.responseRingBytes()));
            while (true) {
                Served served = connect(request, shape, loans, retired);
                if (served != null) {
                    connected++;
                    return served;
                }
            }
        } catch (Throwable e) {
            Lent.close(loans);
            throw e;
        }
    }

    /** @return null where the thread that was to serve it has died meanwhile */
    private Served connect(RingRequest request, RingShape shape, List<Budget.Loan> loans, Retired retired) {
        ServerThread thread = threads.thread(firstThread + connected % Math.min(request.threads(), threads.most()));
        MessageRing ring = new MessageRing(context, domain, pool, holders, lease, shape, thread.channel(), request.responseAddress(),
            request.responseKey());
        boolean added = false;
        try {
            ring.connect(request.client());
            added = thread.add(ring);
        } catch (VerbsException e) {
            throw new ControlException(Code.INVALID_ARGUMENT, e.getMessage(), e);
        } finally {
            if (!added) {
                retired.close("a message ring of client " + lease.clientName(), ring);
            }
        }
        return added ? new Served(ring, new Lent(() -> end(thread, ring), loans)) : null;
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

    private static void end(ServerThread thread, MessageRing ring) {
        thread.remove(ring);
        ring.close();
    }
}
