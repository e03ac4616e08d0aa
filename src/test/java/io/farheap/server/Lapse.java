package io.farheap.server;

import io.farheap.server.lease.ClientLease;
import io.farheap.testing.Fields;

/** The end of a lease that nobody renews, for tests of what comes with it: that it comes in time others say. */
final class Lapse {

    private Lapse() {}

    /** As if nobody had renewed the lease for as long as it lasts: the server finds that when it looks next. */
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
