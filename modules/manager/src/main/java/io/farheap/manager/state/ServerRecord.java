package io.farheap.manager.state;

import java.util.Objects;

/**
 * A memory server, as the manager knows it. Immutable.
 *
 * @param id the manager's number for it, which no other server ever had
 * @param address of its control plane, as host:port; not blank
 * @param type the type of its machine; empty if unknown
 * @param spot whether it may be taken back at any time
 * @param sinceMillis when it first reported, in milliseconds since 1970
 * @param place where it is, as data center, cluster and rack; empty if unknown
 * @param regionBytes size of each of its regions, above 0
 * @param regions how many it has, 0 or more
 * @param noticeMillis how long before its end it gives notice, in milliseconds; 0: it gives none
 * @param leaving whether it gets no new regions, and those it has are moved away
 * @param forgotten whether an operator has given it up: nothing is expected of it until it reports again
 */
public record ServerRecord(
        long id,
        String address,
        String type,
        boolean spot,
        long sinceMillis,
        String place,
        long regionBytes,
        int regions,
        long noticeMillis,
        boolean leaving,
        boolean forgotten) {

    /** A server that is not given up. */
    public ServerRecord(
            long id,
            String address,
            String type,
            boolean spot,
            long sinceMillis,
            String place,
            long regionBytes,
            int regions,
            long noticeMillis,
            boolean leaving) {
        this(id, address, type, spot, sinceMillis, place, regionBytes, regions, noticeMillis, leaving, false);
    }

    /** @throws IllegalArgumentException if a value is out of its range */
    public ServerRecord {
        RecordChecks.notBlank("address", address);
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(place, "place");
        RecordChecks.atLeast("sinceMillis", sinceMillis, 0);
        RecordChecks.atLeast("regionBytes", regionBytes, 1);
        RecordChecks.atLeast("regions", regions, 0);
        RecordChecks.atLeast("noticeMillis", noticeMillis, 0);
    }

    /** Returns the same server, given up. */
    public ServerRecord forget() {
        return new ServerRecord(
                id, address, type, spot, sinceMillis, place, regionBytes, regions, noticeMillis, leaving, true);
    }
}
