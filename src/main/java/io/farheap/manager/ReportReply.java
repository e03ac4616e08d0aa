package io.farheap.manager;

import java.util.Set;

/**
 * The manager's answer to a server's report.
 *
 * @param leave whether the manager has asked it to leave and it does not report that it is leaving
 * @param ended caches that it is to end: it ends their leases, and their grants open no new ones
 */
public record ReportReply(boolean leave, Set<Long> ended) {

    /** No orders. */
    public static final ReportReply NONE = new ReportReply(false, Set.of());

    public ReportReply {
        ended = Set.copyOf(ended);
    }
}
