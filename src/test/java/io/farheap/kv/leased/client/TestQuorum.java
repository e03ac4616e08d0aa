package io.farheap.kv.leased.client;

/** Whether a process may use a leased map, for models of processes without a clock. */
public final class TestQuorum {

    private TestQuorum() {}

    /**
     * Whether a process begins no request, as it holds leases on too few of the servers that the map was made on.
     *
     * @param held by server that has not left: whether it holds a lease there
     * @param replaces whether the map may replace these servers
     * @param joined whether others have joined it
     */
    public static boolean isMissing(boolean[] held, boolean replaces, boolean joined) {
        LeaseQuorum.Server[] servers = new LeaseQuorum.Server[held.length];
        for (int i = 0; i < held.length; i++) {
            boolean isHeld = held[i];
            servers[i] = now -> isHeld ? now + 1 : now;
        }
        return new LeaseQuorum(servers, replaces, joined, () -> 0).isMissing();
    }
}
