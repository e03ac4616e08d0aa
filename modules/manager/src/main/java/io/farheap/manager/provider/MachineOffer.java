package io.farheap.manager.provider;

import io.farheap.manager.allocation.Offer;

/**
 * Machines of one type that can be had now.
 *
 * @param type its name on the menu
 * @param spot whether the provider may take them back at any time, after their notice
 * @param price of a machine for an hour, in the menu's money
 * @param regionBytes of their servers' regions
 * @param regions of each server
 * @param place where they are, as data center, cluster and rack
 * @param noticeMillis how long they stay after they were asked to leave
 * @param available how many can be had
 */
public record MachineOffer(
        String type,
        boolean spot,
        double price,
        long regionBytes,
        int regions,
        String place,
        long noticeMillis,
        int available) {

    public MachineOffer {
        if (!(price >= 0) || regionBytes < 1 || regions < 1 || noticeMillis < 0 || available < 0) {
            throw new IllegalArgumentException(available + " machines of type " + type + " with " + regions
                    + " regions of " + regionBytes + " bytes at " + price + " an hour, with a notice of " + noticeMillis
                    + " ms");
        }
    }

    /** Returns the kind of their servers, by which an allocation groups servers of equal cost. */
    public Offer.Kind kind() {
        return new Offer.Kind(type, spot, regionBytes);
    }

    @Override
    public String toString() {
        return type + (spot ? " (spot)" : "");
    }
}
