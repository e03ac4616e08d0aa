package io.farheap.control.threads;

/**
 * Calls that share threads. Each kind has its own, so that no kind waits for another: leases are renewed and things
 * given back whatever hangs, and a server that pulls from another can be pulled from.
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
     * How many calls there may be. A connection is a client process as a rule, and so has the leases of many caches; a
     * lease is one cache's.
     *
     * @param all in all
     * @param host of the clients of one host: others have the rest
     * @param connection for one connection: others of its host have the rest
     * @param lease for one lease of a connection: one whose calls hang leaves room for the others
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

    /** Calls under way. */
    Limits threads() {
        return new Limits(threads, threads / 4 * 3, threads / 2, threads / 4);
    }

    /** Calls that wait for a thread. */
    Limits waiting() {
        return new Limits(8 * waitingPerLease, 6 * waitingPerLease, 4 * waitingPerLease, waitingPerLease);
    }
}
