package io.farheap.server.contract;

/**
 * How much a server lends to all of its clients together. One client gets a quarter of it at most, the clients of one
 * host three quarters. 0 stands for as much as the device and the machine allow.
 *
 * @param leases how many may be open
 * @param queuePairs of connections, message rings and pulls
 * @param ringBytes memory of message rings, in addition to the donated memory
 */
public record ServerLimits(int leases, int queuePairs, long ringBytes) {

    /** As much as the device and the machine allow. */
    public static final ServerLimits DEFAULT = new ServerLimits(0, 0, 0);

    /** @throws IllegalArgumentException with the value that is wrong, its limit and what to do */
    public ServerLimits {
        check("leases", leases);
        check("queue pairs", queuePairs);
        check("bytes of message rings", ringBytes);
    }

    private static void check(String what, long value) {
        if (value < 0) {
            throw new IllegalArgumentException(
                    "a limit of " + value + " " + what + "; it must be at least 1, or 0 for what the machine bears");
        }
    }
}
