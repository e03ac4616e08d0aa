package io.farheap.kv.leased.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.contract.MapException;
import io.farheap.kv.format.KeyHash;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.keeper.KnownEditions;
import io.farheap.kv.keeper.KnownEditions.Edition;
import io.farheap.kv.leased.format.LeasedDescriptor;
import io.farheap.kv.leased.format.ShardCalls;
import io.farheap.kv.leased.format.ShardDirectory;
import io.farheap.kv.leased.format.ShardDirectory.Change;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/**
 * Servers of leased maps agree on which of them has a key, whatever processes stop, die or are cut off from some
 * servers at any step of a change: no process reads a value that was replaced. Servers are as they are; processes are
 * models that take the steps of {@code ShardReplacer} and {@code ShardMigration} one at a time, in an order that a seed
 * gives, by a clock of the test.
 */
class EditionScheduleTest {

    private static final int SCHEDULES = 400;
    private static final int STEPS = 1500;
    private static final int RECOVERY_STEPS = 1000;
    private static final int MOST_SERVERS = 8;
    private static final int LEASE = 12;
    private static final int REPLACE_MILLIS = 4;
    private static final long NANOS_PER_TICK = 1_000_000;

    private long installs;
    private long replaced;
    private long joined;
    private long left;
    private long hits;

    @Test
    void noValueComesBack() {
        for (int seed = 0; seed < SCHEDULES; seed++) {
            new World(seed).run();
        }
        String counts = installs + " editions, " + replaced + " replacements, " + joined + " joins, " + left
                + " leaves, " + hits + " hits";
        assertTrue(installs > SCHEDULES && replaced > 20 && joined > 20 && left > 20 && hits > SCHEDULES, counts);
    }

    private final class World {

        private final int seed;
        private final SplittableRandom random;
        private final int made;
        private final LeasedDescriptor map;
        private final List<ShardEdition> servers = new ArrayList<>();
        private final List<MapUser> processes = new ArrayList<>();
        /** By server and range: the value there, or 0. */
        private final List<long[]> values = new ArrayList<>();
        /** By range: the last value that was stored. */
        private final long[] last;

        private final boolean[] dead = new boolean[MOST_SERVERS];
        private long now = 1000;
        private long leases;
        private long stored;

        World(int seed) {
            this.seed = seed;
            random = new SplittableRandom(seed);
            made = 1 + random.nextInt(5);
            map = new LeasedDescriptor(
                    1, 0, made, 1, 1 << 20, 100, 1000, 1000, 16, new KeyHash(1, 2), REPLACE_MILLIS, 0);
            last = new long[ShardDirectory.of(map).ranges()];
            for (int server = 0; server < made; server++) {
                add(map.of(server), 1);
            }
        }

        private void add(LeasedDescriptor descriptor, int shards) {
            servers.add(new ShardEdition(descriptor, shards, () -> now * NANOS_PER_TICK));
            values.add(new long[last.length]);
        }

        void run() {
            for (int step = 0; step < STEPS; step++) {
                if (processes.size() < 4 && random.nextInt(8) == 0) {
                    processes.add(new MapUser(this));
                }
                int what = random.nextInt(100);
                if (what < 8) {
                    tick();
                } else if (what == 8 && random.nextInt(12) == 0) {
                    dead[random.nextInt(servers.size())] = true;
                } else if (what < 20) {
                    settle(random.nextInt(servers.size()));
                } else if (!processes.isEmpty()) {
                    processes.get(random.nextInt(processes.size())).step();
                }
                processes.removeIf(each -> each.ended);
            }
            recovers();
        }

        /** Whatever processes have left behind when they ended, another one opens the map, if all servers answer. */
        private void recovers() {
            for (boolean each : dead) {
                if (each) {
                    return;
                }
            }
            processes.forEach(MapUser::die);
            processes.clear();
            MapUser opens = new MapUser(this);
            for (int step = 0; step < RECOVERY_STEPS && opens.directory == null; step++) {
                if (opens.ended) {
                    opens = new MapUser(this);
                }
                opens.renew();
                opens.steps.removeFirst().run();
                settle(random.nextInt(servers.size()));
            }
            assertNotNull(opens.directory, where());
        }

        /** What is left of one that was to join before, with the same number, is dropped. */
        private void join(int server, LeasedDescriptor descriptor, int shards) {
            if (server == servers.size()) {
                add(descriptor, shards);
                return;
            }
            servers.set(server, new ShardEdition(descriptor, shards, () -> now * NANOS_PER_TICK));
            values.set(server, new long[last.length]);
            dead[server] = false;
            processes.forEach(each -> each.has[server] = false);
        }

        private void tick() {
            now++;
            for (MapUser each : processes) {
                each.renew();
            }
            for (int server = 0; server < servers.size(); server++) {
                for (MapUser each : processes) {
                    if (each.has[server] && each.serverUntil[server] <= now) {
                        each.has[server] = false;
                        servers.get(server).ended(each.lease);
                    }
                }
            }
        }

        private void settle(int server) {
            ServedRanges ranges = servers.get(server).ranges();
            int shard = random.nextInt(ranges.shards());
            if (!dead[server] && !ranges.isSettled(shard)) {
                ranges.settle(shard, kept -> {
                    for (int range = 0; range < last.length; range++) {
                        if (ranges.formerIndexOf(hash(range)) == shard && !kept.has(hash(range))) {
                            values.get(server)[range] = 0;
                        }
                    }
                });
            }
        }

        private long hash(int range) {
            return Math.ceilDiv((long) range << 24, last.length) << 32;
        }

        private String where() {
            return "seed " + seed + ", at " + now;
        }
    }

    /** What a server has said of its edition. */
    private record Said(long number, long id, ShardDirectory directory, boolean isReleased) {

        static Said of(ShardEdition edition) {
            return new Said(edition.number(), edition.id(), edition.directory(), edition.isReleased());
        }
    }

    /** A process that has the map open, or opens it, or changes it. */
    private final class MapUser {

        private final World world;
        private final long lease;
        /**
         * By server: whether it has a lease, by the server's clock, and until when; and by its own, which is earlier.
         */
        private final boolean[] has = new boolean[MOST_SERVERS];

        private final long[] serverUntil = new long[MOST_SERVERS];
        private final long[] until = new long[MOST_SERVERS];
        private final boolean[] lost = new boolean[MOST_SERVERS];
        private final boolean[] cut = new boolean[MOST_SERVERS];
        private boolean stopped;
        private boolean ended;
        /** The edition that it uses; null while it opens the map. */
        private ShardDirectory directory;

        private long id;
        /** What it is about to do, one step after the other. */
        private final List<Runnable> steps = new ArrayList<>();

        private List<Integer> sealed = new ArrayList<>();
        private ShardDirectory next;
        private boolean vouched;

        MapUser(World world) {
            this.world = world;
            lease = ++world.leases;
            for (int server = 0; server < world.servers.size(); server++) {
                attach(server);
            }
            open();
        }

        private void attach(int server) {
            if (!world.dead[server] && !cut[server] && !has[server]) {
                has[server] = true;
                lost[server] = false;
                until[server] = world.now + LEASE;
                serverUntil[server] = world.now + LEASE + 1;
            }
        }

        void renew() {
            for (int server = 0; !stopped && server < world.servers.size(); server++) {
                lost[server] |= until[server] <= world.now;
                if (reaches(server)) {
                    until[server] = world.now + LEASE;
                    serverUntil[server] = world.now + LEASE + 1;
                }
            }
        }

        private boolean holds(int server) {
            lost[server] |= until[server] <= world.now;
            return !lost[server];
        }

        private boolean reaches(int server) {
            return !world.dead[server] && !cut[server] && has[server] && holds(server);
        }

        void step() {
            int what = world.random.nextInt(60);
            if (what == 0) {
                stopped = !stopped;
            } else if (what == 1) {
                int server = world.random.nextInt(world.servers.size());
                cut[server] = !cut[server];
            } else if (what == 2 && world.random.nextInt(6) == 0) {
                die();
            } else if (!stopped && !steps.isEmpty() && world.random.nextBoolean()) {
                steps.removeFirst().run();
            } else if (!stopped && directory != null) {
                use(what);
            }
        }

        /** It dies, or gives up opening the map, and does nothing any more. */
        private void die() {
            ended = true;
            for (int server = 0; server < world.servers.size(); server++) {
                if (has[server]) {
                    world.servers.get(server).ended(lease);
                }
            }
        }

        private void use(int what) {
            if (what < 30) {
                request();
            } else if (what < 45) {
                beat();
            } else if (steps.isEmpty() && what < 50) {
                follow();
            } else if (steps.isEmpty() && what == 50) {
                join();
            } else if (steps.isEmpty() && what == 51) {
                leave();
            }
        }

        private boolean isCutOff() {
            int servers = 0;
            int held = 0;
            for (int server = 0; server < world.made; server++) {
                boolean counts = directory.isPresent(server);
                servers += counts ? 1 : 0;
                held += counts && holds(server) ? 1 : 0;
            }
            boolean replaced = world.map.replaces() && servers >= 3 || directory.servers() > world.made;
            return replaced && 2 * held < servers;
        }

        private void request() {
            int range = world.random.nextInt(world.last.length);
            int server = directory.serverOfKey(world.hash(range));
            if (isCutOff() || !reaches(server)) {
                return;
            }
            int index = world.servers.get(server).ranges().indexOf(world.hash(range));
            if (index == ServedRanges.ELSEWHERE) {
                return;
            }
            if (!world.servers.get(server).ranges().isSettled(index)) {
                // The shard's thread drops what has gone before it carries out a call; this one asks again.
                return;
            }
            long[] values = world.values.get(server);
            if (world.random.nextBoolean()) {
                values[range] = ++world.stored;
                world.last[range] = values[range];
            } else if (values[range] != 0) {
                hits++;
                assertEquals(world.last[range], values[range], world::where);
            }
        }

        private void beat() {
            long bits = directory.retired() | -1L << directory.servers();
            for (int server = 0; server < directory.servers(); server++) {
                bits |= lost[server] ? 1L << server : 0;
            }
            for (int server = 0; server < directory.servers(); server++) {
                if (directory.isPresent(server) && reaches(server)) {
                    world.servers.get(server).beat(lease, bits);
                }
            }
        }

        /**
         * Asks all servers that it reaches, one a step, those that have joined as far as others know them; and then
         * continues by what they have said, whatever they would say by then.
         */
        private void ask(Consumer<NavigableMap<Integer, Said>> then) {
            ask(0, world.made, new TreeMap<>(), then);
        }

        private void ask(
                int server, int servers, NavigableMap<Integer, Said> said, Consumer<NavigableMap<Integer, Said>> then) {
            if (server == servers) {
                steps.addFirst(() -> then.accept(said));
                return;
            }
            steps.addFirst(() -> {
                int most = servers;
                if (reaches(server)) {
                    Said there = Said.of(world.servers.get(server));
                    said.put(server, there);
                    most = Math.max(most, there.directory.servers());
                }
                ask(server + 1, most, said, then);
            });
        }

        private KnownEditions editions(NavigableMap<Integer, Said> said) {
            TreeMap<Integer, Edition> editions = new TreeMap<>();
            said.headMap(world.made, false)
                    .forEach((server, each) -> editions.put(
                            server,
                            new Edition(
                                    each.number(),
                                    each.id(),
                                    each.directory().retired(),
                                    0,
                                    0,
                                    0,
                                    each.directory().drained())));
            return new KnownEditions(world.made, editions);
        }

        /** The server of the edition that all of its servers are in, or -1. */
        private int established(NavigableMap<Integer, Said> said) {
            Edition present = editions(said).established();
            for (int server = 0; present != null && server < world.made; server++) {
                Said one = said.get(server);
                if (one != null && one.id() == present.id()) {
                    return isEstablished(said, one) ? server : -1;
                }
            }
            return -1;
        }

        private boolean isEstablished(NavigableMap<Integer, Said> said, Said one) {
            ShardDirectory of = one.directory();
            for (int server = 0; server < of.servers(); server++) {
                Said there = said.get(server);
                if (of.isPresent(server) && (there == null || there.id() != one.id() || there.isReleased())) {
                    return false;
                }
            }
            return true;
        }

        private void open() {
            ask(said -> {
                int one = established(said);
                if (one >= 0) {
                    register(said.get(one).id(), said.get(one).directory());
                } else if (!said.headMap(world.made, false).isEmpty()) {
                    replace(said);
                } else {
                    giveUp();
                }
            });
        }

        private void register(long of, ShardDirectory in) {
            for (int server = 0; server < in.servers(); server++) {
                int to = server;
                if (in.isPresent(server)) {
                    steps.add(() -> {
                        if (!reaches(to) || world.servers.get(to).register(lease, of) != MapCalls.OK) {
                            giveUp();
                        }
                    });
                }
            }
            steps.add(() -> {
                id = of;
                directory = in;
            });
        }

        /** An attempt has failed: one that opens the map ends, one that has it open continues. */
        private void giveUp() {
            steps.clear();
            unseal();
            if (directory == null) {
                die();
            }
        }

        private void unseal() {
            for (int server : sealed) {
                if (reaches(server)) {
                    world.servers.get(server).unseal(lease);
                }
            }
            sealed = new ArrayList<>();
        }

        private void replace(NavigableMap<Integer, Said> said) {
            KnownEditions editions = editions(said);
            ShardDirectory before;
            long told;
            long lostServers;
            List<Integer> asked = new ArrayList<>();
            long decided = editions.decided();
            try {
                KnownEditions remaining = editions.without(decided);
                Edition base = remaining.base();
                before = said.headMap(world.made, false).entrySet().stream()
                        .filter(each -> remaining.servers().contains(each.getKey()))
                        .map(each -> each.getValue())
                        .filter(each -> each.number() == base.number() && each.id() == base.id())
                        .findFirst()
                        .orElseThrow()
                        .directory();
                told = said.keySet().stream().mapToLong(server -> 1L << server).sum() & decided & ~before.retired();
                lostServers = ~told
                        & (before.retired()
                                | remaining.lost(base, decided, told, said.keySet(), MOST_SERVERS)
                                | lostJoined(said, before, decided));
                for (int server : said.keySet()) {
                    boolean isLost = (lostServers >>> server & 1) != 0;
                    if ((told >>> server & 1) != 0
                            || remaining.servers().contains(server)
                            || server >= world.made && before.isPresent(server) && !isLost) {
                        asked.add(server);
                    }
                }
            } catch (MapException e) {
                giveUp();
                return;
            }
            long missing = lostServers & ~decided & ~before.retired();
            ShardDirectory after = before;
            for (long more = (lostServers | told) & ~before.retired(); more != 0; more &= more - 1) {
                boolean isTold = (told & Long.lowestOneBit(more)) != 0;
                after = after.with(new Change(Long.numberOfTrailingZeros(more), isTold ? Change.LEFT : Change.LOST));
            }
            next = after;
            vouched = false;
            for (int server : asked) {
                long of = said.get(server).id();
                steps.add(() -> seal(server, lostServers, missing == 0, told, of));
            }
            steps.add(() -> {
                if (missing != 0 && !vouched) {
                    giveUp();
                }
            });
            replaced += missing != 0 ? 1 : 0;
            change(
                    asked,
                    1 + said.values().stream().mapToLong(Said::number).max().orElseThrow());
        }

        private long lostJoined(NavigableMap<Integer, Said> said, ShardDirectory before, long decided) {
            long bits = 0;
            for (int server = world.made; server < before.servers(); server++) {
                boolean out = (decided >>> server & 1) != 0;
                bits |= before.isPresent(server) && (!said.containsKey(server) || out) ? 1L << server : 0;
            }
            return bits;
        }

        private void seal(int server, long lostServers, boolean atOnce, long leaving, long of) {
            ShardEdition at = world.servers.get(server);
            if (!reaches(server) || at.seal(lease, lostServers, atOnce, leaving, of) != MapCalls.OK) {
                giveUp();
            } else {
                sealed.add(server);
                vouched |= at.isOpen();
            }
        }

        /** Adds the steps by which sealed servers take the next edition, and this process uses it. */
        private void change(List<Integer> asked, long number) {
            long nextId = world.random.nextLong();
            for (int server : asked) {
                steps.add(() -> release(server, number));
            }
            steps.add(() -> {
                for (int server : asked) {
                    steps.add(() -> install(server, number, nextId));
                }
                steps.add(() -> {
                    sealed = new ArrayList<>();
                    if (directory == null) {
                        register(nextId, next);
                    }
                });
            });
        }

        private void release(int server, long number) {
            long status = reaches(server) ? world.servers.get(server).release(lease, number, next) : MapCalls.STALE;
            if (status == ShardCalls.NOT_YET) {
                steps.addFirst(() -> release(server, number));
            } else if (status != MapCalls.OK) {
                giveUp();
            }
        }

        private void install(int server, long number, long nextId) {
            if (!reaches(server) || world.servers.get(server).install(lease, number, nextId, next) != MapCalls.OK) {
                giveUp();
            } else {
                installs++;
            }
        }

        /** Learns of another edition; or completes what a process has begun. */
        private void follow() {
            for (int server = 0; server < directory.servers(); server++) {
                if (directory.isPresent(server) && !holds(server)) {
                    return;
                }
            }
            for (int server = 0; server < world.servers.size(); server++) {
                attach(server);
            }
            ask(said -> {
                int one = established(said);
                if (one >= 0 && said.get(one).id() != id) {
                    register(said.get(one).id(), said.get(one).directory());
                } else if (one < 0 && !said.headMap(world.made, false).isEmpty() && world.random.nextInt(4) == 0) {
                    replace(said);
                }
            });
        }

        private void sealAll(long leaving) {
            for (int server = 0; server < directory.servers(); server++) {
                int to = server;
                if (directory.isPresent(server)) {
                    steps.add(() -> seal(to, directory.retired(), true, leaving, id));
                }
            }
            steps.add(() -> {
                for (int server = 0; server < directory.servers(); server++) {
                    ShardEdition at = world.servers.get(server);
                    if (directory.isPresent(server) && (!reaches(server) || at.id() != id || at.isReleased())) {
                        giveUp();
                        return;
                    }
                }
            });
        }

        private void join() {
            if (directory.servers() == MOST_SERVERS) {
                return;
            }
            sealAll(0);
            steps.add(() -> {
                int server = directory.servers();
                int shards = 1 + world.random.nextInt(2);
                world.join(server, world.map.of(server, directory.shards()), shards);
                attach(server);
                next = directory.with(new Change(server, shards));
                List<Integer> all = new ArrayList<>(sealed);
                all.add(server);
                steps.add(() -> seal(server, directory.retired(), true, 0, 0));
                change(all, 1 + number());
                joined++;
            });
        }

        private void leave() {
            int server = world.random.nextInt(directory.servers());
            int others = 0;
            for (int other = 0; other < world.made; other++) {
                others += other != server && directory.isPresent(other) ? 1 : 0;
            }
            if (!directory.isPresent(server) || others == 0) {
                return;
            }
            sealAll(1L << server);
            steps.add(() -> {
                next = directory.with(new Change(server, Change.LEFT));
                change(List.copyOf(sealed), 1 + number());
                left++;
            });
        }

        private long number() {
            long most = 0;
            for (int server : sealed) {
                most = Math.max(most, world.servers.get(server).number());
            }
            return most;
        }
    }
}
