package io.farheap.manager;

/**
 * How fast caches leave servers of one type of machine, as a manager estimates it. What is on a spot server must be
 * able to leave within its notice, so this bounds how many regions it offers.
 *
 * @param type of the machines
 * @param bytesPerSecond that leave one server
 * @param observed whether the rate comes from moves that this manager or an earlier one has observed; if not, it is the
 *     one with which the first manager begins
 * @param samples how many times this manager has observed caches leave a server; caches that leave one together are one
 */
public record LeavingRate(String type, double bytesPerSecond, boolean observed, long samples) {

    /** @throws IllegalArgumentException if a value is out of its range */
    public LeavingRate {
        TextChecks.require("a server's type", type, CacheManager.MAX_TEXT_LENGTH);
        if (!(bytesPerSecond > 0) || samples < 0) {
            throw new IllegalArgumentException("a rate of " + bytesPerSecond + " bytes a second from " + samples
                    + " samples; the rate is more than 0, and samples are at least 0");
        }
    }
}
