package io.farheap.kv.keeper;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.format.MapDescriptor;
import io.farheap.kv.format.RegionDirectory;
import io.farheap.kv.format.TextWords;
import io.farheap.kv.keeper.KnownEditions.Edition;
import io.farheap.memory.Plurals;
import io.farheap.remote.RemoteSpace;
import io.farheap.thread.Uninterruptibles;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Finds the edition of a map for a process that opens it: which of the servers that it was made on have the table, and
 * where. If there is none without the servers that do not answer, it makes the next, by which these leave and others
 * have their part of the table, empty; if the servers agree. One thread.
 */
public final class TableReplacer {

    /** Another process that replaces a server is done soon. */
    private static final int TRIES = 50;

    private static final long TRY_AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    /** Growths in the arguments of {@link MapCalls#INSTALL}, behind 8 words. */
    private static final int MOST_MOVES = (MapCalls.MOST_WORDS - 8) / 4;
    /** More history entries than a map gets between two beats of a process. */
    private static final long HISTORY_BEHIND = 1L << 32;

    private final MapServers servers;
    private final MapDescriptor map;
    private final SortedMap<Integer, RemoteSpace> reached;
    /** How many other servers were named that do not answer, or have no part of the map. */
    private final int silent;
    /** Whether the server is lost for good that the process opens the map without; it is not among the silent ones. */
    private final boolean lostForGood;

    /** What sealed servers say of what the map's first one has counted. */
    private static final class SealedCounts {

        private long session;
        private long history;
        private long time;
        /** Whether a process that has the map open has lost the servers that are to leave. */
        private boolean vouched;
    }

    /**
     * @param reached the servers that the map was made on and that answer, by their numbers
     * @param silent how many other servers were named that do not answer, or have no part of the map
     * @param lostForGood whether one more was named, without which the process opens the map as it is lost for good; if
     *     it alone is missing, the map's time need not pass
     */
    public TableReplacer(
            MapServers servers,
            MapDescriptor map,
            SortedMap<Integer, RemoteSpace> reached,
            int silent,
            boolean lostForGood) {
        this.servers = servers;
        this.map = map;
        this.reached = reached;
        this.silent = silent;
        this.lostForGood = lostForGood;
    }

    /**
     * Finds the edition, or makes it, and has the process open the map in it.
     *
     * @return the servers that the map was made on and that have the table
     * @throws MapException if a server is missing that cannot be replaced, or cannot be yet
     */
    public SortedMap<Integer, RemoteSpace> agree() {
        for (int tried = 1; ; tried++) {
            TreeMap<Integer, Edition> said = new TreeMap<>();
            reached.forEach((number, space) -> said.put(number, ask(servers.prepare(space, number))));
            KnownEditions editions = new KnownEditions(map.servers(), said);
            Edition present = editions.established();
            if (present != null && !editions.mustReplace(present)) {
                return use(present.id(), present.retired());
            }
            try {
                return replace(editions);
            } catch (BusyException e) {
                if (tried == TRIES) {
                    throw new MapException("another process replaces a lost server of the map: try again");
                }
                Uninterruptibles.parkNanos(this, TRY_AGAIN_NANOS);
            }
        }
    }

    /** A server is sealed by another process. */
    private static final class BusyException extends Exception {

        private static final long serialVersionUID = 1;
    }

    private SortedMap<Integer, RemoteSpace> use(long id, long retired) {
        servers.opens(id, retired);
        TreeMap<Integer, RemoteSpace> present = new TreeMap<>(reached);
        present.keySet().removeIf(number -> number < Long.SIZE && (retired >>> number & 1) != 0);
        return present;
    }

    private static Edition ask(MapServiceClient line) {
        if (!line.callFirst(MapCalls.EDITION, 1)) {
            throw new MapException(line.space.server() + " does not say which servers have the map's table; run the "
                    + "same release there, with server threads, and try again");
        }
        return new Edition(
                line.reply(1),
                line.reply(2),
                line.reply(3),
                (int) line.reply(4),
                (int) line.reply(5),
                line.reply(6),
                0);
    }

    private SortedMap<Integer, RemoteSpace> replace(KnownEditions editions) throws BusyException {
        long decided = editions.decided();
        KnownEditions left = editions.without(decided);
        Edition base = left.base();
        List<MapServiceClient> lines = left.servers().stream()
                .map(number -> servers.prepare(reached(number), number))
                .toList();
        boolean saidToBeLost = lostForGood && !hasJoined(lines);
        long lost = left.lost(base, decided, 0, reached.keySet(), silent + (saidToBeLost ? 1 : 0));
        long missing = lost & ~decided;
        boolean now = missing == 0 || saidToBeLost && silent == 0 && Long.bitCount(missing) == 1;
        SealedCounts counts = new SealedCounts();
        try {
            for (MapServiceClient line : lines) {
                seal(line, lost, now, counts);
            }
            if (!now && !counts.vouched) {
                throw new MapException("no process has the map open, so none says that a server is lost which this one"
                        + " does not reach; check the addresses, and if it is lost for good, say so: farheap kv drain"
                        + " --lost");
            }
            RegionDirectory layout = copied(lines, left, base, counts);
            List<RegionDirectory.Growth> growths = moved(layout, lines, lost);
            long id = ThreadLocalRandom.current().nextLong();
            for (MapServiceClient line : lines) {
                install(line, editions.newest() + 1, id, layout.growths(), counts, growths);
            }
            return use(id, lost);
        } catch (Throwable e) {
            // Those that have the next edition are sealed no more.
            lines.forEach(line -> line.with(1, 0).with(2, 0).call(MapCalls.SEAL, 3));
            throw e;
        }
    }

    /** Whether the server that the process opens the map without has no part of the table, as it joined later. */
    private boolean hasJoined(List<MapServiceClient> lines) {
        for (MapServiceClient line : lines) {
            RegionDirectory layout = GrowthTracker.read(line, RegionDirectory.of(map));
            for (int server = map.servers(); layout != null && server < layout.servers(); server++) {
                String address = GrowthTracker.address(line, server);
                if (address != null && servers.goesWithout(address)) {
                    return true;
                }
            }
        }
        return false;
    }

    private RemoteSpace reached(int number) {
        RemoteSpace space = reached.get(number);
        if (space == null) {
            throw new IllegalStateException("server " + number + " was not reached");
        }
        return space;
    }

    private void seal(MapServiceClient line, long lost, boolean now, SealedCounts counts) throws BusyException {
        if (!line.with(1, lost).with(2, now ? 1 : 0).callFirst(MapCalls.SEAL, 3)) {
            if (line.answered() && line.reply(0) == MapCalls.BUSY) {
                throw new BusyException();
            }
            if (line.answered() && line.reply(0) == MapCalls.IN_USE) {
                throw new MapException("a server of the map does not answer, and is replaced when no process that has"
                        + " the map open has reached it for " + map.replaceMillis() + " ms, by what these say to "
                        + line.space.server());
            }
            throw notDone(line);
        }
        counts.session = Math.max(counts.session, line.reply(1));
        counts.history = Math.max(counts.history, line.reply(2));
        counts.time = Math.max(counts.time, line.reply(3));
        counts.vouched |= line.reply(4) != 0;
    }

    private static MapException notDone(MapServiceClient line) {
        return new MapException(line.space.server() + " does not replace a lost server of the map: "
                + (line.answered() ? "it says " + line.reply(0) : "it does not answer") + "; try again");
    }

    /** Has all servers know the growths of the edition that the next one follows. @return these */
    private RegionDirectory copied(
            List<MapServiceClient> lines, KnownEditions left, Edition base, SealedCounts counts) {
        MapServiceClient longest = null;
        int growths = -1;
        for (MapServiceClient line : lines) {
            Edition there = left.of(line.number);
            if (there.isSame(base) && there.growths() > growths) {
                longest = line;
                growths = there.growths();
            }
        }
        RegionDirectory layout = longest == null ? null : GrowthTracker.read(longest, RegionDirectory.of(map));
        if (longest == null || layout == null) {
            throw new MapException("a server does not say by which memory the map has grown: try again");
        }
        Map<Integer, byte[]> addresses = new HashMap<>();
        for (MapServiceClient line : lines) {
            Edition there = left.of(line.number);
            int from = there.isSame(base) ? there.growths() : 0;
            int servers = layout.servers(from);
            for (int number = from; number < layout.growths(); number++) {
                RegionDirectory.Growth growth = layout.growth(number);
                byte[] address = {};
                if (growth.server() >= servers) {
                    servers = growth.server() + 1;
                    address = addressOf(addresses, longest, growth.server());
                }
                if (!copy(line, counts.time, counts.history, number, growth, address)) {
                    throw notDone(line);
                }
            }
        }
        return layout;
    }

    private static byte[] addressOf(Map<Integer, byte[]> known, MapServiceClient line, int server) {
        byte[] found = known.get(server);
        if (found == null) {
            String text = GrowthTracker.address(line, server);
            if (text == null) {
                throw notDone(line);
            }
            found = text.getBytes(StandardCharsets.UTF_8);
            known.put(server, found);
        }
        return found;
    }

    /** Has a server keep a copy of a growth. @return whether it has it */
    static boolean copy(
            MapServiceClient line,
            long time,
            long history,
            int number,
            RegionDirectory.@Nullable Growth growth,
            byte[] address) {
        long[] text = new long[Math.ceilDiv(address.length, Long.BYTES)];
        TextWords.words(address, text, 0);
        line.with(1, time)
                .with(2, history)
                .with(3, growth == null ? -1 : number)
                .with(4, address.length)
                .with(5, growth == null ? 0 : growth.server())
                .with(6, growth == null ? 0 : growth.first())
                .with(7, growth == null ? 0 : growth.count())
                .with(8, growth == null ? RegionDirectory.Growth.NO_PART : growth.part());
        for (int i = 0; i < text.length; i++) {
            line.with(9 + i, text[i]);
        }
        return line.call(MapCalls.COPY, 9 + text.length);
    }

    /** Adds regions for the lost parts of the table. @return the growths of the next edition */
    private List<RegionDirectory.Growth> moved(RegionDirectory from, List<MapServiceClient> lines, long lost) {
        List<RegionDirectory.Growth> growths = new ArrayList<>();
        RegionDirectory next = from;
        for (int first = 0; first < from.madeOn(); first++) {
            int region = first;
            while (region < from.tableRegions()) {
                int count = 0;
                while (region + (long) count * from.madeOn() < from.tableRegions()
                        && isLost(from, region + count * from.madeOn(), lost)) {
                    count++;
                }
                next = placed(next, lines, region, count, growths);
                region += Math.max(1, count) * from.madeOn();
            }
        }
        for (int server = 0; server < Math.min(from.madeOn(), Long.SIZE); server++) {
            if ((lost >>> server & 1) != 0 && !from.hasLeft(server)) {
                growths.add(RegionDirectory.Growth.leaving(server, next.regionsOf(server)));
            }
        }
        if (growths.size() > MOST_MOVES) {
            throw new MapException("the map's table moves in " + Plurals.of(growths.size(), "part") + ", and a server"
                    + " takes at most " + MOST_MOVES + " at once: give the first servers of the map more memory");
        }
        return growths;
    }

    private static boolean isLost(RegionDirectory layout, int region, long lost) {
        int server = layout.serverOfTable(region);
        return server < Long.SIZE && (lost >>> server & 1) != 0;
    }

    /** Places some regions of the table; the first of all goes to the first server that is left. */
    private RegionDirectory placed(
            RegionDirectory layout,
            List<MapServiceClient> lines,
            int region,
            int count,
            List<RegionDirectory.Growth> growths) {
        RegionDirectory next = layout;
        int at = region;
        int left = count;
        for (int host = 0; host < 2 * lines.size() && left > 0; host++) {
            MapServiceClient line = lines.get(host % lines.size());
            int share = host < lines.size() ? Math.ceilDiv(left, lines.size() - host) : left;
            int taken = take(line.space, next.regionsOf(line.number), share);
            if (taken == 0 && region == 0 && left == count) {
                break;
            }
            if (taken > 0) {
                RegionDirectory.Growth growth =
                        new RegionDirectory.Growth(line.number, next.regionsOf(line.number), taken, at);
                next = next.with(growth);
                growths.add(growth);
                at += taken * layout.madeOn();
                left -= taken;
            }
        }
        if (left > 0) {
            throw new MapException("the map's other servers have no memory for the part of the table that a lost server"
                    + " had: it needs " + Plurals.of(left, "region") + " more; give them more memory");
        }
        return next;
    }

    /**
     * Takes regions of a server, first those that an earlier attempt has left, and fewer if it has not so many.
     *
     * @return how many there are
     */
    private static int take(RemoteSpace space, int from, int wanted) {
        int there = Math.min(wanted, space.refresh().size() - from);
        int more = wanted - there;
        while (more > 0) {
            try {
                space.grow(more);
                there += more;
                more = Math.min(more, wanted - there);
            } catch (ControlException e) {
                if (e.code() != Code.OUT_OF_MEMORY) {
                    throw e;
                }
                more /= 2;
            }
        }
        return there;
    }

    private static void install(
            MapServiceClient line,
            long number,
            long id,
            int before,
            SealedCounts counts,
            List<RegionDirectory.Growth> growths) {
        line.with(1, number)
                .with(2, id)
                .with(3, before)
                .with(4, counts.session)
                .with(5, counts.history + HISTORY_BEHIND)
                .with(6, counts.time)
                .with(7, growths.size());
        int at = 8;
        for (RegionDirectory.Growth each : growths) {
            line.with(at++, each.server());
            line.with(at++, each.first());
            line.with(at++, each.count());
            line.with(at++, each.part());
        }
        if (!line.callFirst(MapCalls.INSTALL, at)) {
            throw notDone(line);
        }
    }
}
