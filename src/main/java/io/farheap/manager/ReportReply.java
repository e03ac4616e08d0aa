package io.farheap.manager;

import java.util.Set;

/**
 * The manager's answer to a server's report.
 *
 * @param leave whether the manager has asked it to leave and it does not report that it is leaving
 * @param ended caches that it is to end: it ends their leases, and their grants open no new ones
 * @param promised how many of its regions caches were promised and have not taken, if its report has said that it wants
 *     regions back: then it gets nothing new; else {@link #UNKNOWN}
 */
public record ReportReply(boolean leave, Set<Long> ended, int promised) {

    /** The manager has not said how many regions are promised, and may promise more. */
    public static final int UNKNOWN = -1;

    /** No orders. */
    public static final ReportReply NONE = new ReportReply(false, Set.of());

    public ReportReply {
        ended = Set.copyOf(ended);
        if (promised < UNKNOWN) {
            throw new IllegalArgumentException(promised + " promised regions; that is at least 0, or " + UNKNOWN);
        }
    }

    /** The orders to a server that wants nothing back. */
    public ReportReply(boolean leave, Set<Long> ended) {
        this(leave, ended, UNKNOWN);
    }
}
