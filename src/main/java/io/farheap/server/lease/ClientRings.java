package io.farheap.server.lease;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.plane.Caller;
import io.farheap.control.plane.RingRequest;
import io.farheap.rpc.HeldRegions;
import io.farheap.rpc.MessageRing;
import io.farheap.rpc.RegionHolders;
import io.farheap.rpc.RingShape;
import io.farheap.rpc.RpcHandlers;
import io.farheap.server.budget.Borrower;
import io.farheap.server.budget.Budget;
import io.farheap.server.budget.Budgets;
import io.farheap.server.budget.LentResource;
import io.farheap.server.fence.RetiredResources;
import io.farheap.server.thread.ServerThread;
import io.farheap.server.thread.ServerThreads;
import io.farheap.verbs.Context;
import io.farheap.verbs.ProtectionDomain;
import io.farheap.verbs.VerbsException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes the message rings of one lease. Guarded by its {@link ClientConnections}. */
final class ClientRings {

    /**
     * A ring that its thread serves, with the loans for it. When it is closed, no batch of that connection takes effect
     * any more.
     */
    record ServedRing(MessageRing ring, LentResource lent) {}

    private final Borrower client;
    private final Context context;
    private final ProtectionDomain domain;
    private final HeldRegions held;
    private final RpcHandlers handlers;
    private final ServerThreads threads;
    private final RetiredResources retired;
    /** Leases begin at different threads: otherwise a server of many small clients would use only its first thread. */
    private final int firstThread;

    private int connected;

    /** @param retired closes what cannot be connected */
    ClientRings(
            Borrower client,
            Context context,
            ProtectionDomain domain,
            RegionHolders holders,
            RpcHandlers handlers,
            ServerThreads threads,
            RetiredResources retired) {
        this.client = client;
        this.context = context;
        this.domain = domain;
        Caller caller = client.caller();
        this.held = new HeldRegions(
                holders,
                client.leaseId(),
                client.clientName(),
                caller == null ? (Object) client.leaseId() : caller.connection(),
                bytes -> client.tryToLend(client.budgets().callBytes(), bytes));
        this.handlers = handlers;
        this.threads = threads;
        this.retired = retired;
        this.firstThread = (int) client.leaseId();
    }

    /** The regions of the client. */
    HeldRegions held() {
        return held;
    }

    ServedRing connect(RingRequest request) {
        RingShape shape = shape(request);
        List<Budget.Loan> loans = new ArrayList<>();
        try {
            Budgets budgets = client.budgets();
            loans.add(client.lend(budgets.rings(), 1));
            loans.add(client.lend(budgets.queuePairs(), 1));
            loans.add(client.lend(budgets.ringBytes(), shape.requestRingBytes() + shape.responseRingBytes()));
            while (true) {
                ServedRing served = connect(request, shape, loans);
                if (served != null) {
                    connected++;
                    return served;
                }
            }
        } catch (Throwable e) {
            LentResource.close(loans);
            throw e;
        }
    }

    /**
     * Makes one attempt.
     *
     * @return null if the thread that was to serve the ring has died in the meantime
     */
    private @Nullable ServedRing connect(RingRequest request, RingShape shape, List<Budget.Loan> loans) {
        ServerThread thread = threads.thread(firstThread + connected % Math.min(request.threads(), threads.most()));
        MessageRing ring = new MessageRing(
                context,
                domain,
                held,
                handlers,
                shape,
                thread.channel(),
                thread::wakeIfAsleep,
                request.responseAddress(),
                request.responseKey());
        boolean added = false;
        try {
            ring.connect(request.client());
            added = thread.add(ring);
        } catch (VerbsException e) {
            throw new ControlException(Code.INVALID_ARGUMENT, e.getMessage(), e);
        } finally {
            if (!added) {
                retired.close("a message ring of client " + client.clientName(), ring);
            }
        }
        return added ? new ServedRing(ring, new LentResource(() -> end(thread, ring), loans)) : null;
    }

    private static RingShape shape(RingRequest request) {
        if (request.threads() < 1) {
            throw new ControlException(
                    Code.INVALID_ARGUMENT,
                    "message rings for " + request.threads() + " server threads; ask for at least 1");
        }
        try {
            return request.recordBytes() == 0 && !request.calls()
                    ? new RingShape(request.queueDepth(), request.batch())
                    : new RingShape(request.queueDepth(), request.batch(), request.recordBytes(), request.calls());
        } catch (IllegalArgumentException e) {
            throw new ControlException(Code.INVALID_ARGUMENT, e.getMessage(), e);
        }
    }

    /** Calls of the ring may be in progress on any thread. */
    private void end(ServerThread thread, MessageRing ring) {
        thread.remove(ring);
        ring.cancelCalls();
        threads.barrier();
        ring.close();
    }
}
