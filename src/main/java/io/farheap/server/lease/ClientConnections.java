package io.farheap.server.lease;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.plane.ConnectedQueuePair;
import io.farheap.control.plane.ConnectedRing;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.RingRequest;
import io.farheap.server.budget.Borrower;
import io.farheap.server.budget.Budget;
import io.farheap.server.budget.LentResource;
import io.farheap.server.fence.Fence;
import io.farheap.server.fence.RetiredResources;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.Endpoint;
import io.farheap.verbs.ProtectionDomain;
import io.farheap.verbs.QueuePair;
import io.farheap.verbs.VerbsException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.agrona.collections.Long2ObjectHashMap;

/**
 * The connections of one lease: queue pairs, and message rings. Thread-safe. Lock order: its lock is taken while the
 * lease's is held, never the other way round.
 */
public final class ClientConnections {

    private final Borrower client;
    private final ProtectionDomain domain;
    private final CompletionQueue completions;
    private final ClientRings rings;
    private final RetiredResources retired;
    private final Supplier<ControlException> expired;
    /** A connection that is closed while the device is busy with it stays here until it has ended. */
    private final Long2ObjectHashMap<LentResource> connections = new Long2ObjectHashMap<>();

    private boolean closed;
    /** The connections that the device did not close when they were disconnected last, by id. */
    private final Set<Long> unfenced = ConcurrentHashMap.newKeySet();

    /**
     * @param domain the lease's
     * @param completions of queue pairs that post nothing, so it stays empty
     * @param expired returns the exception for a lease that has ended
     */
    ClientConnections(
            Borrower client,
            ProtectionDomain domain,
            CompletionQueue completions,
            ClientRings rings,
            RetiredResources retired,
            Supplier<ControlException> expired) {
        this.client = client;
        this.domain = domain;
        this.completions = completions;
        this.rings = rings;
        this.retired = retired;
        this.expired = expired;
    }

    public synchronized ConnectedQueuePair connect(long connectionId, Endpoint endpoint) {
        requireOpen();
        Budget.Loan lent = client.lend(client.budgets().queuePairs(), 1);
        QueuePair queuePair;
        try {
            queuePair = domain.createQueuePair(completions, 1, 0);
        } catch (Throwable e) {
            lent.close();
            throw e;
        }
        LentResource connection = new LentResource(queuePair, List.of(lent));
        try {
            queuePair.connect(endpoint);
        } catch (VerbsException e) {
            retired.close("a queue pair of client " + client.clientName(), connection);
            throw new ControlException(Code.INVALID_ARGUMENT, e.getMessage(), e);
        }
        connections.put(connectionId, connection);
        return new ConnectedQueuePair(connectionId, queuePair.endpoint());
    }

    public synchronized ConnectedRing connectRing(long connectionId, RingRequest request) {
        requireOpen();
        ClientRings.ServedRing served = rings.connect(request);
        connections.put(connectionId, served.lent());
        return new ConnectedRing(
                connectionId,
                served.ring().endpoint(),
                served.ring().address(),
                served.ring().remoteKey());
    }

    private void requireOpen() {
        if (closed) {
            throw expired.get();
        }
    }

    /**
     * When it returns, no operation of that connection takes effect any more.
     *
     * @throws ControlException UNAVAILABLE if the device is busy with it, or does not close it: the connection is not
     *     fenced, and may be disconnected again
     */
    public void disconnect(long connectionId) {
        LentResource connection;
        synchronized (this) {
            connection = connections.get(connectionId);
        }
        if (connection != null) {
            closePatiently(connectionId, connection);
            unfenced.remove(connectionId);
            synchronized (this) {
                connections.remove(connectionId, connection);
            }
        }
    }

    private void closePatiently(long connectionId, AutoCloseable connection) {
        try {
            long patience = retired.patienceNanos;
            if (!RetiredResources.closed(connection, patience)) {
                throw new ControlException(
                        Code.UNAVAILABLE,
                        ControlPlane.NOT_ENDED_YET + ": an operation that a client began has been under way for "
                                + patience / 1_000_000 + " ms, as if its process were stopped; disconnect again");
            }
        } catch (ControlException e) {
            throw e;
        } catch (Exception e) {
            unfenced.add(connectionId);
            throw new ControlException(
                    Code.UNAVAILABLE,
                    ControlPlane.NOT_ENDED_YET + ": the device did not close it (" + e.getMessage()
                            + "); disconnect again, or the regions of the lease are withdrawn when it ends",
                    e);
        }
    }

    synchronized int count() {
        return connections.size();
    }

    /**
     * Called when the lease ends: no connection is accepted any more, and the existing ones are added to the fence's
     * current stage.
     */
    synchronized void cutOff(Fence fence) {
        closed = true;
        connections.values().forEach(connection -> fence.add("a connection", connection));
    }

    /** Whether the device did not close a connection, and has not closed it since. */
    boolean unfenced() {
        return !unfenced.isEmpty();
    }

    /** Forgets the connections, after {@link #cutOff} and its fence. */
    synchronized void forget() {
        connections.clear();
    }
}
