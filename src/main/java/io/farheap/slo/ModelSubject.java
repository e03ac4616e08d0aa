package io.farheap.slo;

/**
 * The subject of a performance model. A model is valid for its subject alone: another device, distance, record size or
 * mix needs a model of its own (Redy, 5.2).
 *
 * @param device as {@code soft0 (soft), connectx5}: its name, its library and other details that identify it
 * @param hardware processor and network card of the machine it was measured on
 * @param switches between client and server: Redy's distances are 1, 3 and 5; 0 on one host
 * @param recordBytes bytes of each read and write
 * @param readPercent share of reads among the operations, 0 to 100; the others are writes
 * @param clientCores how many cores a cache may use
 * @param deviceDepth Q, the device's largest queue depth
 * @param resilience of coded caches, the mode, k, r, Δ and pages, as {@code failure-recovery 8+2 Δ=1, pages of 4096
 *     bytes}; {@link #PLAIN} for other caches. Coded requests go one by one to servers that execute nothing, so their
 *     configurations are the client threads and the number of requests that each keeps in flight
 */
public record ModelSubject(
        String device,
        String hardware,
        int switches,
        int recordBytes,
        int readPercent,
        int clientCores,
        int deviceDepth,
        String resilience) {

    /** The resilience of caches without resilience. */
    public static final String PLAIN = "none";

    static final int MAX_NAME = 200;
    private static final int MAX_SWITCHES = 64;

    public ModelSubject {
        check("device", device);
        check("hardware", hardware);
        check("resilience", resilience);
        if (switches < 0 || switches > MAX_SWITCHES) {
            throw new IllegalArgumentException(
                    "a distance of " + switches + " switches; it is from 0, on one host, to " + MAX_SWITCHES);
        }
        if (readPercent < 0 || readPercent > 100) {
            throw new IllegalArgumentException("a share of " + readPercent + "% reads; it is from 0 to 100");
        }
        // Its constructor checks the other parameters.
        new ConfigurationSpace(clientCores, ConfigurationSpace.maxBatch(recordBytes), 1, deviceDepth);
    }

    /** Of caches without resilience. */
    public ModelSubject(
            String device,
            String hardware,
            int switches,
            int recordBytes,
            int readPercent,
            int clientCores,
            int deviceDepth) {
        this(device, hardware, switches, recordBytes, readPercent, clientCores, deviceDepth, PLAIN);
    }

    private static void check(String what, String name) {
        if (name.isBlank()
                || name.length() > MAX_NAME
                || !name.equals(name.strip())
                || name.chars().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException("the " + what + " \"" + name + "\"; it is one line of 1 to " + MAX_NAME
                    + " characters, without spaces around it");
        }
    }

    /** The same subject at another distance. */
    public ModelSubject over(int otherSwitches) {
        return new ModelSubject(
                device, hardware, otherSwitches, recordBytes, readPercent, clientCores, deviceDepth, resilience);
    }

    /** The same subject with another resilience. */
    public ModelSubject coded(String how) {
        return new ModelSubject(device, hardware, switches, recordBytes, readPercent, clientCores, deviceDepth, how);
    }

    /** Whether it is of caches with resilience. */
    public boolean coded() {
        return !resilience.equals(PLAIN);
    }

    /** @param minDepth the smallest useful queue depth, as measured */
    ConfigurationSpace space(int minDepth) {
        return coded()
                ? new ConfigurationSpace(clientCores, 1, minDepth, deviceDepth, 0)
                : new ConfigurationSpace(clientCores, ConfigurationSpace.maxBatch(recordBytes), minDepth, deviceDepth);
    }

    boolean hasReads() {
        return readPercent > 0;
    }

    boolean hasWrites() {
        return readPercent < 100;
    }
}
