package io.farheap.manager;

/**
 * How fast caches leave servers of one type of machine, as a manager estimates it. What is on a spot server must be able
 * to leave within its notice, so this bounds how many regions it offers.
 *
 * @param type of the machines
 * @param bytesPerSecond that leave one server
 * @param samples how many moves were observed; if 0, the rate is the one with which each manager begins
 */
public record LeavingRate(String type, double bytesPerSecond, long samples) {

    /** @throws IllegalArgumentException if a value is out of its range */
    public LeavingRate {
        TextChecks.require("a server's type", type, CacheManager.MAX_TEXT_LENGTH);
        if (!(bytesPerSecond > 0) || samples < 0) {
            throw new IllegalArgumentException("a rate of " + bytesPerSecond + " bytes a second from " + samples
                    + " samples; the rate is more than 0, and samples are at least 0");
        }
    }
}
