package io.farheap.kv.model;

import java.util.EnumMap;
import java.util.Map;

/**
 * The transitions of a scenario's states: an access of a client, a client's death, and what services do with eras. A
 * transition is a number.
 */
final class MapModel {

    static final int MOST_TRANSITIONS = 64;

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
        }
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
        if (turn.marksLate()) {
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
                case CHOOSE, VICTIM -> {
                    for (int slot = 0; slot < scenario.slots; slot++) {
                        if (step == ModelStep.CHOOSE
                                ? SetModel.mayInsert(turn, slot)
                                : EvictionModel.mayGo(turn, slot)) {
                            found(first | slot);
                        }
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

    /** A request that needs a block waits until one is free. */
    private void findBeginnings(int first) {
        if (turn.hasEnded() || turn.operation().kind().stores() && turn.freeBlock() == ClientTurn.NONE) {
            return;
        }
        findUnread(first, firstStep() == ModelStep.POINTER ? BLOCK_WORDS : scenario.slots);
    }

    /** The step with which the next operation begins. */
    private ModelStep firstStep() {
        boolean byPointer = turn.operation().kind() == ModelOperation.Kind.GET && turn.hasPointer();
        return byPointer ? ModelStep.POINTER : ModelStep.BUCKET;
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

    /** An era has begun when no living client has a request of an older one in flight, nor a mark that is late. */
    private void findEndOfEra(ModelState state) {
        int waits = 0;
        for (int client = 0; client < scenario.clients(); client++) {
            turn.at(state, client);
            boolean idle = turn.step() == ModelStep.IDLE && !turn.marksLate();
            boolean knows = (state.map(ModelState.ACKNOWLEDGED) >> client & 1) != 0
                    || turn.step() == ModelStep.DEAD
                    || idle && turn.hasEnded();
            if (!knows) {
                waits++;
                if (idle) {
                    found(ACKNOWLEDGE | client);
                }
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
            boolean gone = state.map(ModelState.LEFT) != 0 && (scenario.far >> ModelWord.block(word) & 1) != 0;
            if (ModelWord.isLive(word) && !gone && ModelWord.key(body) == key) {
                return ModelWord.value(body);
            }
        }
        return ModelOperation.ABSENT;
    }

    private void access(int choice) {
        if (turn.marksLate()) {
            turn.markLate();
            return;
        }
        if (turn.step() == ModelStep.IDLE) {
            turn.begin();
        }
        OperationModel kind = kinds.get(turn.operation().kind());
        if (!turn.step().readsBucket()) {
            kind.access(choice);
        } else if (turn.came(choice, turn.state().word(choice), scenario.slots)) {
            kind.bucketRead();
        }
    }

    /** None of the client's accesses comes any more. Its block is collected, unless a slot has named it. */
    private void die(ModelState state, int client) {
        int own = state.client(client, ModelState.OWN);
        boolean named = state.step(client).followsInsertion();
        for (int slot = 0; slot < scenario.slots; slot++) {
            named |= ModelWord.sameBlock(state.word(slot), own);
        }
        if (own != ModelWord.EMPTY && !named) {
            state.free(ModelWord.block(own), true);
        }
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
        if (scenario.has(ProtocolRule.POINTERS_ARE_OF_AN_ERA)) {
            state.clear(client, ModelState.POINTERS, ModelState.KEYS);
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
                default -> "all have begun the era";
            };
        }
        int client = transition >> CHOICE_BITS;
        turn.at(state, client);
        if (turn.marksLate()) {
            go(state, transition);
            return "client " + client + " marks late";
        }
        ModelOperation operation = turn.operation();
        ModelStep step = turn.step() == ModelStep.IDLE ? firstStep() : turn.step();
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
                        .append(ModelWord.isMarked(state.mark(block)) ? " (marked)" : "");
            }
        }
        return text.toString();
    }
}
