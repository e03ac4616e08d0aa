package io.farheap.manager.simulator;

import java.util.List;

/**
 * What a data center saves by lending unused memory (Hydra, section 7.4 and table 5): the revenue of the memory, less
 * what RDMA costs, as a part of the price of the machines.
 *
 * @param provider of the machines
 * @param machine price of a standard machine in dollars a month
 * @param memory price of one percent of its memory in dollars a month
 * @param scheme that makes memory resilient
 * @param overhead bytes that it takes for one byte
 * @param backup dollars for its backup in each machine
 * @param paper percent that the paper gives
 */
record MemorySavings(
        String provider, double machine, double memory, String scheme, double overhead, double backup, double paper) {

    /** Percent of a machine's memory that are unused on average. */
    private static final double UNUSED = 30;

    private static final double MONTHS = 36;
    /** Dollars for each machine in three years: adapter, its part of a switch, and their power. */
    private static final double RDMA = 600 + 318 + 52;
    /** Dollars: persistent memory as large as the unused memory of a machine, at 11.13 a GB. */
    private static final double PERSISTENT_MEMORY = 2671.2;

    /** The rows of the paper's table. */
    static final List<MemorySavings> TABLE = List.of(
            hydra("Google", 1553, 5.18, 6.3),
            hydra("Amazon", 2304, 9.21, 8.4),
            hydra("Microsoft", 1572, 5.92, 7.3),
            copies("Google", 1553, 5.18, 3.3),
            copies("Amazon", 2304, 9.21, 4.8),
            copies("Microsoft", 1572, 5.92, 3.9),
            persistent("Google", 1553, 5.18, 3.5),
            persistent("Amazon", 2304, 9.21, 7.6),
            persistent("Microsoft", 1572, 5.92, 4.9));

    private static MemorySavings hydra(String provider, double machine, double memory, double paper) {
        return new MemorySavings(provider, machine, memory, "8+2", 1.25, 0, paper);
    }

    private static MemorySavings copies(String provider, double machine, double memory, double paper) {
        return new MemorySavings(provider, machine, memory, "two copies", 2, 0, paper);
    }

    private static MemorySavings persistent(String provider, double machine, double memory, double paper) {
        return new MemorySavings(provider, machine, memory, "persistent memory", 1, PERSISTENT_MEMORY, paper);
    }

    /** Returns the savings in percent of the machine's price, over three years. */
    double percent() {
        double revenue = memory * UNUSED * MONTHS / overhead;
        return 100 * (revenue - RDMA - backup) / (machine * MONTHS);
    }
}
