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
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The servers of a map that a process uses, in the order of their numbers: those that the map was made on, and those
 * that have joined and not left. Any thread reads the list; the keeper's thread changes it.
 */
public final class MapServers implements AutoCloseable {

    private final RemoteMemory remote;
    private final SpaceKey key;
    /** The number by which the map's servers know this process. */
    private final long process;

    /** The address of a lost server that must not be connected to; empty if there is none. */
    private final String without;
    /** By number, the addresses of servers that had joined and that this process opened the map without. */
    private final Map<Integer, String> away = new ConcurrentHashMap<>();
    /** Those of them that the user has not named. */
    private final Map<Integer, String> leftOut = new ConcurrentHashMap<>();

    private final List<MapServer> present = new CopyOnWriteArrayList<>();
    /**
     * Attachments that are being given up, or are not for the map; the same server may be attached again beside one.
     */
    private final Set<RemoteServer> left = ConcurrentHashMap.newKeySet();
    /** Calls to servers of which the process has not decided yet whether it uses them. */
    private final Map<Integer, MapServiceClient> prepared = new ConcurrentHashMap<>();
    /** The edition in which the process opens the map, and the servers that have left by it. */
    private long edition;

    private long retired;
    /** Threads that end the leases of servers that have left. */
    private final List<Thread> leaving = new CopyOnWriteArrayList<>();

    /**
     * @param process number of this process, unique among those that have the map open
     * @param without address of a server that has joined and is lost; empty if there is none
     */
    public MapServers(RemoteMemory remote, SpaceKey key, long process, String without) {
        this.remote = remote;
        this.key = key;
        this.process = process;
        this.without = without;
    }

    /** Whether the map was opened without this server. */
    public boolean goesWithout(String address) {
        return !without.isEmpty() && without.equals(address);
    }

    /** The process uses the map without a server that has joined and is lost. */
    void goWithout(int number, String address) {
        away.put(number, address);
        if (!goesWithout(address)) {
            leftOut.put(number, address);
        }
    }

    /** Those servers of {@link #away} that no user has said to be lost. */
    public Map<Integer, String> leftOut() {
        return leftOut;
    }

    /** By number, the addresses of servers that had joined when the process opened the map without them. */
    public Map<Integer, String> away() {
        return away;
    }

    public RemoteMemory remote() {
        return remote;
    }

    public SpaceKey key() {
        return key;
    }

    /** The servers, in the order of their numbers. */
    public List<MapServer> all() {
        return present;
    }

    /** The map's first server, which keeps its clock and its growths. */
    public MapServer first() {
        return present.getFirst();
    }

    /** The server of a number; null if it has left, or is not known yet. */
    @Nullable
    MapServer of(int number) {
        for (MapServer each : present) {
            if (each.number() == number) {
                return each;
            }
        }
        return null;
    }

    /** The process opens the map in this edition. Before it registers. */
    void opens(long id, long servers) {
        edition = id;
        retired = servers;
    }

    /** The servers that the map was made on and that have left it, a bit for each of the first 64. */
    public long retired() {
        return retired;
    }

    /**
     * Opens calls to a server's service; the process does not register yet.
     *
     * @throws MapException if the server serves no calls
     */
    MapServiceClient prepare(RemoteSpace space, int number) {
        MapServiceClient line = prepared.get(number);
        if (line == null) {
            try {
                line = new MapServiceClient(remote, space, number);
            } catch (ControlException e) {
                throw new MapException(
                        space.server() + " serves no calls, which a map needs to get memory: " + e.getMessage());
            }
            prepared.put(number, line);
        }
        return line;
    }

    /**
     * Opens calls to a server's service, and registers the process there.
     *
     * @throws MapException if the server serves no calls, or does not answer
     */
    MapServiceClient open(RemoteSpace space, int number) {
        MapServiceClient line = prepare(space, number);
        prepared.remove(number);
        line.with(1, process).with(2, edition).with(3, retired);
        if (!line.callFirst(MapCalls.REGISTER, 4)) {
            long status = line.answered() ? line.reply(0) : MapCalls.OK;
            line.close();
            if (status == MapCalls.BUSY || status == MapCalls.STALE) {
                throw new MapException(
                        space.server() + " says that a lost server of the map is being replaced: try again");
            }
            if (status == MapCalls.PART_GONE) {
                throw MapException.forGood(space.server() + " says that another server which the map was made on is "
                        + "lost for good, and with it a part of the map's table: end the map with farheap kv drop "
                        + "--parts, and create it again");
            }
            throw new MapException(space.server() + " has no service for maps that answers; run the same release "
                    + "there, with server threads");
        }
        return line;
    }

    /**
     * Connects to a server that has joined, with the queues of all sessions, so that they can use it as soon as they
     * know it. Blocks for as long as that server takes.
     *
     * @param map whose part the server must have
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
     * A server has left the map, and no request of this process uses it. Its lease is ended on a thread of its own,
     * since a server that hangs must not delay others.
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

    /** Attaches a server for one action, and not for use by the map. */
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

    /** Awaits the leases that are being ended, and closes the calls; the spaces belong to the {@link RemoteMemory}. */
    @Override
    public void close() {
        leaving.forEach(ThreadJoiner::join);
        Closeables.all(
                () -> Closeables.all(List.copyOf(prepared.values())),
                () -> Closeables.all(present.stream().map(MapServer::line).toList()));
    }
}
