package io.farheap.control.threads;

/**
 * Kinds of calls; each has threads of its own, so that no kind waits for another. Leases are renewed and regions are
 * given back even if other calls hang, and a server that pulls from another one can itself be pulled from.
 */
public enum CallKind {
    /** Never waits for anything: as many may come at once as a client may have leases. */
    RENEW("renewals", 8, 256),
    /** Waits for fences. */
    GIVE_BACK("calls that give something back", 64, 256),
    /** Waits for the device. */
    GRANT("calls that ask for something", 64, 128),
    /** Takes as long as its client does. */
    PULL("pulls", 64, 32);

    /**
     * Limits on the number of calls. A connection is usually a client process, and so has the leases of many caches; a
     * lease belongs to one cache.
     *
     * @param all in total
     * @param host of the clients of one host; other hosts have the rest
     * @param connection of one connection; other connections of its host have the rest
     * @param lease of one lease of a connection, so that a lease whose calls hang leaves room for the others
     */
    record Limits(int all, int host, int connection, int lease) {}

    final String what;
    private final int threads;
    private final int waitingPerLease;

    CallKind(String what, int threads, int waitingPerLease) {
        this.what = what;
        this.threads = threads;
        this.waitingPerLease = waitingPerLease;
    }

    /** Limits of calls in progress. */
    Limits threads() {
        return new Limits(threads, threads / 4 * 3, threads / 2, threads / 4);
    }

    /** Limits of calls that wait for a thread. */
    Limits waiting() {
        return new Limits(8 * waitingPerLease, 6 * waitingPerLease, 4 * waitingPerLease, waitingPerLease);
    }
}
