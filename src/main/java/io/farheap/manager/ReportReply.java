package io.farheap.manager;

import java.util.Set;

/**
 * What a manager answers to a server's report.
 *
 * @param leave it was told to leave and does not say that it does
 * @param ended caches that it is to end: their leases, and what they could show for others
 */
public record ReportReply(boolean leave, Set<Long> ended) {

    public static final ReportReply NONE = new ReportReply(false, Set.of());

    public ReportReply {
        ended = Set.copyOf(ended);
    }
}
