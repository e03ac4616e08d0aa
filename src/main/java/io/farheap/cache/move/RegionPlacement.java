package io.farheap.cache.move;

import io.farheap.cache.contract.CacheException;
import io.farheap.control.ControlException;
import io.farheap.memory.ByteSize;
import io.farheap.memory.Plurals;
import io.farheap.migration.region.RegionTable;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Chooses the servers of a new or growing cache's regions, and allocates them. */
public final class RegionPlacement {

    private RegionPlacement() {}

    /**
     * Allocates a new cache's regions round robin: region i on server i modulo the number of servers, as long as each
     * has room.
     *
     * @param allotted how many regions each server gets; null to spread them as evenly as the room allows
     */
    public static RegionTable allocate(List<RemoteServer> servers, long capacity, int @Nullable [] allotted) {
        long regionBytes = servers.getFirst().description().regionBytes();
        for (RemoteServer server : servers) {
            checkRegionSize(server, regionBytes);
        }
        long wanted = (capacity - 1) / regionBytes + 1;
        int[] shares = allotted == null ? shares(servers, capacity, wanted, regionBytes) : allotted;
        if (IntStream.of(shares).sum() != wanted) {
            throw new CacheException(
                    "the manager has allocated " + IntStream.of(shares).sum()
                            + " regions for the cache, which needs " + wanted + " of " + ByteSize.text(regionBytes)
                            + ", the size on its servers; a server was restarted with another size: try again");
        }
        List<List<RemoteRegion>> granted = new ArrayList<>();
        for (int i = 0; i < shares.length; i++) {
            granted.add(shares[i] == 0 ? new ArrayList<>() : grant(servers.get(i), shares[i]));
        }
        RemoteRegion[] regions = new RemoteRegion[(int) wanted];
        int server = 0;
        for (int region = 0; region < regions.length; region++) {
            while (granted.get(server).isEmpty()) {
                server = (server + 1) % shares.length;
            }
            regions[region] = granted.get(server).removeFirst();
            server = (server + 1) % shares.length;
        }
        return new RegionTable(regions, capacity, regionBytes);
    }

    private static int[] shares(List<RemoteServer> servers, long capacity, long wanted, long regionBytes) {
        int[] shares = new int[servers.size()];
        long missing = wanted;
        boolean progress = true;
        while (missing > 0 && progress) {
            progress = false;
            for (int i = 0; i < shares.length && missing > 0; i++) {
                if (shares[i] < servers.get(i).description().freeRegions()) {
                    shares[i]++;
                    missing--;
                    progress = true;
                }
            }
        }
        if (missing > 0) {
            throw new CacheException("a cache of " + ByteSize.text(capacity) + " needs "
                    + Plurals.of(wanted, "region") + " of " + ByteSize.text(regionBytes) + "; the servers have "
                    + (wanted - missing)
                    + " free: ask for less, or name more servers");
        }
        return shares;
    }

    /**
     * Allocates regions for a cache that grows, from the first servers that have room.
     *
     * @param servers in the order in which they are asked
     * @throws CacheException if there are not enough; nothing has been taken then
     */
    static List<RemoteRegion> more(List<RemoteServer> servers, int wanted) {
        List<RemoteRegion> granted = new ArrayList<>();
        ControlException refused = null;
        try {
            for (RemoteServer server : servers) {
                try {
                    granted.addAll(server.allocate(wanted - granted.size()));
                } catch (ControlException all) {
                    refused = some(server, wanted, granted, all);
                }
                if (granted.size() == wanted) {
                    return granted;
                }
            }
            CacheException none = new CacheException("the cache needs "
                    + Plurals.of(wanted, "more region") + ", and its servers have " + granted.size()
                    + "; ask for less, or add a server");
            if (refused != null) {
                none.addSuppressed(refused);
            }
            throw none;
        } catch (Throwable e) {
            giveBack(granted);
            throw e;
        }
    }

    /** Takes as many regions as a server has, if it does not have all that are wanted. */
    private static ControlException some(
            RemoteServer server, int wanted, List<RemoteRegion> granted, ControlException refused) {
        if (refused.code() != ControlException.Code.OUT_OF_MEMORY) {
            return refused;
        }
        while (granted.size() < wanted) {
            try {
                granted.addAll(server.allocate(1));
            } catch (ControlException e) {
                return e;
            }
        }
        return refused;
    }

    static void giveBack(List<RemoteRegion> regions) {
        regions.forEach(region -> region.server().releaseQuietly(region));
    }

    public static List<RemoteRegion> grant(RemoteServer server, int regions) {
        try {
            return new ArrayList<>(server.allocate(regions));
        } catch (ControlException e) {
            throw new CacheException(
                    server + " does not grant " + Plurals.of(regions, "region") + ": " + e.getMessage(), e);
        }
    }

    static void checkRegionSize(RemoteServer server, long regionBytes) {
        if (server.description().regionBytes() != regionBytes) {
            throw new CacheException(server + " has regions of "
                    + ByteSize.text(server.description().regionBytes()) + ", the cache of " + ByteSize.text(regionBytes)
                    + "; start its servers with one --region");
        }
    }
}
