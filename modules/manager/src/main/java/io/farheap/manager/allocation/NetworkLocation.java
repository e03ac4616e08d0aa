package io.farheap.manager.allocation;

/**
 * Where a client or a server is. An empty part is unknown.
 *
 * @param cluster of a data center
 * @param rack of a cluster
 */
public record NetworkLocation(String dataCenter, String cluster, String rack) {

    /**
     * An unknown place. A server there is taken to be {@value #FARTHEST} switches from every client; a client there
     * reaches every server, whatever the number of switches.
     */
    public static final NetworkLocation UNKNOWN = new NetworkLocation("", "", "");

    /** Switches between racks of two clusters. */
    public static final int FARTHEST = 5;

    /** Switches between racks of one cluster. */
    static final int CLUSTER = 3;

    /** Switches between servers of one rack. */
    static final int RACK = 1;

    /** @param text DC/CLUSTER/RACK, or the beginning of that; empty: unknown */
    public static NetworkLocation parse(String text) {
        String[] parts = text.split("/", 3);
        return new NetworkLocation(parts[0], parts.length > 1 ? parts[1] : "", parts.length > 2 ? parts[2] : "");
    }

    /**
     * Returns the part of the network around this place in which two places are at most {@code switches} apart; empty,
     * which is the whole network, for an unknown place; {@link #NOWHERE} if too little of the place is known.
     */
    String within(int switches) {
        if (dataCenter.isEmpty()) {
            return "";
        }
        if (switches >= FARTHEST || cluster.isEmpty()) {
            return switches >= FARTHEST ? dataCenter : NOWHERE;
        }
        if (switches >= CLUSTER || rack.isEmpty()) {
            return switches >= CLUSTER ? dataCenter + "/" + cluster : NOWHERE;
        }
        return toString();
    }

    /** Whether a server at another place is at most {@code switches} from a client here. */
    public boolean reaches(NetworkLocation server, int switches) {
        String part = within(switches);
        if (part.isEmpty() || server.dataCenter().isEmpty()) {
            return part.isEmpty() || switches >= FARTHEST;
        }
        return !part.equals(NOWHERE)
                && (part.equals(server.within(FARTHEST))
                        || part.equals(server.within(CLUSTER))
                        || part.equals(server.within(RACK)));
    }

    /** A part of the network in which no server is. */
    static final String NOWHERE = "/";

    @Override
    public String toString() {
        return dataCenter + "/" + cluster + "/" + rack;
    }
}
