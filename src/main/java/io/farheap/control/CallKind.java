package io.farheap.control;

/**
 * Calls that share threads. Each kind has its own, so that no kind waits for another: leases are renewed and things
 * given back whatever hangs, and a server that pulls from another can be pulled from.
 */
enum CallKind {
    /** Never waits for anything. */
    RENEW("renewals", 8, 4, 2, 64),
    /** Waits for fences. */
    GIVE_BACK("calls that give something back", 64, 32, 16, 256),
    /** Waits for the device. */
    GRANT("calls that ask for something", 64, 32, 16, 128),
    /** Takes as long as its client does. */
    PULL("pulls", 64, 32, 16, 32);

    final String what;
    /** Calls under way in all, for the clients of one host, and for one connection. */
    final int threads;

    final int threadsPerHost;
    final int threadsPerConnection;
    /** Calls that wait for a thread, in all and for the clients of one host, and for one connection. */
    final int waiting;

    final int waitingPerHost;
    final int waitingPerConnection;

    CallKind(String what, int threads, int threadsPerHost, int threadsPerConnection, int waitingPerConnection) {
        this.what = what;
        this.threads = threads;
        this.threadsPerHost = threadsPerHost;
        this.threadsPerConnection = threadsPerConnection;
        this.waiting = 8 * waitingPerConnection;
        this.waitingPerHost = 4 * waitingPerConnection;
        this.waitingPerConnection = waitingPerConnection;
    }
}
