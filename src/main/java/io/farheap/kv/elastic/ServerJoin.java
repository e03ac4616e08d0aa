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

/** Adds a memory server to a map while it is used. Any thread, one at a time. */
public final class ServerJoin {

    private static final long ZEROING_NANOS = TimeUnit.SECONDS.toNanos(20);
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final MapServers servers;
    private final MapGrowth memory;

    public ServerJoin(MapServers servers, MapGrowth memory) {
        this.servers = servers;
        this.memory = memory;
    }

    /** @param regions of the server's that the map has from now on */
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
            // Where this fails, the first server may have noted it nevertheless: then space and lease are used.
            byte[] address = hostPort.getBytes(StandardCharsets.UTF_8);
            return memory.tell(before, new RegionDirectory.Growth(before.servers(), 0, regions), address);
        });
    }

    /** By another of its addresses, too: a map on one server process twice would lose more with it than it says. */
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

    /** What was dropped is free once it is zeroed. */
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

    /** Whether somebody has begun to add the server and died, or has taken it out and died before its space ended. */
    private static boolean isLeftOver(RemoteSpace space, MapDescriptor map, RegionDirectory before) {
        MapDescriptor there = MapDescriptor.decode(space.descriptor(), space.toString());
        return there.belongsTo(map)
                && there.joined()
                && (there.server() >= before.servers() || before.hasLeft(there.server()));
    }

    /** The new part of the map ends when the others do. */
    private long millisLeft(RemoteSpace first) {
        return servers.remote().spaces(first.server()).stream()
                .filter(each -> each.name().equals(first.name()))
                .mapToLong(SpaceInfo::millisLeft)
                .findFirst()
                .orElse(SpacePlane.FOR_EVER);
    }
}
