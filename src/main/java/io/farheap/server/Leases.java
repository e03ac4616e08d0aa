package io.farheap.server;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.thread.Joining;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/** The open leases, and the thread that ends those that are not renewed. Thread-safe. */
final class Leases implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(Leases.class.getName());
    private static final long MAX_PAUSE_NANOS = 200_000_000L;

    private final Map<Long, ClientLease> leases = new ConcurrentHashMap<>();
    private final Thread reaper;
    private final long pauseNanos;
    private volatile boolean stopped;

    Leases(long durationNanos) {
        pauseNanos = Math.min(MAX_PAUSE_NANOS, durationNanos / 4);
        reaper = new Thread(this::reap, "farheap-lease-reaper");
        reaper.setDaemon(true);
        reaper.start();
    }

    static ControlException expired() {
        return new ControlException(Code.LEASE_EXPIRED,
            "the lease is unknown, closed, or was not renewed in time; what it held is given back, so open another");
    }

    void add(ClientLease lease) {
        leases.put(lease.id(), lease);
        if (stopped) {
            end(lease, false);
            throw new ControlException(Code.CANCELLED, "the server is stopping");
        }
    }

    ClientLease require(long id) {
        ClientLease lease = leases.get(id);
        if (lease == null) {
            throw expired();
        }
        return lease;
    }

    /** The lease or null. */
    ClientLease find(long id) {
        return leases.get(id);
    }

    /** Closes a lease and forgets it afterwards, so that whoever finds it meanwhile waits for its fence. */
    void end(ClientLease lease, boolean forOthers) {
        try {
            lease.close(forOthers);
        } finally {
            leases.remove(lease.id(), lease);
        }
    }

    private void reap() {
        while (!stopped) {
            LockSupport.parkNanos(this, pauseNanos);
            for (ClientLease lease : leases.values()) {
                if (!stopped && lease.expired()) {
                    expire(lease);
                }
            }
        }
    }

    private void expire(ClientLease lease) {
        LOG.log(System.Logger.Level.INFO, "the lease of client " + lease.clientName() + " was not renewed; taking back what it held");
        try {
            end(lease, true);
        } catch (RuntimeException e) {
            LOG.log(System.Logger.Level.ERROR, "cannot end the lease of client " + lease.clientName(), e);
        }
    }

    /** Stops the thread and closes all leases. */
    @Override
    public void close() {
        stopped = true;
        LockSupport.unpark(reaper);
        Joining.join(reaper);
        for (ClientLease lease : leases.values()) {
            end(lease, false);
        }
    }
}
