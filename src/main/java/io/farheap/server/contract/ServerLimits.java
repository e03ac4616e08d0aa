package io.farheap.server.contract;

/**
 * How much a server lends to all of its clients together. One client gets a quarter of it at most, the clients of one
 * host three quarters; a client may have 64 MiB of message rings in any case, if the server has as much. One lease gets
 * 1,280 queue pairs, 256 message rings and 256 MiB of them at most. 0 stands for a limit by the device and the machine.
 *
 * @param leases how many may be open; if 0, as many as queue pairs, and at most 4,096
 * @param queuePairs of connections, message rings and pulls; if 0, all of the device but 64, and at most 65,536
 * @param ringBytes memory of message rings, in addition to the donated memory; if 0, a quarter of the memory that is
 *     available when the server has registered its own, and at most 64 GiB
 */
public record ServerLimits(int leases, int queuePairs, long ringBytes) {

    /** All limits by the device and the machine. */
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
                    "a limit of " + value + " " + what + "; it must be at least 1, or 0 for the machine's limit");
        }
    }
}
