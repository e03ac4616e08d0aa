package io.farheap.kv.leased.server;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.format.BlockChecksum;
import io.farheap.kv.format.KeyHash;
import io.farheap.kv.leased.format.LeaseClock;
import io.farheap.kv.leased.format.LeasedBlock;
import io.farheap.kv.leased.format.LeasedCalls;
import io.farheap.kv.leased.format.LeasedDescriptor;
import io.farheap.kv.leased.format.LeasedPieces;
import io.farheap.kv.model.LinearizabilityMonitor;
import io.farheap.kv.model.ModelOperation;
import io.farheap.testing.ChoiceExplorer;
import io.farheap.testing.Fields;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * A shard of the leased engine, as it is, with clients that get, set and delete two keys: all interleavings of the
 * shard's stores, at each point at which a call may stop, with the words of READs in any order. Its thread may die
 * there, answers may be lost, clocks may stand still, and an area may be written late.
 */
final class ShardScenario implements ChoiceExplorer.Program {

    static final int SHORT_VALUE = 64;
    /** In two pieces. */
    static final int LONG_VALUE = 16_600;

    private static final long TERM = 1_000_000_000;
    /** More than a term by a server's clock. */
    private static final long STEP_NANOS = 1_100_000_000;

    private static final long BEGAN = 1_000_000_000_000L;
    private static final int KEYS = 2;
    private static final int KEY_BYTES = 12;
    private static final int OF_KEY = 8;
    private static final int TORN = 99;
    private static final int STRIDE = LeasedCalls.MOST_BLOCK_BYTES;
    /** A client writes a long value into its area in two parts. */
    private static final int AREA_PARTS = 2;

    private static final int AREA_PART = LONG_VALUE / AREA_PARTS;
    private static final int AREA_BYTES = 32 << 10;
    private static final int MOST_CLIENTS = 3;

    private static final int BITS = 3;
    private static final int MASK = (1 << BITS) - 1;

    /** What a client does next. */
    private enum Phase {
        BETWEEN,
        /** READs the words of an object's block. */
        READING,
        /** READs those of pieces. */
        PIECES,
        /** Writes a value into its area. */
        WRITING,
        /** Its call is on its way. */
        CALLING,
        /** The server copies its value. */
        STAGED,
        /** The answer is on its way. */
        ANSWERED
    }

    private enum Event {
        CONTINUE,
        BEGIN,
        READ_WORD,
        WRITE,
        WRITE_LATE,
        GIVE_UP,
        SERVE,
        STAGE,
        ANSWER,
        LOSE_ANSWER,
        DIE,
        PASS,
        MARK,
        REVIVE,
        RESTART
    }

    private static final Event[] EVENTS = Event.values();

    /** The run ends here, as what follows is known. */
    private static final class MetException extends RuntimeException {
        private static final long serialVersionUID = 1;

        MetException() {
            super(null, null, false, false);
        }
    }

    /** The thread dies here. */
    private static final class DeathException extends RuntimeException {
        private static final long serialVersionUID = 1;

        DeathException() {
            super(null, null, false, false);
        }
    }

    private static final MetException MET = new MetException();
    private static final DeathException DEATH = new DeathException();

    private static final KeyHash HASH = new KeyHash(1, 2);
    private static final BlockChecksum CHECKSUM = new BlockChecksum(HASH);

    /** By the byte of which a long value consists. */
    private static final long[] SUMS = new long[KEYS * OF_KEY];

    static {
        MemorySegment value = MemorySegment.ofArray(new byte[LONG_VALUE]);
        for (int fill = 0; fill < SUMS.length; fill++) {
            SUMS[fill] = LeasedPieces.sumOfAll(value.fill((byte) fill), 0, LONG_VALUE, CHECKSUM);
        }
    }

    /** A client, between two of its steps. */
    private final class Client {

        private final int number;
        private final List<ModelOperation> program;
        private int operation;
        private Phase phase = Phase.BETWEEN;
        // The pointers, by key.
        private final int[] unit = new int[KEYS];
        private final long[] incarnation = new long[KEYS];
        private final long[] until = new long[KEYS];
        private final int[] opening = new int[KEYS];
        // The READ under way.
        private int come;
        private long copied;
        private boolean named;
        private final MemorySegment copy = MemorySegment.ofArray(new long[(2 * STRIDE) / Long.BYTES]);
        private final MemorySegment index = MemorySegment.ofArray(new long[128]);
        // The call.
        private int call;
        private long count;
        private long sentAt;
        private final MemorySegment request = MemorySegment.ofArray(new long[64]);
        private final ShardPieces pieces = new ShardPieces();
        private final RepeatableCalls calls = new RepeatableCalls(1, 16);
        private int status;
        private int value;
        private int answerUnit;
        private long answerIncarnation;
        private long term;
        /** How many parts of the area it has written, and for each part what is written late, or 0. */
        private int written;

        private final int[] late = new int[AREA_PARTS];

        Client(int number, List<ModelOperation> program) {
            this.number = number;
            this.program = program;
            calls.take(0);
        }

        ModelOperation operation() {
            return program.get(operation);
        }

        int key() {
            return operation().key();
        }

        long now() {
            return rules.contains(ShardRule.CLOCKS_RUN) ? nanos : BEGAN;
        }

        long state() {
            long state = ChoiceExplorer.mix(phase.ordinal() << 16 | operation << 8 | come, copied);
            state = ChoiceExplorer.mix(state, call << 20 | written << 16 | status << 8 | value);
            state = ChoiceExplorer.mix(state, count << 32 | late[0] << 16 | late[1] << 8 | (named ? 1 : 0));
            state = ChoiceExplorer.mix(state, answerIncarnation << 20 | answerUnit);
            state = ChoiceExplorer.mix(state, phase == Phase.BETWEEN ? 0 : nanos - sentAt);
            for (int key = 0; key < KEYS; key++) {
                long left = incarnation[key] == 0 ? 0 : Math.max(0, until[key] - now());
                state = ChoiceExplorer.mix(state, incarnation[key] << 20 | opening[key] << 16 | unit[key]);
                state = ChoiceExplorer.mix(state, left);
            }
            return state;
        }
    }

    private final boolean isLong;
    private final List<List<ModelOperation>> programs = new ArrayList<>();
    private final Set<ShardRule> rules = EnumSet.allOf(ShardRule.class);
    private final LinearizabilityMonitor[] monitors = new LinearizabilityMonitor[KEYS];
    private final LeasedDescriptor map;
    private final MemorySegment[] memories = new MemorySegment[2];
    private final MemorySegment areas = Arena.ofAuto().allocate((MOST_CLIENTS + 1L) * AREA_BYTES, 64);
    private final ShardAnswer answer = new ShardAnswer();
    private int stored;
    private int mostDeaths;
    private int mostLost;
    private int mostPasses;
    private int mostGivenUp;
    private int mostRestarts;

    // Of one run.
    private ChoiceExplorer choices;
    private LeasedShard shard;
    private int opened;
    private final List<Client> clients = new ArrayList<>();
    private final List<Integer> found = new ArrayList<>();
    private final int[] beliefs = new int[KEYS];
    private long nanos;
    /** How far the server's clock is ahead, if it keeps no leases. */
    private long ahead;

    private long past;
    /** How many points of the call under way have passed. */
    private int points;

    private int deaths;
    private int lost;
    private int passes;
    private int givenUp;
    private int restarts;
    /** The block of each key that the last answer had, and the one before it. */
    private final int[] lastUnit = new int[KEYS];

    private final long[] lastIncarnation = new long[KEYS];
    private int oldUnit;
    private long oldIncarnation;
    private boolean markIsLate;
    private boolean revived;
    private String wrong = "";

    /** @param isLong whether values are in pieces */
    ShardScenario(boolean isLong) {
        this.isLong = isLong;
        long bytes = (isLong ? 5L : 3L) * (64 << 10);
        map = new LeasedDescriptor(1, 0, 1, 1, bytes, 16, TERM, TERM, 1, HASH);
        for (int i = 0; i < memories.length; i++) {
            memories[i] = Arena.ofAuto().allocate(bytes, 4096);
        }
        shard = new LeasedShard(0, memories[0], 0, map.shape(), map, CHECKSUM, () -> nanos + ahead);
        newMonitors(false);
    }

    private void newMonitors(boolean losses) {
        for (int key = 0; key < KEYS; key++) {
            monitors[key] = new LinearizabilityMonitor(MOST_CLIENTS, losses);
        }
    }

    ShardScenario client(ModelOperation... operations) {
        programs.add(List.of(operations));
        return this;
    }

    /** The first key has a value at the beginning, and the first client a pointer to it. */
    ShardScenario stored(int value) {
        stored = value;
        return this;
    }

    ShardScenario without(ShardRule... left) {
        rules.removeAll(Set.of(left));
        return this;
    }

    /** So often the shard's thread may die within a call: then an object that was to be replaced may be lost. */
    ShardScenario withDeaths(int most) {
        mostDeaths = most;
        newMonitors(true);
        return this;
    }

    ShardScenario losingAnswers(int most) {
        mostLost = most;
        return this;
    }

    /** Time may pass so often, a little more than the longest term. */
    ShardScenario passing(int most) {
        mostPasses = most;
        return this;
    }

    /** Requests may be given up so often while their value is written, some of which comes later. */
    ShardScenario givingUp(int most) {
        mostGivenUp = most;
        return this;
    }

    ShardScenario restarting() {
        mostRestarts = 1;
        return this;
    }

    @Override
    public String run(ChoiceExplorer of) {
        choices = of;
        reset();
        try {
            while (wrong.isEmpty()) {
                find(false);
                if (found.isEmpty()) {
                    break;
                }
                go(choose());
            }
        } catch (MetException e) {
            return "";
        }
        return wrong;
    }

    private void reset() {
        for (int key = 0; key < KEYS; key++) {
            beliefs[key] = monitors[key].start(key == 0 ? stored : 0);
        }
        nanos = BEGAN;
        ahead = 0;
        past = 0;
        points = 0;
        deaths = mostDeaths;
        lost = mostLost;
        passes = mostPasses;
        givenUp = mostGivenUp;
        restarts = mostRestarts;
        Arrays.fill(lastIncarnation, 0);
        oldIncarnation = 0;
        markIsLate = false;
        revived = false;
        wrong = "";
        opened = 0;
        open();
        clients.clear();
        for (List<ModelOperation> program : programs) {
            clients.add(new Client(clients.size(), program));
        }
        store();
    }

    /** A server begins with an empty shard. */
    private void open() {
        // What no block has had in this run is not read.
        memories[opened].asSlice(0, map.shape().segmentsAt()).fill((byte) 0);
        shard = new LeasedShard(0, memories[opened], 0, map.shape(), map, CHECKSUM, () -> nanos + ahead);
        shard.fail(this::stopHere);
    }

    /** Stores what is there at the beginning, to which the first client then has a pointer. */
    private void store() {
        if (stored == 0) {
            return;
        }
        shard.fail(() -> {});
        Client sets = new Client(clients.size(), List.of(ModelOperation.set(0, stored)));
        beginsAndEnds(sets);
        beginsAndEnds(new Client(clients.size(), List.of(ModelOperation.get(0))));
        Client first = clients.getFirst();
        first.sentAt = nanos;
        first.answerUnit = answer.unit;
        first.answerIncarnation = answer.incarnation;
        first.term = answer.termNanos;
        keep(first, 0);
        first.answerUnit = 0;
        first.answerIncarnation = 0;
        first.term = 0;
        shard.fail(this::stopHere);
    }

    private void beginsAndEnds(Client client) {
        client.call = client.operation().kind() == ModelOperation.Kind.SET ? LeasedCalls.SET : LeasedCalls.GET;
        client.count++;
        area(client).fill(fill(client));
        serve(client);
        while (client.phase == Phase.STAGED) {
            stage(client);
        }
    }

    private int choose() {
        int choice = choices.choose(found.size(), state());
        if (choice == ChoiceExplorer.MET) {
            throw MET;
        }
        int event = found.get(choice);
        choices.trace(() -> describe(event));
        return event;
    }

    private long state() {
        long state = ChoiceExplorer.mix(past, points);
        state = ChoiceExplorer.mix(state, beliefs[0] << 16 | beliefs[1]);
        for (Client each : clients) {
            state = ChoiceExplorer.mix(state, each.state());
        }
        return state;
    }

    private void happens(long what, long how) {
        past = ChoiceExplorer.mix(ChoiceExplorer.mix(past, what), how);
    }

    private void found(Event event, int client, int what) {
        found.add((event.ordinal() << BITS | client) << BITS | what);
    }

    /** @param within whether a call of the shard is under way */
    private void find(boolean within) {
        found.clear();
        if (within) {
            found(Event.CONTINUE, 0, 0);
            if (deaths > 0) {
                found(Event.DIE, 0, 0);
            }
        }
        for (Client each : clients) {
            findSteps(each, within);
        }
        if (passes > 0 && !(within && isLong)) {
            found(Event.PASS, 0, 0);
        }
        if (markIsLate) {
            found(Event.MARK, 0, 0);
        }
        boolean revives = !rules.contains(ShardRule.MARKS_STAY) && oldIncarnation != 0 && !revived;
        if (!within && revives && incarnationAt(oldUnit) == oldIncarnation) {
            found(Event.REVIVE, 0, 0);
        }
        if (!within && restarts > 0) {
            found(Event.RESTART, 0, 0);
        }
    }

    private void findSteps(Client client, boolean within) {
        int number = client.number;
        switch (client.phase) {
            case BETWEEN -> {
                if (client.operation < client.program.size()) {
                    found(Event.BEGIN, number, 0);
                }
            }
            case READING -> findWords(client, words());
            case PIECES -> findWords(client, LeasedPieces.count(LONG_VALUE));
            case WRITING -> {
                found(Event.WRITE, number, 0);
                if (givenUp > 0) {
                    found(Event.GIVE_UP, number, 0);
                }
            }
            case CALLING -> {
                if (!within) {
                    found(Event.SERVE, number, 0);
                }
            }
            case STAGED -> {
                if (!within) {
                    found(Event.STAGE, number, 0);
                }
            }
            case ANSWERED -> {
                found(Event.ANSWER, number, 0);
                if (lost > 0) {
                    found(Event.LOSE_ANSWER, number, 0);
                }
            }
        }
        for (int part = 0; part < AREA_PARTS; part++) {
            if (client.late[part] != 0) {
                found(Event.WRITE_LATE, number, part);
            }
        }
    }

    /** In how many parts the READ of an object's block comes: its mark, and one or two others. */
    private int words() {
        return isLong ? 2 : 3;
    }

    private void findWords(Client client, int words) {
        for (int word = 0; word < words; word++) {
            if ((client.come >> word & 1) == 0) {
                found(Event.READ_WORD, client.number, word);
            }
        }
    }

    /** A point at which a call may stop. */
    private void stopHere() {
        points++;
        while (wrong.isEmpty()) {
            find(true);
            int event = choose();
            if (EVENTS[event >> 2 * BITS] == Event.CONTINUE) {
                return;
            }
            go(event);
        }
    }

    private void go(int transition) {
        int what = transition & MASK;
        Client client = clients.get(transition >> BITS & MASK);
        switch (EVENTS[transition >> 2 * BITS]) {
            case CONTINUE -> {}
            case BEGIN -> begin(client);
            case READ_WORD -> readWord(client, what);
            case WRITE -> write(client);
            case WRITE_LATE -> {
                writeArea(client, what, client.late[what]);
                client.late[what] = 0;
            }
            case GIVE_UP -> giveUp(client);
            case SERVE -> serve(client);
            case STAGE -> stage(client);
            case ANSWER -> answered(client);
            case LOSE_ANSWER -> {
                lost--;
                client.phase = Phase.CALLING;
            }
            case DIE -> {
                deaths--;
                happens(1, points);
                throw DEATH;
            }
            case PASS -> {
                passes--;
                happens(2, points);
                nanos += STEP_NANOS;
            }
            case MARK -> {
                markIsLate = false;
                happens(3, points);
                setMark(oldUnit, oldIncarnation, LeasedBlock.DEAD);
            }
            case REVIVE -> {
                revived = true;
                happens(4, points);
                setMark(oldUnit, oldIncarnation, LeasedBlock.LIVE);
            }
            case RESTART -> restart();
        }
    }

    private MemorySegment memory() {
        return memories[opened];
    }

    private long incarnationAt(int unit) {
        return LeasedBlock.incarnation(LeasedBlock.markAt(memory(), (long) unit * LeasedBlock.UNIT_BYTES));
    }

    /** Stores a mark, unless another block is there by now. */
    private void setMark(int unit, long incarnation, int state) {
        if (incarnationAt(unit) == incarnation) {
            LeasedBlock.setMark(memory(), (long) unit * LeasedBlock.UNIT_BYTES, LeasedBlock.mark(incarnation, state));
        }
    }

    private void restart() {
        restarts--;
        happens(5, 0);
        opened++;
        open();
        oldIncarnation = 0;
        markIsLate = false;
        Arrays.fill(lastIncarnation, 0);
        // The objects are gone: whatever clients know, each key is absent.
        for (int key = 0; key < KEYS; key++) {
            beliefs[key] = monitors[key].start(0);
        }
        for (Client each : clients) {
            if (each.phase != Phase.BETWEEN) {
                each.phase = Phase.BETWEEN;
                each.operation++;
            }
            each.come = 0;
            each.copied = 0;
            if (rules.contains(ShardRule.POINTERS_ARE_OF_AN_OPENING)) {
                Arrays.fill(each.incarnation, 0);
            }
        }
    }

    // A client's steps.

    private void begin(Client client) {
        ModelOperation operation = client.operation();
        int key = operation.key();
        beliefs[key] = monitors[key].begin(beliefs[key], client.number, operation);
        client.sentAt = nanos;
        switch (operation.kind()) {
            case GET -> {
                if (client.incarnation[key] != 0 && client.now() - client.until[key] < 0) {
                    read(client, false);
                } else {
                    call(client, LeasedCalls.GET);
                }
            }
            case SET, ADD -> {
                client.written = 0;
                client.call = operation.kind() == ModelOperation.Kind.SET ? LeasedCalls.SET : LeasedCalls.ADD;
                client.count++;
                if (isLong) {
                    client.phase = Phase.WRITING;
                } else {
                    call(client, client.call);
                }
            }
            default -> {
                client.count++;
                call(client, LeasedCalls.DELETE);
            }
        }
    }

    private void read(Client client, boolean named) {
        client.phase = Phase.READING;
        client.named = named;
        client.come = 0;
        client.copied = 0;
    }

    private void call(Client client, int operation) {
        client.phase = Phase.CALLING;
        client.call = operation;
        client.sentAt = client.now();
    }

    private int valueBytes() {
        return isLong ? LONG_VALUE : SHORT_VALUE;
    }

    private void write(Client client) {
        do {
            writeArea(client, client.written, fill(client));
            client.written++;
        } while (mostGivenUp == 0 && client.written < AREA_PARTS);
        if (client.written == AREA_PARTS) {
            call(client, client.call);
        }
    }

    /** What the bytes of a value are. */
    private static byte fill(Client client) {
        return (byte) (client.key() * OF_KEY + client.operation().value());
    }

    private void writeArea(Client client, int part, int fill) {
        happens(6, (client.number << 8 | part) << 8 | fill);
        area(client).asSlice((long) part * AREA_PART, AREA_PART).fill((byte) fill);
    }

    private MemorySegment area(Client client) {
        return areas.asSlice((long) client.number * AREA_BYTES, LONG_VALUE);
    }

    /** What is not in the area yet comes later; the request has never been called. */
    private void giveUp(Client client) {
        givenUp--;
        for (int part = client.written; part < AREA_PARTS; part++) {
            client.late[part] = fill(client);
        }
        end(client, ModelOperation.LOST);
    }

    private void readWord(Client client, int word) {
        client.come |= 1 << word;
        int key = client.key();
        MemorySegment from = memories[client.opening[key]];
        if (client.phase == Phase.PIECES) {
            readPiece(client, from, word);
            return;
        }
        int bytes = LeasedBlock.bytes(KEY_BYTES, valueBytes());
        int middle = isLong ? bytes : LeasedBlock.valueAt(KEY_BYTES) + SHORT_VALUE / 2;
        int begin = word == 0 ? 0 : word == 1 ? Long.BYTES : middle;
        int end = word == 0 ? Long.BYTES : word == 1 ? middle : bytes;
        copy(client, from, (long) client.unit[key] * LeasedBlock.UNIT_BYTES, 0, begin, end);
        if (client.come == (1 << words()) - 1) {
            client.come = 0;
            client.copied = 0;
            judge(client);
        }
    }

    private static void copy(Client client, MemorySegment from, long block, long to, int begin, int end) {
        MemorySegment.copy(from, block + begin, client.copy, to + begin, end - begin);
        for (long at = to + begin; at + Long.BYTES <= to + end; at += at < to + 64 ? Long.BYTES : 2000) {
            client.copied += ChoiceExplorer.mix(at, client.copy.get(JAVA_LONG, at));
        }
    }

    private void judge(Client client) {
        int key = client.key();
        long incarnation = client.incarnation[key];
        boolean isGood;
        if (!rules.contains(ShardRule.COPIES_ARE_CHECKED)) {
            isGood = client.named || client.copy.get(JAVA_LONG, 0) == LeasedBlock.mark(incarnation, LeasedBlock.LIVE);
        } else if (client.named) {
            isGood = LeasedBlock.isWhole(client.copy, 0, incarnation, KEY_BYTES, valueBytes(), CHECKSUM);
        } else {
            isGood = LeasedBlock.isLive(client.copy, 0, incarnation, KEY_BYTES, valueBytes(), CHECKSUM);
        }
        if (isGood && rules.contains(ShardRule.COPIES_ARE_CHECKED)) {
            isGood = LeasedBlock.hasKey(client.copy, 0, MemorySegment.ofArray(TestShard.key(key)), 0, KEY_BYTES);
        }
        boolean isOver = client.now() - client.until[key] >= 0 && rules.contains(ShardRule.LEASED_AT_COMPLETION);
        if (!isGood) {
            client.incarnation[key] = 0;
            call(client, LeasedCalls.GET);
        } else if (!client.named && isOver) {
            client.value = isLong ? 0 : shortValue(client);
            MemorySegment.copy(client.copy, 0, client.index, 0, 512);
            call(client, LeasedCalls.RENEW);
        } else {
            foundCopy(client);
        }
    }

    private void foundCopy(Client client) {
        if (isLong) {
            MemorySegment.copy(client.copy, 0, client.index, 0, 512);
            client.phase = Phase.PIECES;
            client.come = 0;
            client.copied = 0;
        } else {
            end(client, shortValue(client));
        }
    }

    private int shortValue(Client client) {
        return valueOf(client, client.copy, LeasedBlock.valueAt(KEY_BYTES), SHORT_VALUE);
    }

    private static int valueOf(Client client, MemorySegment of, long at, int bytes) {
        int first = of.get(JAVA_BYTE, at);
        boolean same = of.get(JAVA_BYTE, at + bytes - 1) == first
                && (bytes == 1 || MemorySegment.mismatch(of, at, at + bytes - 1, of, at + 1, at + bytes) < 0);
        return same && first / OF_KEY == client.key() ? first % OF_KEY : TORN;
    }

    private void readPiece(Client client, MemorySegment from, int piece) {
        long list = LeasedBlock.valueAt(KEY_BYTES);
        int unit = LeasedPieces.unit(client.index, list, piece);
        int bytes = LeasedBlock.bytes(0, LeasedPieces.bytesOf(LONG_VALUE, piece));
        long block = (long) unit * LeasedBlock.UNIT_BYTES;
        if (unit <= 0 || block + bytes > from.byteSize()) {
            // Not a list of pieces: the product looks at places before it reads them, too.
            client.copied++;
        } else {
            copy(client, from, block, (long) piece * STRIDE, 0, bytes);
        }
        if (client.come == (1 << LeasedPieces.count(LONG_VALUE)) - 1) {
            client.come = 0;
            client.copied = 0;
            join(client, list);
        }
    }

    private void join(Client client, long list) {
        long first = LeasedPieces.firstIncarnation(client.index, list);
        int value = 0;
        boolean isGood = true;
        for (int piece = 0; piece < LeasedPieces.count(LONG_VALUE); piece++) {
            int bytes = LeasedPieces.bytesOf(LONG_VALUE, piece);
            long at = (long) piece * STRIDE;
            isGood &= LeasedBlock.isWhole(client.copy, at, first + piece, 0, bytes, CHECKSUM);
            int its = valueOf(client, client.copy, at + LeasedBlock.HEADER_BYTES, bytes);
            value = piece == 0 || value == its ? its : TORN;
        }
        if (isGood || !rules.contains(ShardRule.PIECES_ARE_CHECKED)) {
            end(client, value);
        } else {
            client.incarnation[client.key()] = 0;
            call(client, LeasedCalls.GET);
        }
    }

    private void end(Client client, int value) {
        ModelOperation operation = client.operation();
        int key = operation.key();
        client.phase = Phase.BETWEEN;
        client.operation++;
        client.value = 0;
        client.status = 0;
        client.answerIncarnation = 0;
        client.answerUnit = 0;
        client.named = false;
        client.come = 0;
        client.copied = 0;
        if (value == TORN) {
            wrong = "client " + client.number + ", " + operation + ": a value that was never stored";
            return;
        }
        beliefs[key] = monitors[key].end(beliefs[key], client.number, value);
        if (beliefs[key] == LinearizabilityMonitor.WRONG) {
            wrong = "client " + client.number + ", " + operation + ": " + operation.answerText(value)
                    + ", which is wrong";
        }
    }

    // The server.

    private void request(Client client) {
        int key = client.key();
        byte[] bytes = TestShard.key(key);
        boolean stores = LeasedCalls.stores(client.call);
        LeasedCalls.request(
                client.request,
                0,
                0,
                KEY_BYTES,
                stores ? valueBytes() : 0,
                client.call == LeasedCalls.RENEW ? client.incarnation[key] : 0,
                0);
        client.request
                .asSlice(LeasedCalls.KEY, LeasedCalls.valueAt(KEY_BYTES) - LeasedCalls.KEY)
                .fill((byte) 0);
        MemorySegment.copy(bytes, 0, client.request, JAVA_BYTE, LeasedCalls.KEY, KEY_BYTES);
        byte fill = fill(client);
        if (stores && isLong) {
            LeasedCalls.valueInArea(client.request, 0, KEY_BYTES, 1, 0, SUMS[fill]);
        } else if (stores) {
            client.request.asSlice(LeasedCalls.valueAt(KEY_BYTES), SHORT_VALUE).fill(fill);
        }
    }

    private long hash(int key) {
        return HASH.of(
                MemorySegment.ofArray(
                        ByteBuffer.allocate(16).put(TestShard.key(key)).array()),
                0,
                KEY_BYTES);
    }

    private void serve(Client client) {
        happens(7, (long) client.number << 8 | client.call & 0xFF);
        ahead += rules.contains(ShardRule.LEASES_ARE_KEPT) ? 0 : STEP_NANOS;
        request(client);
        boolean isNew = client.calls.isNew(0, client.count) || !isOnce();
        if (LeasedCalls.stores(client.call) && isLong && isNew) {
            client.pieces.clear();
            client.phase = Phase.STAGED;
            return;
        }
        carryOut(client, null);
    }

    private boolean isOnce() {
        return rules.contains(ShardRule.CALLS_ARE_CARRIED_OUT_ONCE);
    }

    /** Copies some of a value, or carries its call out. */
    private void stage(Client client) {
        happens(8, client.number);
        points = 0;
        int status;
        try {
            status = shard.stage(
                    client.call,
                    client.request,
                    0,
                    hash(client.key()),
                    area(client).address(),
                    client.pieces);
        } catch (DeathException e) {
            dies(client, 0);
            return;
        }
        points = 0;
        happens(9, status);
        if (status == KvStatus.DONE && !client.pieces.isWhole()) {
            return;
        }
        if (status == LeasedCalls.TORN || status == KvStatus.NO_ROOM) {
            if (client.calls.begin(0, client.count)) {
                answer.clear(status);
                client.calls.end(0, client.count, answer, 0);
            }
            answered(client, answer);
            return;
        }
        if (client.pieces.isWhole() && !rules.contains(ShardRule.COPIES_ARE_SUMMED)) {
            set(client.pieces, "sum", LeasedCalls.areaSum(client.request, 0, KEY_BYTES));
        }
        carryOut(client, client.pieces);
    }

    private static void set(Object of, String field, long value) {
        try {
            Fields.field(of, field).setLong(of, value);
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }

    private void carryOut(Client client, ShardPieces value) {
        int key = client.key();
        boolean changes = client.call != LeasedCalls.GET && client.call != LeasedCalls.RENEW;
        if (changes && !client.calls.begin(0, client.count) && isOnce()) {
            client.calls.answer(0, client.count, answer);
            answered(client, answer);
            return;
        }
        if (changes && !rules.contains(ShardRule.INCARNATIONS_GROW) && oldIncarnation != 0) {
            memory().set(JAVA_LONG, 0, oldIncarnation - 1);
        }
        int before = lastUnit[key];
        long incarnationBefore = lastIncarnation[key];
        points = 0;
        try {
            shard.call(client.call, client.request, 0, hash(key), value, answer);
        } catch (DeathException e) {
            dies(client, incarnationBefore == 0 ? 0 : before);
            return;
        }
        points = 0;
        if (changes) {
            client.calls.end(0, client.count, answer, 0);
            happens(10, answer.status);
        }
        boolean removes = client.call == LeasedCalls.DELETE || LeasedCalls.stores(client.call);
        if (answer.status == KvStatus.DONE && removes && incarnationBefore != 0) {
            oldUnit = before;
            oldIncarnation = incarnationBefore;
            if (!rules.contains(ShardRule.MARKS_BEFORE_ANSWERS) && incarnationAt(before) == incarnationBefore) {
                markIsLate = true;
                setMark(before, incarnationBefore, LeasedBlock.LIVE);
            }
        }
        if (answer.status == KvStatus.DONE) {
            boolean there = client.call != LeasedCalls.DELETE;
            lastUnit[key] = answer.unit;
            lastIncarnation[key] = there ? answer.incarnation : 0;
        }
        answered(client, answer);
    }

    /** The thread dies; the client sends its call again. */
    private void dies(Client client, int unit) {
        points = 0;
        client.phase = Phase.CALLING;
        client.pieces.clear();
        if (unit != 0 && !rules.contains(ShardRule.MARKED_ENTRIES_ARE_ABSENT)) {
            happens(11, unit);
            setMark(unit, incarnationAt(unit), LeasedBlock.LIVE);
        }
    }

    private void answered(Client client, ShardAnswer by) {
        client.phase = Phase.ANSWERED;
        client.status = by.status;
        client.answerUnit = by.unit;
        client.answerIncarnation = by.incarnation;
        client.term = by.termNanos;
        if (client.call == LeasedCalls.GET && by.status == KvStatus.DONE && !by.inPieces) {
            client.value = valueOf(client, memory(), by.valueAt, by.valueBytes);
        }
    }

    /** The answer comes. */
    private void answered(Client client) {
        int key = client.key();
        int status = client.status;
        boolean gets = client.call == LeasedCalls.GET;
        boolean renews = client.call == LeasedCalls.RENEW;
        if (status == LeasedCalls.TORN) {
            client.written = 0;
            client.count++;
            client.phase = Phase.WRITING;
            return;
        }
        if (status == KvStatus.DONE && client.call != LeasedCalls.DELETE && client.answerIncarnation != 0) {
            keep(client, key);
        }
        if (renews && status == KvStatus.DONE) {
            client.copy.asSlice(0, 512).copyFrom(client.index.asSlice(0, 512));
            if (isLong) {
                foundCopy(client);
            } else {
                end(client, client.value);
            }
        } else if (renews && status == KvStatus.CHANGED) {
            client.incarnation[key] = 0;
            call(client, LeasedCalls.GET);
        } else if (gets && status == KvStatus.DONE && isLong) {
            client.unit[key] = client.answerUnit;
            client.incarnation[key] = client.answerIncarnation;
            client.opening[key] = opened;
            read(client, true);
        } else {
            end(client, answerOf(client, status));
        }
    }

    private void keep(Client client, int key) {
        long from = rules.contains(ShardRule.TERMS_BEGIN_AT_THE_CALL) ? client.sentAt : client.now();
        client.unit[key] = client.answerUnit;
        client.incarnation[key] = client.answerIncarnation;
        client.opening[key] = opened;
        client.until[key] = from + LeaseClock.ofClient(client.term);
    }

    private static int answerOf(Client client, int status) {
        if (status == KvStatus.LOST) {
            return ModelOperation.LOST;
        }
        if (client.operation().kind() == ModelOperation.Kind.GET) {
            return status == KvStatus.DONE ? client.value : ModelOperation.ABSENT;
        }
        if (status == KvStatus.NO_ROOM) {
            throw new AssertionError("no room");
        }
        return status == KvStatus.DONE ? ModelOperation.YES : ModelOperation.NO;
    }

    private String describe(int transition) {
        Event event = EVENTS[transition >> 2 * BITS];
        Client client = clients.get(transition >> BITS & MASK);
        String what =
                client.operation < client.program.size() ? client.operation().toString() : "";
        return event + " " + client.number + " " + (transition & MASK) + " " + client.phase + " " + what + ", point "
                + points;
    }
}
