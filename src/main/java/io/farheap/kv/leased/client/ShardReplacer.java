package io.farheap.kv.leased.client;

import io.farheap.kv.contract.MapException;
import io.farheap.kv.keeper.MapServiceClient;
import io.farheap.kv.leased.format.LeasedDescriptor;
import io.farheap.kv.leased.format.ShardDirectory;
import io.farheap.remote.RemoteSpace;
import io.farheap.thread.Uninterruptibles;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Finds the edition of a leased map for a process that opens it, or has it open: which servers have its shards, and
 * which shard has which keys. If there is none without the servers that do not answer, it makes the next, by which
 * these leave and the shards of others have their keys, of which none is there; if the servers agree. One thread.
 */
public final class ShardReplacer {

    /** Another process that changes the servers is done soon, or makes no step: then its seals end before this does. */
    private static final int TRIES = 100;

    private static final long TRY_AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final ShardLines lines;
    private final LeasedDescriptor map;
    private final JoinedServers joins;
    private final SortedMap<Integer, RemoteSpace> made;
    private final int silent;
    private final boolean madeLost;
    private final String without;
    /** The servers that answer, by their numbers, those that have joined with them; and what they say. */
    private final TreeMap<Integer, RemoteSpace> reached = new TreeMap<>();

    private final TreeMap<Integer, ShardEditions.Said> said = new TreeMap<>();
    /** Whether the server that is lost for good has joined the map later. */
    private boolean withoutJoined;

    /**
     * The edition in which a process uses the map.
     *
     * @param spaces of the servers that it has, by their numbers
     */
    public record UsedEdition(long id, ShardDirectory directory, SortedMap<Integer, RemoteSpace> spaces) {}

    /** Reaches servers that have joined the map. */
    public interface JoinedServers {

        /**
         * Opens the map's part on a server.
         *
         * @return null if the server does not answer, or has no such part
         */
        @Nullable
        RemoteSpace open(int number, String address);
    }

    /**
     * @param lines to the map's servers
     * @param made the servers that the map was made on and that answer, by their numbers
     * @param silent how many other servers were named that do not answer, or have no part of the map
     * @param madeLost whether one more was named that is lost for good
     * @param without address of a server that is lost for good; if it alone is missing, the map's time need not pass.
     *     Empty if there is none
     */
    public ShardReplacer(
            ShardLines lines,
            LeasedDescriptor map,
            JoinedServers joins,
            SortedMap<Integer, RemoteSpace> made,
            int silent,
            boolean madeLost,
            String without) {
        this.lines = lines;
        this.map = map;
        this.joins = joins;
        this.made = made;
        this.silent = silent;
        this.madeLost = madeLost;
        this.without = without;
    }

    /**
     * Finds the edition, or makes it.
     *
     * @throws MapException if a server is missing that cannot be replaced, or cannot be yet
     */
    public UsedEdition agree() {
        for (int tried = 1; ; tried++) {
            UsedEdition present = find();
            if (present != null) {
                return present;
            }
            try {
                return replace();
            } catch (ShardLines.BusyException e) {
                if (tried == TRIES) {
                    throw new MapException("another process changes the servers of the map: try again");
                }
                Uninterruptibles.parkNanos(this, TRY_AGAIN_NANOS);
            }
        }
    }

    /**
     * The edition that all of its servers are in; null if there is none.
     *
     * @throws MapException if a server does not answer, or has no part of the map any more, unless it has left by the
     *     edition that the others are in
     */
    public @Nullable UsedEdition find() {
        said.clear();
        reached.clear();
        reached.putAll(made);
        MapException unanswered = null;
        for (Map.Entry<Integer, RemoteSpace> each : made.entrySet()) {
            try {
                said.put(each.getKey(), lines.ask(each.getValue(), each.getKey(), map));
            } catch (MapException e) {
                unanswered = e;
            }
        }
        UsedEdition found = findAnswered();
        if (found == null && unanswered != null) {
            throw unanswered;
        }
        return found;
    }

    private @Nullable UsedEdition findAnswered() {
        for (int number : List.copyOf(said.keySet())) {
            reachJoined(number);
        }
        ShardEditions.Said used = new ShardEditions(map, said).used();
        return used == null ? null : use(used.id(), used.directory());
    }

    /** Reaches the servers that have joined as far as this one knows. */
    private void reachJoined(int asked) {
        ShardDirectory known = said(asked).directory();
        for (int number = map.servers(); number < known.servers(); number++) {
            if (!known.isPresent(number) || reached.containsKey(number)) {
                continue;
            }
            String address = lines.address(space(asked), asked, number);
            withoutJoined |= !without.isEmpty() && without.equals(address);
            RemoteSpace space =
                    address.isEmpty() || withoutJoined && without.equals(address) ? null : joins.open(number, address);
            if (space != null) {
                reached.put(number, space);
                said.put(number, lines.ask(space, number, map));
            }
        }
    }

    private UsedEdition use(long id, ShardDirectory directory) {
        TreeMap<Integer, RemoteSpace> present = new TreeMap<>(reached);
        present.keySet().removeIf(number -> !directory.isPresent(number));
        return new UsedEdition(id, directory, present);
    }

    private ShardEditions.Said said(int number) {
        ShardEditions.Said there = said.get(number);
        if (there == null) {
            throw new IllegalStateException("server " + number + " was not reached");
        }
        return there;
    }

    private RemoteSpace space(int number) {
        RemoteSpace space = reached.get(number);
        if (space == null) {
            throw new IllegalStateException("server " + number + " was not reached");
        }
        return space;
    }

    private UsedEdition replace() throws ShardLines.BusyException {
        boolean saidToBeLost = madeLost || withoutJoined;
        ShardEditions.Next next = new ShardEditions(map, said).next(silent + (madeLost && !withoutJoined ? 1 : 0));
        long missing = next.missing();
        if (missing != 0 && !saidToBeLost && map.replaceMillis() == 0) {
            throw new MapException("a server of the map is missing, and the map was made so that it never continues"
                    + " without one; end it with farheap kv drop --parts, and create another");
        }
        boolean now = missing == 0 || saidToBeLost && silent == 0 && Long.bitCount(missing) == 1;
        TreeMap<Integer, MapServiceClient> asked = new TreeMap<>();
        for (int number : next.asked()) {
            asked.put(number, lines.to(space(number), number));
        }
        try {
            boolean vouched = false;
            for (Map.Entry<Integer, MapServiceClient> each : asked.entrySet()) {
                // What follows is right if all are still in the editions that they have said, behind all seals.
                long of = said(each.getKey()).id();
                vouched |= ShardLines.seal(each.getValue(), next.lost(), now, next.told(), of, map);
            }
            if (!now && !vouched) {
                throw new MapException("no process has the map open, so none says that a server is lost which this one"
                        + " does not reach; check the addresses, and if it is lost for good, say so: farheap kv drain"
                        + " --lost");
            }
            ShardDirectory after = next.directory();
            long id = ThreadLocalRandom.current().nextLong();
            ShardLines.install(List.copyOf(asked.values()), next.number(), id, after);
            return use(id, after);
        } catch (Throwable e) {
            // Those that have the next edition are sealed no more.
            ShardLines.unseal(List.copyOf(asked.values()));
            throw e;
        }
    }
}
