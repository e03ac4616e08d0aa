package io.farheap.manager.allocation;

/**
 * What a server has to give.
 *
 * @param free free regions; of a spot server at most as many as can leave it within its notice
 * @param freeCores cores that no cache uses; {@link Double#POSITIVE_INFINITY} if the number of cores is unknown
 */
public record Offer(long serverId, Kind kind, NetworkLocation place, int free, double freeCores) {

    /**
     * What servers of equal cost have in common.
     *
     * @param type as in the menu
     * @param spot whether the provider may take the server back at any time, after its notice; it costs less
     */
    public record Kind(String type, boolean spot, long regionBytes) {}

    /**
     * Returns how many of its regions a cache can get.
     *
     * @param wanted all regions that the cache wants
     * @param serverThreads server threads that it uses for all of them
     */
    public int room(int wanted, int serverThreads) {
        if (serverThreads == 0 || freeCores == Double.POSITIVE_INFINITY) {
            return free;
        }
        return (int) Math.min(free, freeCores * wanted / serverThreads);
    }
}
