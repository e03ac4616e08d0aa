package io.farheap.cache.move;

import io.farheap.cache.contract.Status;
import io.farheap.control.ControlException;
import io.farheap.migration.region.RegionTable;
import io.farheap.remote.contract.RemoteServer;
import java.util.ArrayList;
import java.util.List;

/** Describes, for messages, the servers with which a part of a cache was lost, and the remedy. */
public final class LostRegions {

    /** The remedy when the content is gone. */
    public static final String REMEDY = "close this cache, create another and fill it again; a cache with "
            + "CacheBuilder.resilience survives the loss of servers";

    private LostRegions() {}

    /**
     * Why requests to a range end with {@link Status#LOST}. If the lease on a server of the range is lost, so is the
     * content; until then a session may have lost its connection alone.
     *
     * @param address of the range in the cache
     * @param length in bytes, at least 1
     */
    public static String describe(RegionTable table, List<RemoteServer> servers, long address, long length) {
        List<String> gone = new ArrayList<>();
        List<String> cutOff = new ArrayList<>();
        for (RemoteServer server : servers) {
            if (uses(table, server, address, length)) {
                ControlException lost = server.lost();
                if (lost == null) {
                    cutOff.add(server.address());
                } else {
                    gone.add(server.address() + " (" + lost.getMessage() + ")");
                }
            }
        }
        if (!gone.isEmpty()) {
            return Status.describe(Status.LOST) + ": memory server " + String.join(" and ", gone) + "; " + REMEDY;
        }
        if (!cutOff.isEmpty()) {
            String server = String.join(" or ", cutOff);
            return "the session cannot continue with memory server " + server
                    + ": open another session; if that server is gone, so is the content: " + REMEDY;
        }
        return Status.describe(Status.LOST) + "; " + REMEDY;
    }

    /** The servers of a range, and the remedy if one is gone. */
    public static String describeServers(RegionTable table, List<RemoteServer> servers, long address, long length) {
        List<String> used = servers.stream()
                .filter(server -> uses(table, server, address, length))
                .map(RemoteServer::address)
                .toList();
        return "; it goes to memory server " + String.join(" or ", used)
                + ": try again, and if that server is gone, so is the content: " + REMEDY;
    }

    private static boolean uses(RegionTable table, RemoteServer server, long address, long length) {
        int last = Math.min(table.indexOf(address + length - 1), table.size() - 1);
        for (int region = table.indexOf(address); region <= last; region++) {
            if (table.get(region).uses(server)) {
                return true;
            }
        }
        return false;
    }
}
