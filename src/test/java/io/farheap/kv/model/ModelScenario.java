package io.farheap.kv.model;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * What a model explores all interleavings of: the size of bucket and memory, the objects that are there at the
 * beginning, the operations of each client one after another, what may fail, and the rules that hold.
 */
final class ModelScenario {

    final int slots;
    final int blocks;
    final List<List<ModelOperation>> programs = new ArrayList<>();
    final Set<ProtocolRule> rules = EnumSet.allOf(ProtocolRule.class);
    /** Whether clients keep pointers. Without, nothing marks a block. */
    boolean pointers = true;
    /** Whether sets swap by a kept pointer at once, rather than behind a READ of the bucket. */
    boolean setsByPointer = true;
    /** The clients that keep pointers to what they set in each case, a bit each; the others if they had one. */
    int noting;
    /** Whether objects may be lost: there are evictions, or objects are crowded out. */
    boolean losses;
    /** The blocks on another server than the table, a bit each. */
    int far;
    /** The clients that do not reach that server, a bit each. */
    int cutOff;
    /** Whether the services may take that server out, in an era. */
    boolean leaves;
    /** The clients whose lease on the table's server may end, a bit each, and whether these open the map again. */
    int mayLoseLease;

    boolean opensAgain;
    /** How many clients may die. */
    int deaths;
    /** How many eras the services may begin. */
    int eras;

    private final List<ModelObject> objects = new ArrayList<>();
    private final List<KnownSlot> known = new ArrayList<>();

    private record ModelObject(int slot, int key, int value, int block) {}

    private record KnownSlot(int client, int slot) {}

    ModelScenario(int slots, int blocks) {
        if (slots > ModelState.MOST_SLOTS || blocks > ModelState.MOST_BLOCKS) {
            throw new IllegalArgumentException(slots + " slots and " + blocks + " blocks, but there are at most "
                    + ModelState.MOST_SLOTS + " and " + ModelState.MOST_BLOCKS);
        }
        this.slots = slots;
        this.blocks = blocks;
    }

    /** Adds a client with its operations. */
    ModelScenario client(ModelOperation... operations) {
        if (programs.size() == ModelState.MOST_CLIENTS) {
            throw new IllegalArgumentException("there are at most " + ModelState.MOST_CLIENTS + " clients");
        }
        programs.add(List.of(operations));
        return this;
    }

    /** An object that is there at the beginning. */
    ModelScenario object(int slot, int key, int value, int block) {
        objects.add(new ModelObject(slot, key, value, block));
        return this;
    }

    /** A client that has a pointer to the object of a slot at the beginning. */
    ModelScenario knows(int client, int slot) {
        known.add(new KnownSlot(client, slot));
        return this;
    }

    /** A client that notes all keys, and so keeps pointers to what it sets although it had none. */
    ModelScenario notes(int client) {
        noting |= 1 << client;
        return this;
    }

    ModelScenario withLosses() {
        losses = true;
        return this;
    }

    ModelScenario withDeaths(int mayDie) {
        deaths = mayDie;
        return this;
    }

    ModelScenario withEras(int mayBegin) {
        eras = mayBegin;
        return this;
    }

    /** A block of a second server, which one client does not reach. */
    ModelScenario cutOff(int block, int client) {
        far |= 1 << block;
        cutOff |= 1 << client;
        return this;
    }

    /** A block of a second server, which all clients reach. */
    ModelScenario far(int block) {
        far |= 1 << block;
        return this;
    }

    /** A client's lease on the table's server may end. */
    ModelScenario losingLease(int client) {
        mayLoseLease |= 1 << client;
        return this;
    }

    ModelScenario openingAgain() {
        opensAgain = true;
        return this;
    }

    /** The second server may be taken out. */
    ModelScenario leaving() {
        leaves = true;
        return withEras(1);
    }

    /** No rule but these. */
    ModelScenario only(Set<ProtocolRule> these) {
        rules.retainAll(these);
        return this;
    }

    ModelScenario without(ProtocolRule rule) {
        rules.remove(rule);
        return this;
    }

    /** The protocol without pointers and marks, and so without the rules about these. */
    ModelScenario withoutPointers() {
        pointers = false;
        return this;
    }

    /** The protocol by which sets READ the bucket, although they have a pointer: they may do both. */
    ModelScenario settingByTable() {
        setsByPointer = false;
        return this;
    }

    /** The protocol by which all requests use the table. */
    ModelScenario byTable() {
        return only(ProtocolRule.OF_TABLE).withoutPointers();
    }

    boolean isFar(int block) {
        return (far >> block & 1) != 0;
    }

    boolean has(ProtocolRule rule) {
        return rules.contains(rule);
    }

    int clients() {
        return programs.size();
    }

    /** The state before the first access. */
    ModelState first(LinearizabilityMonitor[] monitors) {
        ModelState state = new ModelState(clients());
        int[] values = new int[ModelState.KEYS];
        state.map(ModelState.FREE, (1 << blocks) - 1);
        for (ModelObject object : objects) {
            state.word(object.slot, ModelWord.live(object.block, 1));
            state.mark(object.block, ModelWord.mark(1));
            state.body(object.block, ModelWord.body(1, object.key, object.value, false));
            state.free(object.block, false);
            values[object.key] = object.value;
        }
        for (KnownSlot pointer : pointers ? known : List.<KnownSlot>of()) {
            int word = ModelWord.shared(state.word(pointer.slot));
            state.word(pointer.slot, word);
            int key = ModelWord.key(state.body(ModelWord.block(word)));
            state.client(pointer.client, ModelState.POINTERS + key, word);
        }
        state.map(ModelState.DEATHS, deaths);
        state.map(ModelState.ERAS, eras);
        for (int key = 0; key < ModelState.KEYS; key++) {
            state.belief(key, monitors[key].start(values[key]));
        }
        return state;
    }
}
