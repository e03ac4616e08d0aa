package io.farheap.kv.keeper;

import io.farheap.control.ControlException;
import io.farheap.kv.blocks.RequestEpochs;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.format.MapDescriptor;
import io.farheap.kv.format.RegionDirectory;
import io.farheap.kv.format.TextWords;
import io.farheap.kv.space.SpaceMemory;
import io.farheap.remote.RemoteSpace;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Learns by which regions a map has grown, and which servers have left it. The map's first server has the number of
 * growths in its beats. If it is larger than what this process knows, the process asks for the new ones, connects to
 * servers that have joined, makes the regions known to its sessions, and confirms that in its next beat. When all
 * processes have confirmed, the first server's beats say so, and each process that receives this tells the servers to
 * hand out blocks of the new regions. So no slot names a block in a region that some process does not know. That a
 * server has left is confirmed once no request in flight may know a block there. The keeper's thread.
 */
public final class GrowthTracker {

    private static final System.Logger LOG = System.getLogger(GrowthTracker.class.getName());

    private static final long TRY_AGAIN_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** A layout that the process has learned, and the servers that it has connected to for it. */
    private record GrowthUpdate(RegionDirectory layout, List<MapServiceClient> joined) {}

    private final MapServers servers;
    private final SpaceMemory space;
    private final RequestEpochs eras;
    private final Consumer<MapServiceClient> join;
    private final Consumer<MapServer> leave;
    /** How many of the growths that are known here all processes have confirmed. */
    private long known;
    /** How many growths this process confirms to the first server. */
    private int has;
    /** The connections to new servers and regions that are being made on another thread. */
    private @Nullable CompletableFuture<GrowthUpdate> reaching;
    /** Once all requests in flight are of this era or later, servers that have left are removed. 0: none has left. */
    private long leavingEra;
    /** Whether the failure to connect has been logged. */
    private boolean complained;

    private long nextTry = System.nanoTime();

    /**
     * @param join adds a server whose calls are open
     * @param leave removes a server
     */
    GrowthTracker(
            MapServers servers,
            SpaceMemory space,
            RequestEpochs eras,
            Consumer<MapServiceClient> join,
            Consumer<MapServer> leave) {
        this.servers = servers;
        this.space = space;
        this.eras = eras;
        this.join = join;
        this.leave = leave;
    }

    /**
     * Learns all growths, and waits for that. Before the keeper's thread begins.
     *
     * @throws MapException if the first server, or one that has joined, does not answer
     */
    void learn() {
        MapServiceClient first = servers.first().line();
        RegionDirectory grown = read(first, space.layout());
        Map<Integer, String> addresses = grown == null ? null : addresses(first, grown);
        if (grown == null || addresses == null) {
            throw new MapException(first.space.server() + " does not report the map's growths; try again");
        }
        addresses.forEach((server, address) -> {
            if (servers.goesWithout(address)) {
                goWithout(server, address);
            }
        });
        addresses.keySet().removeIf(space::goesWithout);
        if (grown.growths() > space.layout().growths()) {
            use(reached(grown, addresses, number -> mayOpenWithout(first, number)));
        }
        has = space.layout().growths();
        leavingEra = 0;
    }

    private void goWithout(int server, String address) {
        servers.goWithout(server, address);
        space.goWithout(server);
    }

    /** Whether a server that does not answer has been lost to all processes for so long that it is taken out. */
    private static boolean mayOpenWithout(MapServiceClient first, int number) {
        return first.with(1, number).call(MapCalls.AWAY, 2) && first.reply(1) != 0;
    }

    /**
     * Asks for a map's growths.
     *
     * @param from the layout that is known
     * @return the layout with them; null if there is no answer
     */
    public static @Nullable RegionDirectory read(MapServiceClient line, RegionDirectory from) {
        RegionDirectory layout = from;
        do {
            if (!line.with(1, layout.growths()).call(MapCalls.LAYOUT, 2)) {
                return null;
            }
            for (int i = 0; i < line.reply(2); i++) {
                layout = layout.with(new RegionDirectory.Growth(
                        (int) line.reply(3 + 4 * i), (int) line.reply(4 + 4 * i), (int) line.reply(5 + 4 * i), (int)
                                line.reply(6 + 4 * i)));
            }
        } while (layout.growths() < line.reply(1) && line.reply(2) > 0);
        return layout;
    }

    /** Asks for the addresses of servers to connect to; null if there is no answer. */
    private @Nullable Map<Integer, String> addresses(MapServiceClient first, RegionDirectory grown) {
        Map<Integer, String> found = new HashMap<>();
        for (int server = grown.madeOn(); server < grown.servers(); server++) {
            if (!grown.hasLeft(server) && !space.goesWithout(server) && servers.of(server) == null) {
                String address = address(first, server);
                if (address == null) {
                    return null;
                }
                found.put(server, address);
            }
        }
        return found;
    }

    /** Asks for the address of a server that has joined; null if there is no answer. */
    static @Nullable String address(MapServiceClient line, int server) {
        if (!line.with(1, server).call(MapCalls.ADDRESS, 2)) {
            return null;
        }
        int bytes = Math.clamp(line.reply(1), 0, MapCalls.MOST_ADDRESS_BYTES);
        long[] words = new long[Math.ceilDiv(bytes, Long.BYTES)];
        for (int i = 0; i < words.length; i++) {
            words[i] = line.reply(2 + i);
        }
        return new String(TextWords.bytes(words, 0, bytes), StandardCharsets.UTF_8);
    }

    /**
     * Connects to new servers, and checks that all regions of a layout are there.
     *
     * @param away whether the map is used without a server, by its number, if that does not answer
     */
    private GrowthUpdate reached(RegionDirectory grown, Map<Integer, String> addresses, IntPredicate away) {
        MapDescriptor map = MapDescriptor.decode(servers.first().space().descriptor(), "the map");
        List<MapServiceClient> joined = new ArrayList<>();
        try {
            for (Map.Entry<Integer, String> each : addresses.entrySet()) {
                MapServiceClient line = reached(each.getKey(), each.getValue(), map, away);
                if (line != null) {
                    joined.add(line);
                    require(line.space, grown.regionsOf(each.getKey()));
                }
            }
            for (MapServer server : servers.all()) {
                if (!grown.hasLeft(server.number())) {
                    require(server.space(), grown.regionsOf(server.number()));
                }
            }
            return new GrowthUpdate(grown, joined);
        } catch (Throwable e) {
            joined.forEach(line -> {
                line.close();
                servers.remote().detach(line.space.server());
            });
            throw e;
        }
    }

    /** Connects to a server; null if the process goes without it from now on. */
    private @Nullable MapServiceClient reached(int number, String address, MapDescriptor map, IntPredicate away) {
        try {
            return servers.reach(address, number, map);
        } catch (RuntimeException e) {
            if (isSilent(e) && away.test(number)) {
                goWithout(number, address);
                return null;
            }
            throw new MapException("server " + address + ", which has joined the map, cannot be used: " + e.getMessage()
                    + "; if it is lost for good, take it out of the map: farheap kv drain --lost");
        }
    }

    private static boolean isSilent(RuntimeException e) {
        return e instanceof ControlException failed
                && (failed.code() == ControlException.Code.UNAVAILABLE
                        || failed.code() == ControlException.Code.DEADLINE_EXCEEDED
                        || failed.code() == ControlException.Code.NOT_FOUND);
    }

    private static void require(RemoteSpace each, int wanted) {
        if (each.regions().size() < wanted && each.refresh().size() < wanted) {
            throw new MapException(each + " has fewer than the " + wanted + " regions that the map has there");
        }
    }

    /** The address of the server that joins by a growth; empty if none does, or it is not used here. */
    byte[] addressFor(RegionDirectory layout, int number) {
        int server = layout.growth(number).server();
        boolean joins = server >= layout.servers(number);
        MapServer joined = joins ? servers.of(server) : null;
        return joined == null ? new byte[0] : joined.address().getBytes(StandardCharsets.UTF_8);
    }

    private void use(GrowthUpdate learned) {
        learned.joined.forEach(join);
        space.grow(learned.layout, server -> {
            MapServer of = servers.of(server);
            if (of == null) {
                throw new IllegalStateException("server " + server + " of the map is not known");
            }
            return of.space();
        });
        boolean leaves = servers.all().stream().anyMatch(server -> learned.layout.hasLeft(server.number()));
        // Requests from this era on do not use a server that has left. New regions can be used at once.
        leavingEra = leaves ? eras.begin() : 0;
        has = leaves ? has : learned.layout.growths();
    }

    /** How many growths this process confirms to the first server. */
    int growths() {
        return has;
    }

    /** How many growths all processes have confirmed, of those that are known here. */
    long known() {
        return known;
    }

    /**
     * A beat of the first server has the number of the map's growths, and how many all processes have confirmed.
     *
     * @return whether servers may hand out blocks of more regions
     */
    boolean told(long growths, long ofAll) {
        if (growths > space.layout().growths() && !underWay() && System.nanoTime() - nextTry >= 0) {
            MapServiceClient first = servers.first().line();
            RegionDirectory grown = read(first, space.layout());
            Map<Integer, String> addresses = grown == null ? null : addresses(first, grown);
            if (grown != null
                    && addresses != null
                    && grown.growths() > space.layout().growths()) {
                reach(grown, addresses);
            }
        }
        boolean more = ofAll > known;
        known = Math.min(ofAll, has);
        space.confirmed(known);
        return more;
    }

    /** Connects on another thread, since sessions wait for this one. */
    private void reach(RegionDirectory grown, Map<Integer, String> addresses) {
        CompletableFuture<GrowthUpdate> made = new CompletableFuture<>();
        reaching = made;
        Thread.ofVirtual().name("farheap-map-growth").start(() -> {
            try {
                made.complete(reached(grown, addresses, number -> false));
            } catch (Throwable e) {
                made.completeExceptionally(e);
            }
        });
    }

    boolean underWay() {
        return reaching != null || leavingEra != 0;
    }

    /** Continues. @return whether this process has more to confirm, which the first server should receive soon */
    boolean goOn() {
        int had = has;
        CompletableFuture<GrowthUpdate> made = reaching;
        if (made != null && made.isDone()) {
            reaching = null;
            if (made.isCompletedExceptionally()) {
                nextTry = System.nanoTime() + TRY_AGAIN_NANOS;
                complain(made.exceptionNow());
            } else {
                complained = false;
                use(made.join());
            }
        }
        if (leavingEra == 0 || eras.oldest() < leavingEra) {
            return has > had;
        }
        leavingEra = 0;
        for (MapServer server : servers.all()) {
            if (space.layout().hasLeft(server.number())) {
                leave.accept(server);
            }
        }
        has = space.layout().growths();
        return true;
    }

    private void complain(Throwable why) {
        if (!complained) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "the map has grown, and the new memory cannot be reached; trying again",
                    why);
        }
        complained = true;
    }

    /**
     * Tells a server, which hands out blocks of so many regions, of more regions if all processes have them.
     *
     * @return whether it hands out blocks of more now
     */
    boolean offer(MapServiceClient line, long regions) {
        RegionDirectory layout = space.layout();
        long offered = regions;
        for (int i = 0; i < known; i++) {
            RegionDirectory.Growth growth = layout.growth(i);
            if (growth.server() == line.number && growth.first() == offered && !growth.leaves()) {
                line.with(1, layout.firstNumber(i)).with(2, growth.first()).with(3, growth.count());
                if (!line.call(MapCalls.OFFER, 4)) {
                    break;
                }
                offered += growth.count();
            }
        }
        return offered > regions;
    }
}
