package io.farheap.server;

import io.farheap.server.lease.ClientLease;
import io.farheap.testing.Fields;

/** Lets a lease expire at once, for tests of the consequences; other tests check that leases expire in time. */
final class Lapse {

    private Lapse() {}

    /** As if the lease had not been renewed for its duration: the server finds that when it looks next. */
    static void of(ServerPlane server, long lease) {
        ClientLease lapsed = server.leases().find(lease);
        try {
            Fields.field(lapsed, "renewedAt")
                    .setLong(lapsed, System.nanoTime() - Fields.get(lapsed, "durationNanos", Long.class) - 1);
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }
}
