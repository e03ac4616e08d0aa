package io.farheap.kv.keeper;

import io.farheap.kv.format.MapDescriptor;

/**
 * How many of a map's growths a process confirms: those of which all servers that have the table have copies, as far as
 * the process reaches them. These must be so many that no others can replace the first server without one of them: a
 * process that is cut off from the others would confirm a growth that they do not know, and they would give its numbers
 * to other regions. What was confirmed stays so. One thread.
 */
final class CopiedGrowths {

    private int servers;
    /** Servers that are reached, the first one among them, and how many growths all of these have. */
    private int reached;

    private int least;
    private int confirmed;

    /**
     * Begins to count.
     *
     * @param of how many servers have the table
     * @param known how many growths this process and the first server know
     */
    void begin(int of, int known) {
        servers = of;
        reached = 1;
        least = known;
    }

    /** Another server that is reached has copies of so many. */
    void has(int copies) {
        reached++;
        least = Math.min(least, copies);
    }

    /** How many growths are confirmed. */
    int confirmed() {
        if (servers < MapDescriptor.LEAST_REPLACING || 2 * reached >= servers) {
            confirmed = Math.max(confirmed, least);
        }
        return confirmed;
    }
}
