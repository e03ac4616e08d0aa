package io.farheap.manager.allocation;

/**
 * A type of machine, as a provider lets it.
 *
 * @param place where it is let, as data center, cluster and rack, or the beginning of that; empty: anywhere
 * @param cores 0 for memory that remains on servers whose cores are all let: stranded memory
 * @param memoryBytes the memory of a machine
 * @param price of a machine for an hour, in the money of the menu
 * @param spotPrice the price of a machine that the provider may take back at any time; negative if there is none
 * @param noticeSeconds how long before a spot machine is taken back the provider gives notice
 * @param startSeconds how long another machine takes until it serves
 * @param lifeHours how long spot machines last on average; used until enough lives were observed
 */
public record MachineType(
        String name,
        String place,
        int cores,
        long memoryBytes,
        double price,
        double spotPrice,
        double noticeSeconds,
        double startSeconds,
        double lifeHours) {

    public MachineType {
        if (name.isBlank()) {
            throw new IllegalArgumentException("a type without a name");
        }
        require(name, "cores", cores, 0);
        require(name, "memory", (double) memoryBytes, 1);
        require(name, "price", price, 0);
        require(name, "notice", noticeSeconds, 0);
        require(name, "start", startSeconds, 0);
        if (!(lifeHours > 0)) {
            throw new IllegalArgumentException("type " + name + " lives for " + lifeHours + " h; that is more than 0");
        }
    }

    private static void require(String name, String what, double value, double least) {
        if (!(value >= least) || value == Double.POSITIVE_INFINITY) {
            throw new IllegalArgumentException(
                    "type " + name + " has " + what + " of " + value + "; that is at least " + least);
        }
    }

    /**
     * Returns the part of a machine that a cache pays for: its part of the memory or, if that is greater, of the cores.
     */
    double part(double bytes, double threads) {
        double memory = bytes / memoryBytes;
        return cores == 0 ? memory : Math.max(memory, threads / cores);
    }
}
