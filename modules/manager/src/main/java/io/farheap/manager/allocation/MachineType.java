package io.farheap.manager.allocation;

/**
 * A kind of machine, as a provider lets it.
 *
 * @param place where it is let, as data center, cluster and rack or the beginning of that; empty: anywhere
 * @param cores 0 for memory that is left where all cores are let: stranded memory
 * @param memoryBytes of a machine
 * @param price of a machine for an hour, in whatever money the menu is in
 * @param spotPrice the same for a machine that may be taken back at any time; negative where there is none
 * @param noticeSeconds how long before it is taken back a spot machine says so
 * @param startSeconds how long it takes until another one serves
 * @param lifeHours how long spot machines last on average, until enough of them were seen
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

    /** The part of a machine that a cache takes: of its memory, or of its cores where it needs more of those. */
    double part(double bytes, double threads) {
        double memory = bytes / memoryBytes;
        return cores == 0 ? memory : Math.max(memory, threads / cores);
    }
}
