package io.farheap.testing;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The history of one aligned 8-byte word, checked for linearizability. Every write stores a value of its own, so each
 * read names its write; such a history is linearizable exactly if the zones of its values do not conflict (Gibbons and
 * Korach, "Testing shared memories", 1997): a value's zone spans from the earliest response to the latest invocation
 * among its write and reads.
 */
public final class RegisterHistory {

    /** The word's value before the first write. */
    public static final long INITIAL = 0;

    private static final class Zone {
        long writeInvoked = Long.MIN_VALUE;
        long writeResponded = Long.MAX_VALUE;
        long firstReadResponse = Long.MAX_VALUE;
        long lastReadInvocation = Long.MIN_VALUE;
        long firstResponse = Long.MAX_VALUE;
        long lastInvocation = Long.MIN_VALUE;
        boolean written;
        /** It may not have happened, unless it was read. */
        boolean unsure;

        int reads;

        void extend(long invoked, long responded) {
            firstResponse = Math.min(firstResponse, responded);
            lastInvocation = Math.max(lastInvocation, invoked);
        }

        boolean forward() {
            return firstResponse < lastInvocation;
        }

        long low() {
            return Math.min(firstResponse, lastInvocation);
        }

        long high() {
            return Math.max(firstResponse, lastInvocation);
        }
    }

    private final Map<Long, Zone> zones = new HashMap<>();

    public RegisterHistory() {
        Zone initial = new Zone();
        initial.written = true;
        initial.extend(Long.MIN_VALUE + 1, Long.MIN_VALUE + 2);
        zones.put(INITIAL, initial);
    }

    /** @param responded when it was called back, or {@link Long#MAX_VALUE} if it was not */
    public void write(long value, long invoked, long responded) {
        Zone zone = zones.computeIfAbsent(value, ignored -> new Zone());
        zone.written = true;
        zone.writeInvoked = invoked;
        zone.writeResponded = responded;
        zone.extend(invoked, responded);
    }

    /**
     * A write that has happened before it was called back, or not at all.
     *
     * @param responded when it was called back
     */
    public void attempt(long value, long invoked, long responded) {
        Zone zone = zones.computeIfAbsent(value, ignored -> new Zone());
        zone.written = true;
        zone.unsure = true;
        zone.writeInvoked = invoked;
        zone.writeResponded = responded;
    }

    public void read(long value, long invoked, long responded) {
        Zone zone = zones.computeIfAbsent(value, ignored -> new Zone());
        zone.extend(invoked, responded);
        zone.reads++;
        zone.firstReadResponse = Math.min(zone.firstReadResponse, responded);
        zone.lastReadInvocation = Math.max(zone.lastReadInvocation, invoked);
    }

    /** @return a description of the violation, or null if there is none */
    public String violation() {
        List<Zone> forward = new ArrayList<>();
        List<Zone> backward = new ArrayList<>();
        for (Map.Entry<Long, Zone> entry : zones.entrySet()) {
            Zone zone = entry.getValue();
            if (zone.unsure && zone.reads == 0) {
                continue;
            }
            if (zone.unsure) {
                zone.extend(zone.writeInvoked, zone.writeResponded);
            }
            if (!zone.written) {
                return "a read returned " + describe(zone) + ", which nobody wrote";
            }
            if (zone.firstResponse < zone.writeInvoked) {
                return "a read returned a value before it was written: " + describe(zone);
            }
            (zone.forward() ? forward : backward).add(zone);
        }
        forward.sort(java.util.Comparator.comparingLong(Zone::low));
        for (int i = 1; i < forward.size(); i++) {
            if (forward.get(i).low() < forward.get(i - 1).high()) {
                return "two values each were read after the other: " + describe(forward.get(i - 1)) + " and "
                        + describe(forward.get(i));
            }
        }
        for (Zone inner : backward) {
            for (Zone outer : forward) {
                if (outer.low() < inner.low() && inner.high() < outer.high()) {
                    return "a value came and went while another was there: " + describe(inner) + " within "
                            + describe(outer);
                }
            }
        }
        return null;
    }

    /** Describes the write and the reads apart, because a zone alone does not show which of them bounds it. */
    private String describe(Zone zone) {
        long value = zones.entrySet().stream()
                .filter(entry -> entry.getValue() == zone)
                .findFirst()
                .orElseThrow()
                .getKey();
        String write = !zone.written
                ? "not written"
                : zone.writeInvoked == Long.MIN_VALUE
                        ? "there from the start"
                        : "write invoked " + zone.writeInvoked + ", "
                                + (zone.writeResponded == Long.MAX_VALUE
                                        ? "its response is unknown"
                                        : "responded " + zone.writeResponded);
        String reads = zone.reads == 0
                ? "no reads"
                : zone.reads + " reads, the first response " + zone.firstReadResponse + ", the last invocation "
                        + zone.lastReadInvocation;
        return Long.toHexString(value) + " (" + write + "; " + reads + ")";
    }
}
