package io.farheap.kv.leased.server;

import io.farheap.kv.contract.MapException;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.leased.client.ShardEditions;
import io.farheap.kv.leased.client.ShardEditions.Said;
import io.farheap.kv.leased.client.TestQuorum;
import io.farheap.kv.leased.format.ShardCalls;
import io.farheap.kv.leased.format.ShardDirectory;
import io.farheap.kv.leased.format.ShardDirectory.Change;
import io.farheap.kv.model.ModelOperation;
import io.farheap.testing.ChoiceExplorer;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * A process that has a leased map open, or opens it, or changes its servers. It takes the steps of
 * {@code ShardReplacer}, {@code ShardMigration} and {@code LeasedMembership} one at a time, each of which is a call of
 * one server; what follows from the answers is theirs.
 */
final class EditionProcess {

    /** No answer yet. */
    static final int UNDER_WAY = -1;

    private static final int NONE = -1;

    final EditionWorld world;
    final long lease;
    /** By server: whether it has a lease, by the server's clock, and until when; and by its own, which is earlier. */
    final boolean[] has = new boolean[EditionWorld.MOST_SERVERS];

    private final long[] serverUntil = new long[EditionWorld.MOST_SERVERS];
    private final long[] until = new long[EditionWorld.MOST_SERVERS];
    final boolean[] lost = new boolean[EditionWorld.MOST_SERVERS];
    final boolean[] cut = new boolean[EditionWorld.MOST_SERVERS];
    boolean stopped;
    boolean ended;
    /** What it has counted, for tests of many runs. */
    int installs;

    int replaced;
    /** Requests for the key, in their order. */
    final List<ModelOperation> program = new ArrayList<>();

    /** The edition that it uses; null while it opens the map. */
    private ShardDirectory directory;

    private long id;
    /** What it is about to do, one step after the other. */
    private final List<Runnable> steps = new ArrayList<>();

    private final List<Integer> sealed = new ArrayList<>();
    private ShardDirectory next;
    private boolean vouched;
    private int attempts;
    /** The server whose shards it waits for, or none. */
    private int waitsFor = NONE;

    private final long[] beaten = new long[EditionWorld.MOST_SERVERS];
    /** The request that is under way or next; and where it is executed. */
    private int operation;

    private boolean underWay;
    private boolean byPointer;
    private int at;
    /** The pointer to the key's object: server and value. */
    private int pointerAt = NONE;

    private int pointer;
    /** A hash of all that it has learned. */
    private long past;

    EditionProcess(EditionWorld world) {
        this.world = world;
        lease = world.nextLease();
        for (int server = 0; server < world.servers(); server++) {
            attach(server);
        }
    }

    private void note(long what, long how) {
        past = ChoiceExplorer.mix(ChoiceExplorer.mix(past, what), how);
    }

    /** A hash of all that its next steps depend on, beside the servers. */
    long state() {
        long bits = (ended ? 1 : 0) | (stopped ? 2 : 0);
        for (int server = 0; server < EditionWorld.MOST_SERVERS; server++) {
            bits = bits << 3 | (has[server] ? 1 : 0) | (lost[server] ? 2 : 0) | (cut[server] ? 4 : 0);
        }
        long state = ChoiceExplorer.mix(past, bits);
        state = ChoiceExplorer.mix(state, operation << 8 | (underWay ? 1 : 0) | (byPointer ? 2 : 0));
        state = ChoiceExplorer.mix(state, underWay ? at : NONE);
        state = ChoiceExplorer.mix(state, pointer << 8 | pointerAt);
        for (long each : beaten) {
            state = ChoiceExplorer.mix(state, each);
        }
        return state;
    }

    void attach(int server) {
        if (!world.dead[server] && !cut[server] && !has[server]) {
            has[server] = true;
            lost[server] = false;
            extend(server);
        }
    }

    private void extend(int server) {
        until[server] = world.now + world.leaseTicks;
        serverUntil[server] = until[server] + 1;
    }

    void renew() {
        for (int server = 0; !stopped && server < world.servers(); server++) {
            lost[server] |= until[server] <= world.now;
            if (reaches(server)) {
                extend(server);
            }
        }
    }

    /** Ends its leases by the servers' clocks. */
    void endLeases() {
        for (int server = 0; server < world.servers(); server++) {
            if (has[server] && serverUntil[server] <= world.now) {
                endLease(server);
            }
        }
    }

    /** Its lease on a server ends, by the server's clock. */
    void endLease(int server) {
        has[server] = false;
        if (hasSealed(server)) {
            world.changed(server, 4, 0, lease);
        }
        world.member(server, lease, 0);
        world.server(server).ended(lease);
    }

    boolean holds(int server) {
        lost[server] |= until[server] <= world.now;
        return !lost[server];
    }

    boolean reaches(int server) {
        return !world.dead[server] && !cut[server] && has[server] && holds(server);
    }

    /** Whether it uses the map. */
    boolean isOpen() {
        return directory != null;
    }

    ShardDirectory directory() {
        return directory;
    }

    /** Whether a server says that it is not in the edition that this process uses. */
    boolean hearsOfAnother() {
        for (int server = 0; server < directory.servers(); server++) {
            if (directory.isPresent(server)
                    && reaches(server)
                    && world.server(server).usedId() != id) {
                return true;
            }
        }
        return false;
    }

    /** It has a pointer to the key's object from now on. */
    void point(int server, int value) {
        pointerAt = server;
        pointer = value;
    }

    boolean isBusy() {
        return !steps.isEmpty();
    }

    /** Whether it has a step that does not only wait. */
    boolean mayStep() {
        return isBusy() && (waitsFor == NONE || !reaches(waitsFor) || world.isSettled(waitsFor));
    }

    void step() {
        waitsFor = NONE;
        steps.removeFirst().run();
    }

    /** Whether it has sealed a server, as far as it knows. */
    boolean hasSealed(int server) {
        return sealed.contains(server);
    }

    /** It dies, or gives up opening the map, and does nothing any more. */
    void die() {
        ended = true;
        steps.clear();
        for (int server = 0; server < world.servers(); server++) {
            if (has[server]) {
                endLease(server);
            }
        }
    }

    boolean isCutOff() {
        if (!world.rules.contains(EditionRule.HALF_ARE_HELD)) {
            return false;
        }
        int made = world.map.servers();
        boolean[] held = new boolean[directory.presentOfMade()];
        int count = 0;
        for (int server = 0; server < made; server++) {
            if (directory.isPresent(server)) {
                held[count++] = holds(server);
            }
        }
        return TestQuorum.isMissing(held, world.map.replaces(), directory.servers() > made);
    }

    // Requests.

    /** Whether it has another request, and none is under way. */
    boolean mayBegin() {
        return !ended && isOpen() && !underWay && operation < program.size();
    }

    boolean isUnderWay() {
        return underWay;
    }

    ModelOperation operation() {
        return program.get(operation);
    }

    /**
     * Begins the next request.
     *
     * @param withPointer whether by a pointer, if it has one that may be used
     * @return false if it may begin none: then it never makes this one
     */
    boolean begin(int range, boolean withPointer) {
        at = directory.serverOfKey(world.hash(range));
        if (isCutOff() || !mayUse(at)) {
            operation++;
            return false;
        }
        underWay = true;
        byPointer = withPointer && mayUsePointer(range);
        return true;
    }

    /** Whether the next request is a get by a pointer. */
    boolean mayUsePointer(int range) {
        return operation().kind() == ModelOperation.Kind.GET
                && pointer != 0
                && pointerAt == directory.serverOfKey(world.hash(range))
                && mayUse(pointerAt);
    }

    private boolean mayUse(int server) {
        return !world.rules.contains(EditionRule.LOST_SERVERS_ARE_NOT_USED) || holds(server);
    }

    /** The request under way is executed. @return its answer, or {@link #UNDER_WAY} if another step follows */
    int execute(int range) {
        boolean reached = has[at] || !world.rules.contains(EditionRule.LOST_SERVERS_ARE_NOT_USED);
        if (world.dead[at] || !reached) {
            return answer(ModelOperation.LOST);
        }
        int[] values = world.values(at);
        if (byPointer) {
            if (values[range] == pointer) {
                return answer(pointer);
            }
            pointer = 0;
            byPointer = false;
            at = directory.serverOfKey(world.hash(range));
            return mayUse(at) ? UNDER_WAY : answer(ModelOperation.LOST);
        }
        ServedRanges ranges = world.server(at).ranges();
        int index = ranges.indexOf(world.hash(range));
        if (index == ServedRanges.ELSEWHERE) {
            return answer(ModelOperation.LOST);
        }
        // The shard's thread drops what has gone before it carries out a call.
        world.settle(at, index);
        return carryOut(range, values);
    }

    private int carryOut(int range, int[] values) {
        ModelOperation request = operation();
        boolean sets = request.kind() == ModelOperation.Kind.SET;
        if (sets) {
            values[range] = request.value();
        }
        pointer = values[range];
        pointerAt = at;
        return answer(sets ? ModelOperation.YES : values[range]);
    }

    private int answer(int answer) {
        operation++;
        underWay = false;
        return answer;
    }

    // Leases that are lost.

    /** The servers that it says it has lost. */
    private long lostBits() {
        long bits = directory.retired() | -1L << directory.servers();
        for (int server = 0; server < directory.servers(); server++) {
            bits |= lost[server] ? 1L << server : 0;
        }
        return bits;
    }

    private boolean anyLost() {
        for (boolean each : lost) {
            if (each) {
                return true;
            }
        }
        return false;
    }

    /** Whether a server does not know yet what this process has lost. */
    boolean mayBeat(int server) {
        return isOpen() && directory.isPresent(server) && reaches(server) && anyLost() && beaten[server] != lostBits();
    }

    void beat(int server) {
        beaten[server] = lostBits();
        world.member(server, lease, beaten[server]);
        world.server(server).beat(lease, beaten[server]);
    }

    /** Tells all servers. */
    void beat() {
        for (int server = 0; server < directory.servers(); server++) {
            if (directory.isPresent(server) && reaches(server)) {
                beat(server);
            }
        }
    }

    // The edition.

    /**
     * Asks all servers that it reaches, one a step, those that have joined as far as others know them; and then
     * continues by what they have said, whatever they would say by then.
     */
    private void ask(Consumer<NavigableMap<Integer, Said>> then) {
        ask(0, world.map.servers(), new TreeMap<>(), then);
    }

    private void ask(
            int server, int servers, NavigableMap<Integer, Said> said, Consumer<NavigableMap<Integer, Said>> then) {
        if (server == servers) {
            then.accept(said);
        } else if (!reaches(server)) {
            ask(server + 1, servers, said, then);
        } else {
            steps.addFirst(() -> {
                int most = servers;
                if (reaches(server)) {
                    ShardEdition edition = world.server(server);
                    Said there = new Said(edition.number(), edition.id(), edition.directory(), edition.isReleased());
                    note(5, server);
                    note(there.id(), there.number() << 1 | (there.isReleased() ? 1 : 0));
                    said.put(server, there);
                    most = Math.max(most, there.directory().servers());
                }
                ask(server + 1, most, said, then);
            });
        }
    }

    private boolean isAnyOfMade(NavigableMap<Integer, Said> said) {
        return !said.headMap(world.map.servers(), false).isEmpty();
    }

    /** Opens the map. */
    void open() {
        ask(said -> {
            Said used = new ShardEditions(world.map, said).used();
            if (used != null) {
                register(used.id(), used.directory());
            } else if (isAnyOfMade(said)) {
                replace(said);
            } else {
                giveUp();
            }
        });
    }

    private void register(long of, ShardDirectory in) {
        for (int server = 0; server < in.servers(); server++) {
            int to = server;
            if (in.isPresent(server) && world.rules.contains(EditionRule.PROCESSES_ARE_REGISTERED)) {
                steps.add(() -> {
                    if (!reaches(to) || !registered(to, of)) {
                        giveUp();
                    } else if (steps.isEmpty()) {
                        use(of, in);
                    }
                });
            }
        }
        if (steps.isEmpty()) {
            use(of, in);
        }
    }

    private boolean registered(int server, long of) {
        boolean done = world.server(server).register(lease, of) == MapCalls.OK;
        note(6, done ? server : NONE);
        if (done) {
            beaten[server] = 0;
            world.member(server, lease, of << 16);
        }
        return done;
    }

    private void use(long of, ShardDirectory in) {
        id = of;
        directory = in;
    }

    /** An attempt has failed: one that opens the map ends, one that has it open continues. */
    private void giveUp() {
        note(7, 0);
        steps.clear();
        unseal();
        if (directory == null) {
            die();
        }
    }

    private void unseal() {
        for (int server : sealed) {
            if (reaches(server)) {
                world.changed(server, 8, 0, lease);
                world.server(server).unseal(lease);
            }
        }
        sealed.clear();
    }

    private ShardEditions.Next next(NavigableMap<Integer, Said> said) {
        if (world.rules.contains(EditionRule.MORE_THAN_HALF_ANSWER)) {
            return new ShardEditions(world.map, said).next(EditionWorld.MOST_SERVERS);
        }
        ShardDirectory before = said.firstEntry().getValue().directory();
        long others = (1L << before.servers()) - 1;
        for (int server : said.keySet()) {
            others &= ~(1L << server);
        }
        long number = said.firstEntry().getValue().number() + 1;
        return new ShardEditions.Next(
                before, others, 0, others & ~before.retired(), List.copyOf(said.keySet()), number);
    }

    private void replace(NavigableMap<Integer, Said> said) {
        ShardEditions.Next plan;
        try {
            plan = next(said);
        } catch (MapException e) {
            giveUp();
            return;
        }
        boolean now = plan.missing() == 0;
        vouched = now;
        for (int server : plan.asked()) {
            long of = said.get(server).id();
            boolean isLast = server == plan.asked().getLast();
            steps.add(() -> {
                seal(server, plan.lost(), now, plan.told(), of);
                if (isLast && isBusy() && !vouched) {
                    giveUp();
                } else if (isLast && isBusy()) {
                    next = plan.directory();
                }
            });
        }
        replaced += now ? 0 : 1;
        change(plan.asked(), plan.number());
    }

    private void seal(int server, long lostServers, boolean atOnce, long leaving, long of) {
        ShardEdition there = world.server(server);
        long named = world.rules.contains(EditionRule.SEALS_NAME_THE_EDITION) ? of : there.id();
        boolean done = reaches(server) && there.seal(lease, lostServers, atOnce, leaving, named) == MapCalls.OK;
        note(8, done ? server : NONE);
        if (!done) {
            giveUp();
            return;
        }
        world.changed(server, 9, lostServers | leaving << 32, lease);
        if (!sealed.contains(server)) {
            sealed.add(server);
        }
        vouched |= there.isOpen();
    }

    /** Adds the steps by which sealed servers take the next edition, and this process uses it if it opens the map. */
    private void change(List<Integer> asked, long number) {
        long nextId = lease << 8 | ++attempts;
        if (world.rules.contains(EditionRule.LOST_BEFORE_HAD)) {
            for (int server : asked) {
                steps.add(() -> release(server, number));
            }
        }
        for (int server : asked) {
            boolean isLast = server == asked.getLast();
            if (!world.rules.contains(EditionRule.LOST_BEFORE_HAD)) {
                steps.add(() -> release(server, number));
            }
            steps.add(() -> {
                install(server, number, nextId);
                if (isLast && !ended && !sealed.isEmpty()) {
                    sealed.clear();
                    if (directory == null) {
                        register(nextId, next);
                    }
                }
            });
        }
    }

    private void release(int server, long number) {
        long status = reaches(server) ? world.server(server).release(lease, number, next) : MapCalls.STALE;
        note(9, status);
        if (status != MapCalls.STALE) {
            world.changed(server, 10, number, lease);
        }
        if (status == ShardCalls.NOT_YET) {
            waitsFor = server;
            steps.addFirst(() -> release(server, number));
        } else if (status != MapCalls.OK) {
            giveUp();
        }
    }

    private void install(int server, long number, long nextId) {
        boolean done = reaches(server) && world.server(server).install(lease, number, nextId, next) == MapCalls.OK;
        note(10, done ? server : NONE);
        if (!done) {
            giveUp();
            return;
        }
        world.changed(server, 11, nextId, lease);
        installs++;
    }

    /**
     * Learns of another edition, if it holds all of its leases.
     *
     * @param completes whether it completes what another process has begun, if there is none
     */
    void follow(boolean completes) {
        note(11, completes ? 1 : 0);
        for (int server = 0; server < directory.servers(); server++) {
            if (directory.isPresent(server) && !holds(server)) {
                return;
            }
        }
        for (int server = 0; server < world.servers(); server++) {
            attach(server);
        }
        ask(said -> {
            Said used = new ShardEditions(world.map, said).used();
            if (used != null && used.id() != id) {
                register(used.id(), used.directory());
            } else if (used == null && isAnyOfMade(said) && completes) {
                replace(said);
            }
        });
    }

    /** Seals all servers, and then sees whether they are still in the edition that it uses. */
    private void sealAll(long leaving, Runnable then) {
        List<Integer> present = new ArrayList<>();
        for (int server = 0; server < directory.servers(); server++) {
            if (directory.isPresent(server)) {
                present.add(server);
            }
        }
        for (int server : present) {
            steps.add(() -> seal(server, directory.retired(), true, leaving, id));
        }
        for (int server : present) {
            boolean isLast = server == present.getLast();
            steps.add(() -> {
                ShardEdition there = world.server(server);
                boolean same = reaches(server) && there.id() == id && !there.isReleased();
                note(12, same ? server : NONE);
                if (!same && world.rules.contains(EditionRule.SEALS_NAME_THE_EDITION)) {
                    giveUp();
                } else if (isLast) {
                    then.run();
                }
            });
        }
    }

    /** Has a server join that brings so many shards. */
    void join(int shards) {
        note(13, shards);
        sealAll(0, () -> {
            if (directory.servers() < world.servers()) {
                // Another process has made the space there; if all can be sealed once more, it is not used.
                for (int server : sealed) {
                    steps.add(() -> seal(server, directory.retired(), true, 0, id));
                }
            }
            steps.add(() -> joinSealed(directory.servers(), shards));
        });
    }

    private void joinSealed(int server, int shards) {
        world.join(server, world.map.of(server, directory.shards()), shards);
        attach(server);
        next = directory.with(new Change(server, shards));
        List<Integer> all = new ArrayList<>(sealed);
        all.add(server);
        steps.add(() -> seal(server, directory.retired(), true, 0, 0));
        change(all, 1 + number());
    }

    /** Has a server leave, if it can. @return whether it can */
    boolean leave(int server) {
        int others = directory.presentOfMade() - (server < world.map.servers() ? 1 : 0);
        if (!directory.isPresent(server) || others == 0) {
            return false;
        }
        note(14, server);
        sealAll(1L << server, () -> {
            next = directory.with(new Change(server, Change.LEFT));
            change(List.copyOf(sealed), 1 + number());
        });
        return true;
    }

    private long number() {
        long most = 0;
        for (int server : sealed) {
            most = Math.max(most, world.server(server).number());
        }
        return most;
    }
}
