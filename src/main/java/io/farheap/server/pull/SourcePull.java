package io.farheap.server.pull;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.plane.PullSource;
import io.farheap.lifetime.Closeables;
import io.farheap.server.budget.Budget;
import io.farheap.server.fence.RetiredResources;
import io.farheap.verbs.Access;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.Context;
import io.farheap.verbs.Endpoint;
import io.farheap.verbs.MemoryRegion;
import io.farheap.verbs.ProtectionDomain;
import io.farheap.verbs.QueuePair;
import io.farheap.verbs.VerbsException;
import java.lang.foreign.MemorySegment;

/** The old server's end of a pull: a queue pair that can read one region and nothing else. */
public final class SourcePull implements AutoCloseable {

    private final long id;
    private final ProtectionDomain domain;
    private MemoryRegion registration;
    private QueuePair queuePair;
    private final Budget.Loan loan;

    /** @param loan which is given back when this is closed, or if this throws */
    SourcePull(
            long id,
            Context context,
            CompletionQueue completions,
            MemorySegment region,
            Endpoint puller,
            Budget.Loan loan,
            RetiredResources retired) {
        this.id = id;
        this.loan = loan;
        try {
            domain = context.allocateProtectionDomain();
        } catch (Throwable e) {
            loan.close();
            throw e;
        }
        try {
            registration = domain.register(region, Access.REMOTE_READ);
            queuePair = domain.createQueuePair(completions, 1, 0);
            connect(puller);
        } catch (Throwable e) {
            retired.close("a pull that could not be opened", this);
            throw e;
        }
    }

    private void connect(Endpoint puller) {
        try {
            queuePair.connect(puller);
        } catch (VerbsException e) {
            throw new ControlException(Code.INVALID_ARGUMENT, e.getMessage(), e);
        }
    }

    long id() {
        return id;
    }

    public PullSource described() {
        return new PullSource(
                id, queuePair.endpoint(), registration.address(), registration.remoteKey(), registration.bytes());
    }

    /** Idempotent; any thread. To be called again if the device is busy. */
    @Override
    public synchronized void close() {
        Closeables.all(queuePair, registration, domain);
        loan.close();
    }
}
