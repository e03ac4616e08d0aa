package io.farheap.kv.leased.client;

import io.farheap.kv.format.MapDescriptor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Whether a process holds leases on at least half of the servers that a map was made on, and that have not left it. If
 * it holds fewer, by its own clock, more than half of them may have given the keys of those that it reaches to others.
 * Any thread.
 */
final class LeaseQuorum {

    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final Server[] servers;
    private final boolean counts;
    private final LongSupplier nanoTime;
    private volatile long heldUntil;
    private volatile long nextLook;

    /** A lease on a server. */
    interface Server {

        /** Until when it is held, by the process's clock; any moment that has passed if it is lost. */
        long heldUntil(long now);
    }

    /**
     * @param replaced whether one of these may be replaced, if there are enough
     * @param joined whether others may be replaced as long as more than half of these remain
     * @param nanoTime the process's clock, in ns
     */
    LeaseQuorum(Server[] servers, boolean replaced, boolean joined, LongSupplier nanoTime) {
        this.servers = servers.clone();
        counts = joined || replaced && servers.length >= MapDescriptor.LEAST_REPLACING;
        this.nanoTime = nanoTime;
        heldUntil = nanoTime.getAsLong();
        nextLook = heldUntil;
    }

    /**
     * Whether no request may be begun: the process holds leases on less than half of the servers, of which one, or
     * another one, may be replaced.
     */
    boolean isMissing() {
        if (!counts) {
            return false;
        }
        long now = nanoTime.getAsLong();
        return now - heldUntil >= 0 && !holdsHalf(now);
    }

    /** Looks at the leases, unless another thread just has. @param now that the clock has said, maybe some time ago */
    boolean holdsHalf(long now) {
        if (now - nextLook < 0) {
            // Another thread has looked by a later clock, and may have found that enough are held.
            return now - heldUntil < 0;
        }
        long most = 0;
        for (Server server : servers) {
            long held = server.heldUntil(now) - now;
            int longer = 0;
            for (int other = 0; held > most && other < servers.length; other++) {
                longer += servers[other].heldUntil(now) - now >= held ? 1 : 0;
            }
            most = 2 * longer >= servers.length ? Math.max(most, held) : most;
        }
        // In this order: a thread that finds the next look in the future finds what this one has found.
        if (most > 0) {
            heldUntil = now + most;
        }
        nextLook = most > 0 ? now : now + LOOK_NANOS;
        return most > 0;
    }
}
