package io.farheap.kv.leased.server;

import io.farheap.kv.model.LinearizabilityMonitor;
import io.farheap.kv.model.ModelOperation;
import io.farheap.testing.ChoiceExplorer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * A small world of servers and processes, of which all interleavings are explored: each call of a server is a step, and
 * so is the beginning of a request and its execution, the end of a lease by either clock, a process's death, and the
 * end of a seal.
 */
final class EditionScenario implements ChoiceExplorer.Program {

    private static final int BITS = 3;
    private static final int MASK = (1 << BITS) - 1;

    /** What may happen next, to a process, a server, or both. */
    private enum Event {
        STEP,
        BEGIN,
        BEGIN_BY_POINTER,
        EXECUTE,
        BEAT,
        LOSE_LEASE,
        END_LEASE,
        DIE,
        FOLLOW,
        SETTLE,
        END_SEAL
    }

    private static final Event[] EVENTS = Event.values();

    private final int made;
    private final int range;
    private final int value;
    private final Consumer<EditionScenario> setup;
    private final Set<EditionRule> rules = EnumSet.allOf(EditionRule.class);
    private final LinearizabilityMonitor monitor = new LinearizabilityMonitor(4, true);

    // Of one run.
    private EditionWorld world = new EditionWorld(1, 1, 0);
    private final List<Integer> found = new ArrayList<>();
    private int belief;
    /** By process: the servers on which its lease may end, a bit each; whether it may die; how often it may follow. */
    private int[] mayLose = {};

    private boolean[] mayDie = {};
    private int[] follows = {};
    private int sealsEnd;
    private String wrong = "";

    /**
     * @param made how many servers the map was made on
     * @param range of the key
     * @param value that the key has at the beginning
     * @param setup makes the processes
     */
    EditionScenario(int made, int range, int value, Consumer<EditionScenario> setup) {
        this.made = made;
        this.range = range;
        this.value = value;
        this.setup = setup;
    }

    EditionScenario without(EditionRule... left) {
        rules.removeAll(Set.of(left));
        return this;
    }

    EditionWorld world() {
        return world;
    }

    /** A process that has the map open, and makes these requests. */
    EditionProcess open(ModelOperation... requests) {
        EditionProcess process = opens(0, requests);
        while (process.isBusy()) {
            process.step();
        }
        process.beat();
        return process;
    }

    /** A process that opens the map, does not reach some servers, and makes these requests when it can. */
    EditionProcess opens(int cut, ModelOperation... requests) {
        EditionProcess process = world.process();
        for (int server = 0; server < EditionWorld.MOST_SERVERS; server++) {
            if ((cut >>> server & 1) != 0) {
                process.has[server] = false;
                process.cut[server] = true;
            }
        }
        process.program.addAll(List.of(requests));
        process.open();
        return process;
    }

    /** The key's object is where a process believes it to be, and the process has a pointer to it. */
    void stored(EditionProcess process) {
        int server = process.directory().serverOfKey(world.hash(range));
        world.values(server)[range] = value;
        process.point(server, value);
    }

    /** Leases of a process may end, those of the servers with these bits. */
    void mayLose(EditionProcess process, int servers) {
        mayLose[number(process)] = servers;
    }

    void mayDie(EditionProcess process) {
        mayDie[number(process)] = true;
    }

    /** A process may learn of so many other editions, or complete them. */
    void mayFollow(EditionProcess process, int times) {
        follows[number(process)] = times;
    }

    void sealsMayEnd(int times) {
        sealsEnd = times;
    }

    private int number(EditionProcess process) {
        return world.processes.indexOf(process);
    }

    /** All servers know a process, whatever rules hold. */
    void isRegistered(EditionProcess process) {
        for (int server = 0; server < made; server++) {
            world.server(server).register(process.lease, 0);
        }
    }

    /** A process has lost its leases on these servers, by both clocks, and has told the others. */
    void hasLost(EditionProcess process, int servers) {
        for (int server = 0; server < made; server++) {
            if ((servers >>> server & 1) != 0) {
                process.lost[server] = true;
                process.endLease(server);
            }
        }
        process.beat();
    }

    @Override
    public String run(ChoiceExplorer choices) {
        world = new EditionWorld(made, 1, 0);
        world.rules.retainAll(rules);
        mayLose = new int[EditionWorld.MOST_SERVERS];
        mayDie = new boolean[EditionWorld.MOST_SERVERS];
        follows = new int[EditionWorld.MOST_SERVERS];
        sealsEnd = 0;
        wrong = "";
        belief = monitor.start(value);
        setup.accept(this);
        while (wrong.isEmpty()) {
            find();
            if (found.isEmpty()) {
                return "";
            }
            int choice = choices.choose(found.size(), state());
            if (choice == ChoiceExplorer.MET) {
                return "";
            }
            int event = found.get(choice);
            go(event);
            choices.trace(() -> describe(event));
        }
        return wrong;
    }

    private long state() {
        long state = ChoiceExplorer.mix(world.state(range), belief);
        long left = sealsEnd;
        for (int process = 0; process < world.processes.size(); process++) {
            left = left << 3 | follows[process];
        }
        return ChoiceExplorer.mix(state, left);
    }

    private void found(Event event, int process, int server) {
        found.add((event.ordinal() << BITS | process) << BITS | server);
    }

    private void find() {
        found.clear();
        for (int number = 0; number < world.processes.size(); number++) {
            EditionProcess process = world.processes.get(number);
            if (process.isUnderWay()) {
                // Posted already, so it may be executed although the process ends.
                found(Event.EXECUTE, number, 0);
            }
            if (!process.ended) {
                findSteps(number, process);
            }
        }
        for (int server = 0; server < world.servers(); server++) {
            if (!world.isSettled(server)) {
                found(Event.SETTLE, 0, server);
            }
            int sealed = server;
            if (sealsEnd > 0 && world.processes.stream().anyMatch(each -> each.hasSealed(sealed))) {
                found(Event.END_SEAL, 0, server);
            }
        }
    }

    private void findSteps(int number, EditionProcess process) {
        if (process.mayStep()) {
            found(Event.STEP, number, 0);
        }
        if (process.mayBegin()) {
            found(Event.BEGIN, number, 0);
            if (process.mayUsePointer(range)) {
                found(Event.BEGIN_BY_POINTER, number, 0);
            }
        }
        if (mayDie[number]) {
            found(Event.DIE, number, 0);
        }
        if (follows[number] > 0 && process.isOpen() && !process.isBusy() && process.hearsOfAnother()) {
            found(Event.FOLLOW, number, 0);
        }
        for (int server = 0; server < world.servers(); server++) {
            if (process.mayBeat(server)) {
                found(Event.BEAT, number, server);
            }
            if (process.has[server] && (mayLose[number] >>> server & 1) != 0) {
                found(process.lost[server] ? Event.END_LEASE : Event.LOSE_LEASE, number, server);
            }
        }
    }

    private void go(int transition) {
        int server = transition & MASK;
        int number = transition >> BITS & MASK;
        EditionProcess process = world.processes.get(number);
        switch (EVENTS[transition >> 2 * BITS]) {
            case STEP -> process.step();
            case BEGIN -> begin(process, number, false);
            case BEGIN_BY_POINTER -> begin(process, number, true);
            case EXECUTE -> execute(process, number);
            case BEAT -> process.beat(server);
            case LOSE_LEASE -> process.lost[server] = true;
            case END_LEASE -> process.endLease(server);
            case DIE -> process.die();
            case FOLLOW -> {
                follows[number]--;
                process.follow(true);
            }
            case SETTLE -> world.settle(server, firstUnsettled(server));
            case END_SEAL -> {
                sealsEnd--;
                world.pass(server, ShardEdition.SEAL_NANOS);
            }
        }
    }

    private int firstUnsettled(int server) {
        int shard = 0;
        while (world.server(server).ranges().isSettled(shard)) {
            shard++;
        }
        return shard;
    }

    private void begin(EditionProcess process, int number, boolean byPointer) {
        ModelOperation operation = process.operation();
        if (process.begin(range, byPointer)) {
            belief = monitor.begin(belief, number, operation);
        }
    }

    private void execute(EditionProcess process, int number) {
        ModelOperation operation = process.operation();
        int answer = process.execute(range);
        if (answer == EditionProcess.UNDER_WAY) {
            return;
        }
        belief = monitor.end(belief, number, answer);
        if (belief == LinearizabilityMonitor.WRONG) {
            wrong = "process " + number + ", " + operation + ": " + operation.answerText(answer) + ", which is wrong";
        }
    }

    private String describe(int transition) {
        return EVENTS[transition >> 2 * BITS] + " of process " + (transition >> BITS & MASK) + ", server "
                + (transition & MASK);
    }
}
