package io.farheap.manager;

import java.util.List;

/**
 * What a manager estimates of the lives of spot servers of one type of machine.
 *
 * @param type of the machines
 * @param ends how many were seen to end
 * @param censored how many were seen for a while only: they were drained or stopped, and might have lived longer
 * @param meanHours how long such a machine lives on average, in hours
 * @param observed whether the mean comes from what was seen; if not, too few have ended, and it is the menu's
 * @param racks where those are that report now, in the order of their places
 */
public record LifeEstimate(
        String type, int ends, int censored, double meanHours, boolean observed, List<RackLives> racks) {

    /**
     * The spot servers of one type in one rack that report now and stay.
     *
     * @param place of the rack, as data center, cluster and rack
     * @param living how many there are
     * @param oldestHours how long the oldest of them has lived, in hours
     * @param ending addresses, as HOST:PORT, of those that are expected to end soon, so that caches leave them
     */
    public record RackLives(String place, int living, double oldestHours, List<String> ending) {

        /** @throws IllegalArgumentException if a value is out of its range */
        public RackLives {
            TextChecks.require("a rack's place", place, CacheManager.MAX_TEXT_LENGTH);
            ending = List.copyOf(ending);
            ending.forEach(address -> TextChecks.require("a server's address", address, CacheManager.MAX_TEXT_LENGTH));
            if (living < 1 || ending.size() > living || !(oldestHours >= 0)) {
                throw new IllegalArgumentException("a rack of " + living + " servers, of which " + ending.size()
                        + " end soon and the oldest has lived for " + oldestHours
                        + " h; it has at least 1, and as many as end soon");
            }
        }
    }

    /** @throws IllegalArgumentException if a value is out of its range */
    public LifeEstimate {
        TextChecks.require("a server's type", type, CacheManager.MAX_TEXT_LENGTH);
        racks = List.copyOf(racks);
        if (ends < 0 || censored < 0 || !(meanHours > 0)) {
            throw new IllegalArgumentException("a type of which " + ends + " servers ended and " + censored
                    + " were seen for a while, with a mean life of " + meanHours
                    + " h; the counts are at least 0, and the mean is more");
        }
    }

    /** How many spot servers of the type report now and stay. */
    public int living() {
        return racks.stream().mapToInt(RackLives::living).sum();
    }

    /** How many of these are expected to end soon. */
    public int ending() {
        return racks.stream().mapToInt(rack -> rack.ending().size()).sum();
    }
}
