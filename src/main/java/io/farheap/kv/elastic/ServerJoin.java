package io.farheap.kv.elastic;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.SpaceInfo;
import io.farheap.control.plane.SpacePlane;
import io.farheap.kv.format.MapDescriptor;
import io.farheap.kv.format.RegionDirectory;
import io.farheap.kv.keeper.MapServer;
import io.farheap.kv.keeper.MapServers;
import io.farheap.memory.ByteSize;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteSpace;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.thread.Uninterruptibles;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/** Adds a memory server to a map while the map is used. Any thread, one at a time. */
public final class ServerJoin {

    private static final long ZEROING_NANOS = TimeUnit.SECONDS.toNanos(20);
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final MapServers servers;
    private final MapGrowth memory;

    public ServerJoin(MapServers servers, MapGrowth memory) {
        this.servers = servers;
        this.memory = memory;
    }

    /** Adds a server. @param regions that the map has on it */
    public void join(String hostPort, int regions) {
        memory.change(before -> {
            if (servers.all().stream()
                    .anyMatch(each ->
                            !before.hasLeft(each.number()) && each.address().equals(hostPort))) {
                throw new IllegalArgumentException(
                        "server " + hostPort + " is in the map already; let the map grow by memory alone");
            }
            RemoteServer server = servers.remote().attach(hostPort);
            try {
                refuseTwice(server, before);
                make(server, before, regions);
            } catch (Throwable e) {
                servers.remote().detach(server);
                throw e;
            }
            // If this fails, the first server may have recorded it nevertheless: then space and lease are in use.
            byte[] address = hostPort.getBytes(StandardCharsets.UTF_8);
            return memory.tell(before, new RegionDirectory.Growth(before.servers(), 0, regions), address);
        });
    }

    /**
     * Refuses a server that is in the map by another address: if its process were lost, two of the map's servers would
     * be.
     */
    private void refuseTwice(RemoteServer server, RegionDirectory before) {
        for (MapServer each : servers.all()) {
            if (!before.hasLeft(each.number()) && each.space().server().isSameProcess(server)) {
                throw new IllegalArgumentException("server " + server + " is in the map already, as " + each.address()
                        + "; let the map grow by memory alone");
            }
        }
    }

    private void make(RemoteServer server, RegionDirectory before, int regions) {
        RemoteSpace first = servers.first().space();
        MapDescriptor map =
                MapDescriptor.decode(first.descriptor(), first.toString()).of(before.servers());
        if (server.description().regionBytes() != map.regionBytes()) {
            throw new IllegalArgumentException(
                    "regions of " + ByteSize.text(server.description().regionBytes()) + " on "
                            + server + ", and of " + ByteSize.text(map.regionBytes())
                            + " in the map; a map lies on servers with regions of one size");
        }
        long millis = millisLeft(first);
        RemoteMemory remote = servers.remote();
        try {
            remote.createSpace(server, servers.key(), regions, millis, map.encode());
        } catch (ControlException e) {
            if (e.code() != Code.INVALID_ARGUMENT) {
                throw e;
            }
            RemoteSpace there = remote.openSpace(server, servers.key());
            if (!isLeftOver(there, map, before)) {
                throw e;
            }
            remote.dropSpace(server, servers.key(), there.id());
            afterDrop(() -> remote.createSpace(server, servers.key(), regions, millis, map.encode()));
        }
    }

    /** Repeats the creation until the memory of the dropped space has been zeroed, and is free. */
    private static void afterDrop(Runnable creation) {
        long deadline = System.nanoTime() + ZEROING_NANOS;
        while (true) {
            try {
                creation.run();
                return;
            } catch (ControlException e) {
                if (e.code() != Code.OUT_OF_MEMORY || System.nanoTime() - deadline > 0) {
                    throw e;
                }
                Uninterruptibles.parkNanos(ServerJoin.class, LOOK_NANOS);
            }
        }
    }

    /** Whether a process died while it added the server, or took it out and died before the space there was dropped. */
    private static boolean isLeftOver(RemoteSpace space, MapDescriptor map, RegionDirectory before) {
        MapDescriptor there = MapDescriptor.decode(space.descriptor(), space.toString());
        return there.belongsTo(map)
                && there.joined()
                && (there.server() >= before.servers() || before.hasLeft(there.server()));
    }

    /** The time to live that the map has left, which the new space gets too. */
    private long millisLeft(RemoteSpace first) {
        return servers.remote().spaces(first.server()).stream()
                .filter(each -> each.name().equals(first.name()))
                .mapToLong(SpaceInfo::millisLeft)
                .findFirst()
                .orElse(SpacePlane.FOR_EVER);
    }
}
