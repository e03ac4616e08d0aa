package io.farheap.manager.simulator;

import io.farheap.manager.allocation.GroupServer;
import io.farheap.manager.allocation.RangePlacement;
import io.farheap.manager.allocation.SlabChoice;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * A cluster over years: servers fail one by one and racks at once, their slabs are made again on other servers, and a
 * range that misses more than r slabs is lost, and made again elsewhere at once. Placement, groups and the choice of a
 * new server are the manager's code. A cache makes up to some slabs of different ranges again at a time, those of the
 * ranges with the fewest good slabs first.
 *
 * <p>All times but a server's return are exponential, so the next event is drawn from the sum of all rates. One thread;
 * times are in days.
 */
final class FailureSimulation {

    private static final double DAY_SECONDS = 86_400;
    private static final double DAY_MINUTES = 1_440;
    /** Parts of the time, by the variance of which standard errors are known. */
    private static final int BATCHES = 20;

    private static final int NONE = -1;

    private final PlacementOptions options;
    private final FailureOptions failing;
    private final PlacementScheme scheme;
    private final int spare;
    private final SplittableRandom random;
    private final int splits;
    private final int ranges;
    private final List<GroupServer> servers;
    private final PlacedCluster cluster;

    private final boolean[] up;
    private int upCount;
    /** Slabs of each server. */
    private final int[] loads;
    /** The first slab of each server, and the slabs before and after each slab there. */
    private final int[] heads;

    private final int[] nexts;
    private final int[] befores;
    /** The server of each slab. The slabs of a range are neighbours. */
    private final int[] holders;
    /** Slabs that each range misses. */
    private final int[] missing;
    /** The ranges of which a slab is being made, and where each range is in that list. */
    private final int[] active;

    private final int[] activeAt;
    private int activeCount;
    private final Deque<ServerReturn> returns = new ArrayDeque<>();
    private final Set<Integer> touched = new LinkedHashSet<>();
    /** Ranges with a slab outside their group. */
    private final Set<Integer> scattered = new LinkedHashSet<>();

    private double now;
    private long failures;
    private long repaired;
    private long outside;
    private long cameBack;
    private final long[] lossEvents = new long[BATCHES];
    private final long[] rangesLost = new long[BATCHES];

    /** A failed server, and when it is back. */
    private record ServerReturn(double time, int server) {}

    /** @param spare servers of a group beyond k + r, l; unused without groups */
    FailureSimulation(PlacementOptions options, FailureOptions failing, PlacementScheme scheme, int spare) {
        this.options = options;
        this.failing = failing;
        this.scheme = scheme;
        this.spare = spare;
        random = new SplittableRandom(options.seed());
        splits = options.splits();
        ranges = options.ranges();
        String refusal = refusal(options, failing, scheme, spare);
        if (refusal != null) {
            throw new IllegalArgumentException(refusal);
        }
        servers = PlacedCluster.servers(options.servers(), perDomain(failing));
        cluster = new PlacedCluster(scheme, servers, splits, spare, random);
        up = new boolean[servers.size()];
        Arrays.fill(up, true);
        upCount = up.length;
        loads = new int[up.length];
        heads = new int[up.length];
        Arrays.fill(heads, NONE);
        nexts = new int[ranges * splits];
        befores = new int[ranges * splits];
        holders = new int[ranges * splits];
        Arrays.fill(holders, NONE);
        missing = new int[ranges];
        active = new int[ranges];
        activeAt = new int[ranges];
        Arrays.fill(activeAt, NONE);
    }

    /** Returns why a cluster cannot be simulated, with the remedy; null if it can. */
    static @Nullable String refusal(
            PlacementOptions options, FailureOptions failing, PlacementScheme scheme, int spare) {
        int domains = (options.servers() - 1) / perDomain(failing) + 1;
        int needed = options.splits() + (scheme.grouped() ? spare : 1);
        return domains >= needed
                ? null
                : domains + " failure domains of " + perDomain(failing) + " servers in a cluster of "
                        + options.servers() + "; take more servers or smaller racks for " + needed + " domains";
    }

    private static int perDomain(FailureOptions failing) {
        return failing.rackDomains() ? failing.rackServers() : 1;
    }

    /** Returns what has happened in all years. To be called once. */
    FailureRow run() {
        for (int range = 0; range < ranges; range++) {
            place(range);
        }
        double end = failing.years() * FailureRow.YEAR_DAYS;
        double lossRate = 1 / failing.lifeDays();
        double repairRate = DAY_SECONDS / failing.repairSeconds();
        int racks = (up.length - 1) / failing.rackServers() + 1;
        double ofRacks = racks / failing.rackLifeDays();
        while (true) {
            double ofServers = upCount * lossRate;
            double all = ofServers + ofRacks + activeCount * repairRate;
            double next = now - Math.log(1 - random.nextDouble()) / all;
            ServerReturn first = returns.peek();
            if (first != null && first.time() <= Math.min(next, end)) {
                // No time is remembered, so what is drawn again from here has the same distribution.
                now = first.time();
                comeBack(returns.remove().server());
                continue;
            }
            if (!(next < end)) {
                break;
            }
            now = next;
            double which = random.nextDouble() * all;
            if (which < ofServers) {
                fail(randomServer());
                afterFailures(end);
            } else if (which < ofServers + ofRacks) {
                failRack(random.nextInt(racks));
                afterFailures(end);
            } else if (activeCount > 0) {
                repair(active[random.nextInt(activeCount)]);
            }
        }
        return row();
    }

    private FailureRow row() {
        return new FailureRow(
                scheme,
                options,
                failing,
                scheme.grouped() ? spare : null,
                failures,
                Arrays.stream(lossEvents).sum(),
                error(lossEvents),
                Arrays.stream(rangesLost).sum(),
                error(rangesLost),
                repaired,
                outside,
                cameBack,
                new BirthDeathChain(
                        splits,
                        options.r(),
                        1 / failing.lifeDays() + (failing.rackDomains() ? 1 / failing.rackLifeDays() : 0),
                        DAY_SECONDS / failing.repairSeconds(),
                        1));
    }

    /** Returns the standard error of the sum of counts of equal parts of the time. */
    private static double error(long[] counts) {
        double mean = Arrays.stream(counts).average().orElse(0);
        double squares = 0;
        for (long count : counts) {
            squares += (count - mean) * (count - mean);
        }
        return Math.sqrt(squares * counts.length / (counts.length - 1));
    }

    /** Returns a random server that is up; there is one. */
    private int randomServer() {
        int server = random.nextInt(up.length);
        while (!up[server]) {
            server = random.nextInt(up.length);
        }
        return server;
    }

    private void failRack(int rack) {
        int first = rack * failing.rackServers();
        for (int server = first; server < Math.min(up.length, first + failing.rackServers()); server++) {
            if (up[server]) {
                fail(server);
            }
        }
    }

    private void fail(int server) {
        failures++;
        up[server] = false;
        upCount--;
        cluster.leave(servers.get(server));
        returns.add(new ServerReturn(now + failing.returnMinutes() / DAY_MINUTES, server));
        for (int slab = heads[server]; slab != NONE; slab = nexts[slab]) {
            holders[slab] = NONE;
            missing[slab / splits]++;
            touched.add(slab / splits);
        }
        heads[server] = NONE;
        loads[server] = 0;
    }

    private void comeBack(int server) {
        up[server] = true;
        upCount++;
        cluster.join(servers.get(server));
        scattered.removeIf(this::gather);
    }

    /** Moves slabs of a range that are outside its group back, and returns whether none is left outside. */
    private boolean gather(int range) {
        List<GroupServer> holding = holding(range);
        for (GroupServer away : cluster.placement().outside(holding, splits)) {
            List<GroupServer> rest = new ArrayList<>(holding);
            rest.remove(away);
            SlabChoice choice = cluster.placement().replace(rest, splits, this::load);
            if (choice != null && !choice.outside()) {
                int slab = range * splits;
                while (holders[slab] != (int) away.id()) {
                    slab++;
                }
                remove(slab);
                add(slab, (int) choice.server().id());
                cameBack++;
                holding = rest;
                holding.add(choice.server());
            }
        }
        return cluster.placement().outside(holding, splits).isEmpty();
    }

    /** Returns the servers of the slabs that a range has. */
    private List<GroupServer> holding(int range) {
        List<GroupServer> holding = new ArrayList<>(splits);
        for (int slab = range * splits; slab < (range + 1) * splits; slab++) {
            if (holders[slab] != NONE) {
                holding.add(servers.get(holders[slab]));
            }
        }
        return holding;
    }

    /** Looks at the ranges that have lost slabs at this moment. */
    private void afterFailures(double end) {
        int batch = Math.min(BATCHES - 1, (int) (now / end * BATCHES));
        int lost = 0;
        for (int range : touched) {
            if (missing[range] > options.r()) {
                lost++;
                lose(range);
            }
        }
        rangesLost[batch] += lost;
        lossEvents[batch] += lost > 0 ? 1 : 0;
        for (int range : touched) {
            schedule(range / failing.cacheRanges());
        }
        touched.clear();
    }

    /** Gives the slabs that a lost range has left back, and places it again. */
    private void lose(int range) {
        for (int slab = range * splits; slab < (range + 1) * splits; slab++) {
            if (holders[slab] != NONE) {
                remove(slab);
            }
        }
        missing[range] = 0;
        place(range);
    }

    private double load(GroupServer server) {
        int id = (int) server.id();
        return up[id] ? loads[id] : RangePlacement.FULL;
    }

    private void place(int range) {
        List<GroupServer> chosen = cluster.placement().choose(splits, this::load);
        if (chosen == null) {
            throw new IllegalArgumentException("too few servers of different failure domains are up for a range of "
                    + splits + " slabs; take more servers, longer lives or a shorter time until servers are back");
        }
        for (int i = 0; i < splits; i++) {
            add(range * splits + i, (int) chosen.get(i).id());
        }
    }

    private void add(int slab, int server) {
        holders[slab] = server;
        int after = heads[server];
        nexts[slab] = after;
        befores[slab] = NONE;
        if (after != NONE) {
            befores[after] = slab;
        }
        heads[server] = slab;
        loads[server]++;
    }

    private void remove(int slab) {
        int server = holders[slab];
        int before = befores[slab];
        int after = nexts[slab];
        if (before == NONE) {
            heads[server] = after;
        } else {
            nexts[before] = after;
        }
        if (after != NONE) {
            befores[after] = before;
        }
        holders[slab] = NONE;
        loads[server]--;
    }

    /** A slab of a range has been made again. */
    private void repair(int range) {
        SlabChoice choice = cluster.placement().replace(holding(range), splits, this::load);
        if (choice == null) {
            // No server has room: it is tried again after the time of another repair.
            return;
        }
        int slab = range * splits;
        while (holders[slab] != NONE) {
            slab++;
        }
        add(slab, (int) choice.server().id());
        missing[range]--;
        repaired++;
        if (choice.outside()) {
            outside++;
            scattered.add(range);
        }
        schedule(range / failing.cacheRanges());
    }

    /** Lets a cache make slabs of the ranges that miss the most; a range that has become more urgent overtakes. */
    private void schedule(int cache) {
        int first = cache * failing.cacheRanges();
        int last = Math.min(ranges, first + failing.cacheRanges());
        int running = 0;
        for (int range = first; range < last; range++) {
            if (activeAt[range] != NONE && missing[range] == 0) {
                stop(range);
            }
            running += activeAt[range] == NONE ? 0 : 1;
        }
        while (true) {
            int waiting = NONE;
            int weakest = NONE;
            for (int range = first; range < last; range++) {
                if (activeAt[range] == NONE) {
                    waiting = missing[range] > (waiting == NONE ? 0 : missing[waiting]) ? range : waiting;
                } else {
                    weakest = weakest == NONE || missing[range] < missing[weakest] ? range : weakest;
                }
            }
            if (waiting == NONE) {
                return;
            }
            if (running >= failing.repairs()) {
                if (missing[waiting] <= missing[weakest]) {
                    return;
                }
                stop(weakest);
                running--;
            }
            start(waiting);
            running++;
        }
    }

    private void start(int range) {
        activeAt[range] = activeCount;
        active[activeCount++] = range;
    }

    private void stop(int range) {
        int last = active[--activeCount];
        active[activeAt[range]] = last;
        activeAt[last] = activeAt[range];
        activeAt[range] = NONE;
    }
}
