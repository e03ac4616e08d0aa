package io.farheap.kv.keeper;

import io.farheap.control.ControlException;
import io.farheap.control.SpaceKey;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.format.MapDescriptor;
import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteSpace;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.thread.ThreadJoiner;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The servers of a map that a process uses, in the order of their numbers: those that it was made on, and those that
 * have joined and not left. Any thread looks; the keeper's changes which there are.
 */
public final class MapServers implements AutoCloseable {

    private final RemoteMemory remote;
    private final SpaceKey key;
    /** By which all of the map's servers know this one. */
    private final long process;

    /** The address of one that is not to be reached, as it is lost; empty where there is none. */
    private final String without;

    private final List<MapServer> present = new CopyOnWriteArrayList<>();
    /** Attachments that are given up; the same server may join again by another. */
    private final Set<RemoteServer> left = ConcurrentHashMap.newKeySet();
    /** End leases of servers that have left. */
    private final List<Thread> leaving = new CopyOnWriteArrayList<>();

    /**
     * @param process its number, which no other process that has the map open has
     * @param without address of a server that has joined and is lost; empty where there is none
     */
    public MapServers(RemoteMemory remote, SpaceKey key, long process, String without) {
        this.remote = remote;
        this.key = key;
        this.process = process;
        this.without = without;
    }

    /** Whether a server is done without. */
    public boolean goesWithout(String address) {
        return !without.isEmpty() && without.equals(address);
    }

    public RemoteMemory remote() {
        return remote;
    }

    public SpaceKey key() {
        return key;
    }

    public List<MapServer> all() {
        return present;
    }

    /** The map's first, which keeps its clock, and what it has grown by. */
    public MapServer first() {
        return present.getFirst();
    }

    /** The one of a number; null where it has left, or is not known yet. */
    @Nullable
    MapServer of(int number) {
        for (MapServer each : present) {
            if (each.number() == number) {
                return each;
            }
        }
        return null;
    }

    /**
     * Opens calls to a server's service and registers the process there.
     *
     * @throws MapException where it serves no calls, or does not answer
     */
    MapServiceClient open(RemoteSpace space, int number) {
        MapServiceClient line;
        try {
            line = new MapServiceClient(remote, space, number);
        } catch (ControlException e) {
            throw new MapException(
                    space.server() + " serves no calls, which a map needs to get memory: " + e.getMessage());
        }
        if (!line.with(1, process).callFirst(MapCalls.REGISTER, 2)) {
            line.close();
            throw new MapException(space.server() + " has no service for maps that answers; run the same release "
                    + "there, with server threads");
        }
        return line;
    }

    /**
     * Reaches a server that has joined: with all sessions' queues, so that they can use it as soon as they know of it.
     * Takes as long as that server does.
     *
     * @param map of which the server says that it is a part
     */
    MapServiceClient reach(String address, int number, MapDescriptor map) {
        RemoteServer server = remote.servers().stream()
                .filter(each -> each.address().equals(address) && each.lost() == null && !left.contains(each))
                .findFirst()
                .orElseGet(() -> remote.attach(address));
        try (CloseStack stack = new CloseStack()) {
            stack.add(() -> remote.detach(server));
            RemoteSpace space = remote.openSpace(server, key);
            MapDescriptor own = MapDescriptor.decode(space.descriptor(), space.toString());
            if (!own.belongsTo(map) || own.server() != number) {
                throw new MapException(space + " is of another map than that of this name on "
                        + first().space().server() + ", which it has joined");
            }
            MapServiceClient line = stack.add(open(space, number));
            remote.connectQueues(server);
            stack.keep();
            return line;
        }
    }

    void add(MapServer server) {
        present.add(server);
    }

    /**
     * A server has left the map, and no request of this process knows of anything there. Its lease ends on a thread of
     * its own, as a server that hangs is to keep nobody waiting.
     */
    void leave(MapServer server) {
        present.remove(server);
        RemoteServer attached = server.space().server();
        left.add(attached);
        leaving.add(Thread.ofVirtual().name("farheap-map-leave").start(() -> {
            server.line().close();
            remote.detach(attached);
            left.remove(attached);
        }));
        leaving.removeIf(thread -> !thread.isAlive());
    }

    /** What one does with a server that is attached for this alone, and not used for the map. */
    public void apart(String address, Consumer<RemoteServer> what) {
        RemoteServer server = remote.attach(address);
        left.add(server);
        try {
            what.accept(server);
        } finally {
            remote.detach(server);
            left.remove(server);
        }
    }

    /** Ends the calls; the spaces are the memory's. */
    @Override
    public void close() {
        leaving.forEach(ThreadJoiner::join);
        Closeables.all(present.stream().map(MapServer::line).toList());
    }
}
