package io.farheap.server;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.PullSource;
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
final class SourcePull implements AutoCloseable {

    private final long id;
    private final ProtectionDomain domain;
    private MemoryRegion registration;
    private QueuePair queuePair;

    SourcePull(long id, Context context, CompletionQueue completions, MemorySegment region, Endpoint puller) {
        this.id = id;
        domain = context.allocateProtectionDomain();
        try {
            registration = domain.register(region, Access.REMOTE_READ);
            queuePair = domain.createQueuePair(completions, 1, 0);
            connect(puller);
        } catch (Throwable e) {
            close();
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

    PullSource described() {
        return new PullSource(id, queuePair.endpoint(), registration.address(), registration.remoteKey(), registration.bytes());
    }

    /** Idempotent; any thread. */
    @Override
    public synchronized void close() {
        if (queuePair != null) {
            queuePair.close();
        }
        if (registration != null) {
            registration.close();
        }
        domain.close();
    }
}
