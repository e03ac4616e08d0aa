package io.farheap.kv.leased.client;

import io.farheap.control.ControlException;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.keeper.MapServiceClient;
import io.farheap.lifetime.Closeables;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteSpace;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Calls of a process to the servers of a leased map about the servers that have its shards. One thread at a time; its
 * owner closes it.
 */
public final class ShardLines implements AutoCloseable {

    private final RemoteMemory remote;
    private final SortedMap<Integer, MapServiceClient> lines = new TreeMap<>();

    public ShardLines(RemoteMemory remote) {
        this.remote = remote;
    }

    /**
     * The calls to a server, which are opened if this is the first time.
     *
     * @param number of the server
     * @throws MapException if the server serves no calls
     */
    MapServiceClient to(RemoteSpace space, int number) {
        MapServiceClient line = lines.get(number);
        if (line == null) {
            try {
                line = new MapServiceClient(remote, space, number);
            } catch (ControlException e) {
                throw new MapException(
                        "a server serves no calls, which a leased map needs for all that it does: " + e.getMessage());
            }
            lines.put(number, line);
        }
        return line;
    }

    /** Why a server has not done what it was asked. */
    static MapException unanswered(RemoteSpace space) {
        return new MapException(space.server() + " has no service for leased maps that answers; run the same "
                + "release there, with server threads");
    }

    /** A server has left the map. */
    public void leave(int number) {
        MapServiceClient line = lines.remove(number);
        if (line != null) {
            line.close();
        }
    }

    /** Idempotent. */
    @Override
    public void close() {
        List<MapServiceClient> all = List.copyOf(lines.values());
        lines.clear();
        Closeables.all(all);
    }
}
