package io.farheap.manager.allocation;

/**
 * What a server has to give.
 *
 * @param free regions; of a spot server no more than what can leave within its notice
 * @param freeCores that no cache has; {@link Double#POSITIVE_INFINITY} where nobody knows how many it has
 */
public record Offer(long serverId, Kind kind, NetworkLocation place, int free, double freeCores) {

    /**
     * What servers have in common that cost the same.
     *
     * @param type as in the menu
     * @param spot whether it may be taken back at its notice at any time, and so costs less
     */
    public record Kind(String type, boolean spot, long regionBytes) {}

    /** How many regions it can give to a cache of so many, which has so many server threads for all of them. */
    public int room(int wanted, int serverThreads) {
        if (serverThreads == 0 || freeCores == Double.POSITIVE_INFINITY) {
            return free;
        }
        return (int) Math.min(free, freeCores * wanted / serverThreads);
    }
}
