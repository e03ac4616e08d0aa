package io.farheap.kv.model;

import java.util.EnumMap;
import java.util.Map;

/**
 * The transitions of a scenario's states: an access of a client, a client's death or the end of its lease, and what
 * services do with eras and lost blocks. A transition is a number.
 */
final class MapModel {

    static final int MOST_TRANSITIONS = 64;

    /** The fields of a client that name a block which it has, though the pool does not and perhaps no slot. */
    private static final int[] HELD = {ModelState.OWN, ModelState.LATE};

    /** Mark and body. */
    private static final int BLOCK_WORDS = 2;

    private static final int CHOICE_BITS = 3;
    private static final int CHOICE_MASK = (1 << CHOICE_BITS) - 1;
    /** Transitions below this are clients' accesses. */
    private static final int ACCESSES = ModelState.MOST_CLIENTS << CHOICE_BITS;

    private static final int DIE = ACCESSES;
    private static final int RETIRE = DIE + (1 << CHOICE_BITS);
    private static final int LEAVE = RETIRE + (1 << CHOICE_BITS);
    private static final int ACKNOWLEDGE = LEAVE + (1 << CHOICE_BITS);
    private static final int END_ERA = ACKNOWLEDGE + (1 << CHOICE_BITS);
    private static final int COLLECT = END_ERA + (1 << CHOICE_BITS);
    private static final int LOSE_LEASE = COLLECT + (1 << CHOICE_BITS);
    private static final int OPEN_AGAIN = LOSE_LEASE + (1 << CHOICE_BITS);

    private final ModelScenario scenario;
    private final LinearizabilityMonitor[] monitors = new LinearizabilityMonitor[ModelState.KEYS];
    private final ClientTurn turn;
    private final Map<ModelOperation.Kind, OperationModel> kinds = new EnumMap<>(ModelOperation.Kind.class);

    private int[] found = new int[0];
    private int count;

    MapModel(ModelScenario scenario) {
        this.scenario = scenario;
        for (int key = 0; key < ModelState.KEYS; key++) {
            monitors[key] = new LinearizabilityMonitor(scenario.clients(), scenario.losses);
        }
        turn = new ClientTurn(scenario, monitors);
        SetModel sets = new SetModel(turn);
        kinds.put(ModelOperation.Kind.GET, new GetModel(turn));
        kinds.put(ModelOperation.Kind.SET, sets);
        kinds.put(ModelOperation.Kind.ADD, sets);
        kinds.put(ModelOperation.Kind.DELETE, new DeleteModel(turn));
        kinds.put(ModelOperation.Kind.TOUCH, new TouchModel(turn));
        kinds.put(ModelOperation.Kind.EVICT, new EvictionModel(turn));
        kinds.put(ModelOperation.Kind.MOVE, new MoveModel(turn));
    }

    ModelState first() {
        return scenario.first(monitors);
    }

    /**
     * Finds all transitions from a state.
     *
     * @param into gets their numbers, {@link #MOST_TRANSITIONS} at most
     * @return how many there are
     */
    int transitions(ModelState state, int[] into) {
        found = into;
        count = 0;
        for (int client = 0; client < scenario.clients(); client++) {
            turn.at(state, client);
            findAccesses(client);
            boolean inFlight = turn.step() != ModelStep.IDLE && turn.step() != ModelStep.DEAD;
            if (inFlight && state.map(ModelState.DEATHS) > 0) {
                found(DIE | client);
            }
            findLeases(state, client);
        }
        findLostBlocks(state);
        if (state.map(ModelState.ERA) != 0) {
            findEndOfEra(state);
        } else if (state.map(ModelState.ERAS) > 0) {
            findEras(state);
        }
        return count;
    }

    private void found(int transition) {
        found[count++] = transition;
    }

    private void findAccesses(int client) {
        ModelStep step = turn.step();
        int first = client << CHOICE_BITS;
        if (step == ModelStep.DEAD) {
            return;
        }
        if (turn.isLate()) {
            found(first);
        } else if (step == ModelStep.IDLE) {
            findBeginnings(first);
        } else if (step.readsBucket()) {
            findUnread(first, scenario.slots);
        } else {
            switch (step) {
                case POINTER -> findUnread(first, BLOCK_WORDS);
                case CANDIDATE -> {
                    found(first);
                    found(first | 1);
                }
                case CHOOSE, VICTIM, MOVE -> {
                    for (int slot = 0; slot < scenario.slots; slot++) {
                        if (mayChoose(step, slot)) {
                            found(first | slot);
                        }
                    }
                }
                case SWAP_BY_POINTER -> findSlotsOfPointer(first);
                case STAMP -> {
                    if (!turn.operation().kind().stores() || turn.freeBlock() != ClientTurn.NONE) {
                        found(first);
                    }
                }
                case TOUCH_BLOCK -> {
                    if (turn.get(ModelState.OWN) != ModelWord.EMPTY || turn.freeBlock() != ClientTurn.NONE) {
                        found(first);
                    }
                }
                default -> found(first);
            }
        }
    }

    /** If no slot has the pointer's word any more, it was of any. */
    private void findSlotsOfPointer(int first) {
        int slots = turn.slotWith(turn.get(ModelState.WORD)) == ClientTurn.NONE ? scenario.slots : 1;
        for (int slot = 0; slot < slots; slot++) {
            found(first | slot);
        }
    }

    private boolean mayChoose(ModelStep step, int slot) {
        return switch (step) {
            case CHOOSE -> SetModel.mayInsert(turn, slot);
            case MOVE -> MoveModel.mayMove(turn, slot) && turn.freeBlock() != ClientTurn.NONE;
            default -> EvictionModel.mayGo(turn, slot);
        };
    }

    /** A request that needs a block waits until one is free. */
    private void findBeginnings(int first) {
        if (turn.hasEnded()) {
            return;
        }
        ModelStep begins = turn.firstStep();
        boolean mayStore = !turn.operation().kind().stores() || turn.freeBlock() != ClientTurn.NONE;
        if (begins == ModelStep.STAMP || turn.isOut() && begins != ModelStep.POINTER) {
            found(first);
        } else if (mayStore && begins == ModelStep.SWAP_BY_POINTER) {
            found(first);
        } else if (mayStore) {
            findUnread(first, begins == ModelStep.POINTER ? BLOCK_WORDS : scenario.slots);
        }
    }

    /** A lease on the table's server may end, and the map be opened again after that, once each. */
    private void findLeases(ModelState state, int client) {
        if ((scenario.mayLoseLease >> client & 1) == 0 || turn.step() == ModelStep.DEAD) {
            return;
        }
        boolean again = (state.map(ModelState.OUT) >> ModelState.MOST_CLIENTS + client & 1) != 0;
        if (turn.isOut()) {
            if (scenario.opensAgain && turn.step() == ModelStep.IDLE) {
                found(OPEN_AGAIN | client);
            }
        } else if (!again && !(turn.step() == ModelStep.IDLE && turn.hasEnded())) {
            found(LOSE_LEASE | client);
        }
    }

    /** A sweep finds each block that no client has and no slot names. */
    private void findLostBlocks(ModelState state) {
        int used = state.map(ModelState.FREE);
        int era = state.map(ModelState.ERA);
        if (era != 0 && era != ModelState.LEAVING) {
            used |= 1 << era - 1;
        }
        for (int slot = 0; slot < scenario.slots; slot++) {
            if (state.word(slot) != ModelWord.EMPTY) {
                used |= 1 << ModelWord.block(state.word(slot));
            }
        }
        for (int client = 0; client < scenario.clients(); client++) {
            for (int field : HELD) {
                int word = state.client(client, field);
                used |= word == ModelWord.EMPTY ? 0 : 1 << ModelWord.block(word);
            }
        }
        if (state.map(ModelState.LEFT) != 0) {
            used |= scenario.far;
        }
        for (int block = 0; block < scenario.blocks; block++) {
            if ((used >> block & 1) == 0) {
                found(COLLECT | block);
            }
        }
    }

    private void findUnread(int first, int words) {
        for (int word = 0; word < words; word++) {
            if (!turn.hasCome(word)) {
                found(first | word);
            }
        }
    }

    private void findEras(ModelState state) {
        for (int block = 0; block < scenario.blocks && !scenario.leaves; block++) {
            if (state.isFree(block) && state.mark(block) != 0) {
                found(RETIRE | block);
            }
        }
        if (scenario.leaves) {
            found(LEAVE);
        }
    }

    /**
     * An era begins in each client by itself. It has begun when no client that is counted has a request of an older one
     * in flight, as far as the services see. The server of the block counts; if that is to leave, the table's, which
     * does not count a client whose lease there has ended.
     */
    private void findEndOfEra(ModelState state) {
        int era = state.map(ModelState.ERA);
        boolean farCounts = era != ModelState.LEAVING && scenario.isFar(era - 1);
        int waits = 0;
        for (int client = 0; client < scenario.clients(); client++) {
            turn.at(state, client);
            boolean idle = turn.step() == ModelStep.IDLE && !turn.isLate();
            boolean counts = turn.step() != ModelStep.DEAD && (farCounts || !turn.isOut());
            if (counts && !(idle && turn.hasEnded())) {
                boolean begun = (state.map(ModelState.ACKNOWLEDGED) >> client & 1) != 0;
                if (!begun) {
                    found(ACKNOWLEDGE | client);
                }
                waits += begun && !turn.holdsOldEra() ? 0 : 1;
            }
        }
        if (waits == 0) {
            found(END_ERA);
        }
    }

    /**
     * Makes a transition.
     *
     * @return false if it is an answer that no order of the operations explains, or if no operation is in flight behind
     *     it and the table has what none explains
     */
    boolean go(ModelState state, int transition) {
        int choice = transition & CHOICE_MASK;
        if (transition < ACCESSES) {
            turn.at(state, transition >> CHOICE_BITS);
            access(choice);
            return turn.answer() == ClientTurn.UNDER_WAY || !turn.isWrong() && tableIsRight(state);
        }
        switch (transition - choice) {
            case DIE -> die(state, choice);
            case RETIRE -> {
                state.free(choice, false);
                beginEra(state, choice + 1);
            }
            case LEAVE -> beginEra(state, ModelState.LEAVING);
            case ACKNOWLEDGE -> acknowledge(state, choice);
            case COLLECT -> state.free(choice, true);
            case LOSE_LEASE -> {
                turn.at(state, choice);
                state.map(ModelState.OUT, state.map(ModelState.OUT) | 1 << choice);
                turn.loseLease();
            }
            case OPEN_AGAIN -> openAgain(state, choice);
            default -> endEra(state);
        }
        return true;
    }

    /** Looks at the table as a get of no client would, if no operation is in flight. */
    private boolean tableIsRight(ModelState state) {
        for (int client = 0; client < scenario.clients(); client++) {
            if (state.step(client) != ModelStep.IDLE && state.step(client) != ModelStep.DEAD) {
                return true;
            }
        }
        for (int key = 0; key < ModelState.KEYS; key++) {
            if (!monitors[key].allows(state.belief(key), value(state, key))) {
                return false;
            }
        }
        return true;
    }

    private int value(ModelState state, int key) {
        for (int slot = 0; slot < scenario.slots; slot++) {
            int word = state.word(slot);
            int body = state.body(ModelWord.block(word));
            boolean gone = state.map(ModelState.LEFT) != 0 && scenario.isFar(ModelWord.block(word));
            if (ModelWord.isLive(word) && !gone && ModelWord.key(body) == key) {
                return ModelWord.value(body);
            }
        }
        return ModelOperation.ABSENT;
    }

    private void access(int choice) {
        if (turn.isLate()) {
            turn.late();
            return;
        }
        if (turn.step() == ModelStep.IDLE) {
            turn.begin();
            if (turn.answer() != ClientTurn.UNDER_WAY || turn.step() == ModelStep.STAMP) {
                return;
            }
        }
        OperationModel kind = kinds.get(turn.operation().kind());
        if (!turn.step().readsBucket()) {
            kind.access(choice);
        } else if (turn.came(choice, turn.state().word(choice), scenario.slots)) {
            kind.bucketRead();
        }
    }

    /** None of the client's accesses comes any more. Its block is lost, unless a slot names it. */
    private static void die(ModelState state, int client) {
        state.clear(client);
        state.client(client, ModelState.STEP, ModelStep.DEAD.ordinal());
        state.map(ModelState.DEATHS, state.map(ModelState.DEATHS) - 1);
    }

    private static void beginEra(ModelState state, int waitsFor) {
        state.map(ModelState.ERA, waitsFor);
        state.map(ModelState.ACKNOWLEDGED, 0);
        state.map(ModelState.ERAS, state.map(ModelState.ERAS) - 1);
    }

    private void acknowledge(ModelState state, int client) {
        state.map(ModelState.ACKNOWLEDGED, state.map(ModelState.ACKNOWLEDGED) | 1 << client);
        turn.at(state, client);
        turn.beginEra();
    }

    /** The client registers again, in the era that is present. */
    private static void openAgain(ModelState state, int client) {
        int out = state.map(ModelState.OUT) & ~(1 << client);
        state.map(ModelState.OUT, out | 1 << ModelState.MOST_CLIENTS + client);
        if (state.map(ModelState.ERA) != 0) {
            state.map(ModelState.ACKNOWLEDGED, state.map(ModelState.ACKNOWLEDGED) | 1 << client);
        }
    }

    private static void endEra(ModelState state) {
        int waited = state.map(ModelState.ERA);
        if (waited == ModelState.LEAVING) {
            state.map(ModelState.LEFT, 1);
        } else {
            state.mark(waited - 1, 0);
            state.body(waited - 1, 0);
            state.free(waited - 1, true);
        }
        state.map(ModelState.ERA, 0);
        state.map(ModelState.ACKNOWLEDGED, 0);
    }

    /**
     * Makes a transition, and describes it in a line: client, operation, step, and which word or slot the step has
     * chosen.
     *
     * @param state becomes the state after it
     */
    String explain(ModelState state, int transition) {
        int choice = transition & CHOICE_MASK;
        if (transition >= ACCESSES) {
            go(state, transition);
            return switch (transition - choice) {
                case DIE -> "client " + choice + " dies";
                case RETIRE -> "the segment of block " + choice + " is to begin again";
                case LEAVE -> "the far server is to leave";
                case ACKNOWLEDGE -> "client " + choice + " begins the era";
                case COLLECT -> "block " + choice + " was lost, and is free";
                case LOSE_LEASE -> "client " + choice + " loses its lease on the table's server";
                case OPEN_AGAIN -> "client " + choice + " opens the map again";
                default -> "all have begun the era";
            };
        }
        int client = transition >> CHOICE_BITS;
        turn.at(state, client);
        if (turn.isLate()) {
            String what = turn.get(ModelState.LATE_SLOT) == 0 ? " marks late. " : " says that there may be pointers. ";
            go(state, transition);
            return "client " + client + what + slots(state);
        }
        ModelOperation operation = turn.operation();
        ModelStep step = turn.step() == ModelStep.IDLE ? turn.firstStep() : turn.step();
        boolean right = go(state, transition);
        String answer = turn.answer() == ClientTurn.UNDER_WAY ? "" : ": " + operation.answerText(turn.answer());
        String wrong = right ? "" : turn.isWrong() ? ", which is wrong" : ", and what the table has is wrong";
        return "client " + client + ", " + operation + ": " + step + " " + choice + answer + wrong + ". "
                + slots(state);
    }

    private String slots(ModelState state) {
        StringBuilder text = new StringBuilder("Slots:");
        for (int slot = 0; slot < scenario.slots; slot++) {
            int word = state.word(slot);
            int block = ModelWord.block(word);
            if (word == ModelWord.EMPTY) {
                text.append(" -");
            } else if (ModelWord.isClaim(word)) {
                text.append(" claim");
            } else {
                int body = state.body(block);
                text.append(' ')
                        .append(ModelOperation.keyText(ModelWord.key(body)))
                        .append('=')
                        .append(ModelWord.value(body))
                        .append(ModelWord.isShared(word) ? "*" : "")
                        .append(ModelWord.isMarked(state.mark(block)) ? " (marked)" : "");
            }
        }
        return text.toString();
    }
}
