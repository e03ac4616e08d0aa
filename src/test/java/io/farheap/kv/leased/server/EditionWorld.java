package io.farheap.kv.leased.server;

import io.farheap.kv.format.KeyHash;
import io.farheap.kv.leased.format.LeasedDescriptor;
import io.farheap.kv.leased.format.ShardDirectory;
import io.farheap.testing.ChoiceExplorer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * The servers of a leased map, as they are, with a value for each range of hashes in place of a shard's objects; and
 * {@linkplain EditionProcess processes} that use and change it. Each server has a clock that tests set.
 */
final class EditionWorld {

    static final int MOST_SERVERS = 8;
    private static final int MOST_PROCESSES = 8;
    private static final long NANOS_PER_TICK = 1_000_000;
    /** What each look at a server's clock takes, if ticks do not pass. */
    private static final long LOOK_NANOS = 2_000_000;

    final LeasedDescriptor map;
    final Set<EditionRule> rules = EnumSet.allOf(EditionRule.class);
    final List<EditionProcess> processes = new ArrayList<>();
    final boolean[] dead = new boolean[MOST_SERVERS];
    /** How many ticks a lease lasts, by a process's clock; one more by a server's. */
    final int leaseTicks;

    long now = 1000;
    private final List<ShardEdition> servers = new ArrayList<>();
    /** By server and range: the value there, or 0. */
    private final List<int[]> values = new ArrayList<>();
    /** By server: how far its clock is ahead, in ns; and a hash of all that has changed it. */
    private final long[] ahead = new long[MOST_SERVERS];

    private final long[] past = new long[MOST_SERVERS];
    /** By server and process: what the server knows of it. */
    private final long[][] members = new long[MOST_SERVERS][MOST_PROCESSES];

    private final int ranges;
    private final long lookNanos;
    private long leases;

    /** @param leaseTicks 0: leases end, and time passes, when a test says so */
    EditionWorld(int made, int replaceMillis, int leaseTicks) {
        this.leaseTicks = leaseTicks == 0 ? Integer.MAX_VALUE : leaseTicks;
        lookNanos = leaseTicks == 0 ? LOOK_NANOS : 0;
        map = new LeasedDescriptor(1, 0, made, 1, 1 << 20, 100, 1000, 1000, 16, new KeyHash(1, 2), replaceMillis, 0);
        ranges = ShardDirectory.of(map).ranges();
        for (int server = 0; server < made; server++) {
            add(map.of(server), 1);
        }
    }

    private void add(LeasedDescriptor descriptor, int shards) {
        int number = servers.size();
        servers.add(new ShardEdition(descriptor, shards, () -> clock(number)));
        values.add(new int[ranges]);
    }

    private long clock(int server) {
        ahead[server] += lookNanos;
        return now * NANOS_PER_TICK + ahead[server];
    }

    int servers() {
        return servers.size();
    }

    int ranges() {
        return ranges;
    }

    ShardEdition server(int number) {
        return servers.get(number);
    }

    /** The values that a server has, by range. */
    int[] values(int server) {
        return values.get(server);
    }

    long nextLease() {
        return ++leases;
    }

    EditionProcess process() {
        EditionProcess process = new EditionProcess(this);
        processes.add(process);
        return process;
    }

    /** A server that joins. What is left of one that was to join before, with the same number, is dropped. */
    void join(int server, LeasedDescriptor descriptor, int shards) {
        changed(server, 1, shards, 0);
        if (server == servers.size()) {
            add(descriptor, shards);
            return;
        }
        servers.set(server, new ShardEdition(descriptor, shards, () -> clock(server)));
        values.set(server, new int[ranges]);
        dead[server] = false;
        processes.forEach(each -> each.has[server] = false);
    }

    /** So much time passes by a server's clock. */
    void pass(int server, long nanos) {
        changed(server, 2, nanos, 0);
        ahead[server] += nanos;
    }

    boolean isSettled(int server) {
        return server(server).ranges().isSettled();
    }

    /** A shard's thread drops what its shard has of ranges that have gone. */
    void settle(int server, int shard) {
        ServedRanges served = server(server).ranges();
        if (!served.isSettled(shard)) {
            changed(server, 3, shard, 0);
            served.settle(shard, kept -> {
                for (int range = 0; range < ranges; range++) {
                    boolean gone = served.formerIndexOf(hash(range)) == shard && !kept.has(hash(range));
                    if (gone && rules.contains(EditionRule.WHAT_GOES_IS_DROPPED)) {
                        values(server)[range] = 0;
                    }
                }
            });
        }
    }

    /** A hash of a range. */
    long hash(int range) {
        return Math.ceilDiv((long) range << 24, ranges) << 32;
    }

    /** Something has changed a server's state, which is what all such changes in their order have made of it. */
    void changed(int server, long what, long how, long by) {
        past[server] = ChoiceExplorer.mix(ChoiceExplorer.mix(ChoiceExplorer.mix(past[server], what), how), by);
    }

    /** A server knows this of a process from now on, whatever it has known of it. */
    void member(int server, long lease, long knows) {
        members[server][(int) lease % MOST_PROCESSES] = knows;
    }

    /** A hash of all servers and processes, if all requests are of one range. */
    long state(int range) {
        long state = servers.size();
        for (int server = 0; server < servers.size(); server++) {
            state = ChoiceExplorer.mix(ChoiceExplorer.mix(state, past[server]), values(server)[range]);
            for (long each : members[server]) {
                state = ChoiceExplorer.mix(state, each);
            }
        }
        for (EditionProcess each : processes) {
            state = ChoiceExplorer.mix(state, each.state());
        }
        return state;
    }
}
