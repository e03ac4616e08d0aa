package io.farheap.kv.leased.format;

import io.farheap.kv.format.MapDescriptor;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.PriorityQueue;

/**
 * Which shard of a leased map has which keys. The hashes are cut into ranges, of which each shard has up to 16 when the
 * map is made. If a server leaves, or is lost, its ranges go to the shards that have the fewest; a server that joins
 * takes ranges over from those that have the most. So all follows from the map's descriptor and the changes since, in
 * their order: no range moves but for these reasons. Numbers of servers and shards are never given twice. Immutable.
 */
public final class ShardDirectory {

    /** The most changes of the servers of a map. */
    public static final int MOST_CHANGES = 400;

    private static final int MOST_RANGES = 1 << 16;
    private static final int RANGES_OF_SHARD = 16;
    private static final int HIGH = 32;
    private static final long ONE_MORE = 1L << HIGH;

    /**
     * A server joins, or leaves.
     *
     * @param server its number among the map's servers
     * @param shards that it brings, whose numbers are the next ones; or {@link #LOST} or {@link #LEFT}
     */
    public record Change(int server, int shards) {

        /** In place of shards: the server is lost. */
        public static final int LOST = 0;
        /** In place of shards: the server was drained. */
        public static final int LEFT = -1;

        /** The change as a word, which {@link #of} reads. */
        public long word() {
            return (long) shards << HIGH | Integer.toUnsignedLong(server);
        }

        /** The change of a word. */
        public static Change of(long word) {
            return new Change((int) word, (int) (word >>> HIGH));
        }

        /** Whether the server leaves. */
        public boolean leaves() {
            return shards == LOST || shards == LEFT;
        }
    }

    private final int madeOn;
    private final int perRegion;
    private final List<Change> changes;
    /** By server: whether it has left; the number of its first shard, if it has joined; and how many it has. */
    private final boolean[] left;

    private final int[] firstShard;
    private final int[] shards;
    private final int allShards;
    /** By range: the number of the shard that has it, and of that shard's server. */
    private final int[] shardOf;

    private final int[] serverOf;

    /** @param shardOf is used, and not copied */
    private ShardDirectory(int madeOn, int perRegion, int madeShards, List<Change> changes, int[] shardOf) {
        this.madeOn = madeOn;
        this.perRegion = perRegion;
        this.changes = changes;
        this.shardOf = shardOf;
        int servers = madeOn;
        for (Change each : changes) {
            servers = Math.max(servers, each.server + 1);
        }
        left = new boolean[servers];
        firstShard = new int[servers];
        shards = new int[servers];
        Arrays.fill(shards, 0, madeOn, madeShards / madeOn);
        int next = madeShards;
        for (Change each : changes) {
            if (each.leaves()) {
                left[each.server] = true;
            } else {
                firstShard[each.server] = next;
                shards[each.server] = each.shards;
                next += each.shards;
            }
        }
        allShards = next;
        serverOf = new int[shardOf.length];
        for (int range = 0; range < shardOf.length; range++) {
            serverOf[range] = serverOf(shardOf[range]);
        }
    }

    /**
     * The directory of a map whose servers have not changed.
     *
     * @throws IllegalArgumentException as {@link ShardShape#of}
     */
    public static ShardDirectory of(LeasedDescriptor map) {
        ShardShape shape = map.shape();
        int shards = map.regions() * shape.perRegion();
        int each = Math.clamp(MOST_RANGES / shards, 1, RANGES_OF_SHARD);
        int[] shardOf = new int[shards * each];
        for (int range = 0; range < shardOf.length; range++) {
            shardOf[range] = range / each;
        }
        return new ShardDirectory(map.servers(), shape.perRegion(), shards, List.of(), shardOf);
    }

    /**
     * This directory with one change more.
     *
     * @throws IllegalArgumentException if the change cannot follow on these
     */
    public ShardDirectory with(Change more) {
        boolean possible = more.leaves()
                ? isPresent(more.server) && (more.server >= madeOn || presentOfMade() > 1)
                : more.server == servers()
                        && more.server < MapDescriptor.MOST_SERVERS
                        && more.shards > 0
                        && more.shards <= ShardShape.MOST_SHARDS - allShards;
        if (!possible || changes.size() == MOST_CHANGES) {
            throw new IllegalArgumentException(more + " cannot follow in a map of " + servers() + " servers, of which "
                    + present() + " are present, with " + allShards + " shards; it has at most "
                    + MapDescriptor.MOST_SERVERS + " servers, " + ShardShape.MOST_SHARDS + " shards and "
                    + MOST_CHANGES + " changes, and the last of the " + madeOn
                    + " servers that it was made on, by which processes find it, does not leave");
        }
        List<Change> all = new ArrayList<>(changes);
        all.add(more);
        int[] next = shardOf.clone();
        if (more.leaves()) {
            giveAway(more.server, next);
        } else {
            takeOver(more.shards, next);
        }
        return new ShardDirectory(madeOn, perRegion, shards[0] * madeOn, List.copyOf(all), next);
    }

    /** The ranges of a server go to the shards of the others that have the fewest, of these to the first. */
    private void giveAway(int server, int[] next) {
        int[] load = load();
        PriorityQueue<Long> fewest = new PriorityQueue<>();
        for (int shard = 0; shard < allShards; shard++) {
            int of = serverOf(shard);
            if (of != server && !left[of]) {
                fewest.add(load[shard] * ONE_MORE + shard);
            }
        }
        for (int range = 0; range < next.length; range++) {
            if (serverOf[range] == server) {
                long to = fewest.remove();
                next[range] = (int) to;
                fewest.add(to + ONE_MORE);
            }
        }
    }

    /** New shards take their share, in turn, of the shards that have the most ranges: of each its last one. */
    private void takeOver(int newShards, int[] next) {
        List<Deque<Integer>> ranges = new ArrayList<>();
        for (int shard = 0; shard < allShards; shard++) {
            ranges.add(new ArrayDeque<>());
        }
        for (int range = 0; range < next.length; range++) {
            ranges.get(next[range]).add(range);
        }
        int present = newShards;
        PriorityQueue<Long> most = new PriorityQueue<>();
        for (int shard = 0; shard < allShards; shard++) {
            present += left[serverOf(shard)] ? 0 : 1;
            most.add((next.length - ranges.get(shard).size()) * ONE_MORE + shard);
        }
        int wanted = (int) ((long) next.length * newShards / present);
        for (int taken = 0; taken < wanted; taken++) {
            long from = most.remove();
            next[ranges.get((int) from).removeLast()] = allShards + taken % newShards;
            most.add(from + ONE_MORE);
        }
    }

    /** By shard: how many ranges it has. */
    private int[] load() {
        int[] load = new int[allShards];
        for (int shard : shardOf) {
            load[shard]++;
        }
        return load;
    }

    /** The number of the range of a hash. @param ranges of the map */
    public static int range(long hash, int ranges) {
        return ShardShape.shard(hash, ranges);
    }

    /** How many ranges there are; it does not change. */
    public int ranges() {
        return shardOf.length;
    }

    /** The number of the shard that has a range. */
    public int shardOfRange(int range) {
        return shardOf[range];
    }

    /** The number of the shard that has a key. */
    public int shardOf(long hash) {
        return shardOf[range(hash, shardOf.length)];
    }

    /** The number of the server that has a key. */
    public int serverOfKey(long hash) {
        return serverOf[range(hash, serverOf.length)];
    }

    /** The number of the server that has a shard. @param shard 0 to {@link #shards} - 1 */
    public int serverOf(int shard) {
        if (shard < shards[0] * madeOn) {
            return shard / perRegion % madeOn;
        }
        int server = left.length - 1;
        while (server > madeOn && shard < firstShard[server]) {
            server--;
        }
        return server;
    }

    /**
     * The index of a shard among those of its server.
     *
     * @param shard 0 to {@link #shards} - 1
     */
    public int indexOf(int shard) {
        return shard < shards[0] * madeOn
                ? shard / perRegion / madeOn * perRegion + shard % perRegion
                : shard - firstShard[serverOf(shard)];
    }

    /** The number of a server's shard of this index. */
    public int shard(int server, int index) {
        return server < madeOn
                ? (index / perRegion * madeOn + server) * perRegion + index % perRegion
                : firstShard[server] + index;
    }

    /** How many shards there have been. */
    public int shards() {
        return allShards;
    }

    /** How many shards a server has, or had. */
    public int shards(int server) {
        return shards[server];
    }

    /** How many servers there have been; their numbers are below. */
    public int servers() {
        return left.length;
    }

    /** Whether a server is one of the map's now. @param server any number */
    public boolean isPresent(int server) {
        return server >= 0 && server < left.length && !left[server];
    }

    private int present() {
        int count = 0;
        for (boolean each : left) {
            count += each ? 0 : 1;
        }
        return count;
    }

    /** How many of the servers are present that the map was made on. */
    public int presentOfMade() {
        int count = 0;
        for (int server = 0; server < madeOn; server++) {
            count += left[server] ? 0 : 1;
        }
        return count;
    }

    /** The servers that have left, a bit for each of the first 64. */
    public long retired() {
        long bits = 0;
        for (int server = 0; server < Math.min(left.length, Long.SIZE); server++) {
            bits |= left[server] ? 1L << server : 0;
        }
        return bits;
    }

    /** Those of these servers that were drained. */
    public long drained() {
        long bits = 0;
        for (Change each : changes) {
            bits |= each.shards == Change.LEFT && each.server < Long.SIZE ? 1L << each.server : 0;
        }
        return bits;
    }

    /** The changes, in their order. */
    public List<Change> changes() {
        return changes;
    }
}
