package io.farheap.kv.model;

/**
 * One access of one client, and what the steps of all kinds of operations have in common: the copy of the bucket that
 * the client has read, marks and compare-and-swaps, blocks, pointers and answers. One object serves all accesses of a
 * model, one after another.
 */
final class ClientTurn {

    static final int NONE = -1;
    /** No answer: the operation has not ended. */
    static final int UNDER_WAY = -1;
    /** A block that is not the one that the word means. */
    static final int NOT_WHOLE = -1;

    // Flags of a client.
    /** The slot's block was known to be the key's before the compare-and-swap. */
    static final int PROVEN = 1;
    /** It was seen to be the key's. */
    static final int OF_KEY = 2;
    /** The request has removed a duplicate. */
    static final int DOUBLED = 4;
    /** The block that the next compare-and-swap takes out has been marked. */
    static final int MARKED = 8;

    /** Of {@link ModelState#OLD}: the request in flight is of an older era; and above it a bit for each pointer. */
    private static final int OLD_REQUEST = 1;

    private static final int OLD_POINTERS = 2;
    /** Of {@link ModelState#LATE_SLOT}: the slot, plus 1, and above it the key. */
    private static final int LATE_KEY = 8;

    /** What an access of a compare-and-swap has done. */
    enum Swapped {
        /**
         * It has marked the block, or found that pointers to it may be kept and it is to be marked; the next access
         * follows.
         */
        NOT_YET,
        FAILED,
        DONE
    }

    final ModelScenario scenario;
    private final LinearizabilityMonitor[] monitors;
    private ModelState state;
    private int client;
    private int answer;
    private boolean wrong;

    ClientTurn(ModelScenario scenario, LinearizabilityMonitor[] monitors) {
        this.scenario = scenario;
        this.monitors = monitors;
        state = new ModelState(scenario.clients());
    }

    /** Begins an access, or a look at what the client may do. */
    void at(ModelState next, int clientNumber) {
        state = next;
        client = clientNumber;
        answer = UNDER_WAY;
        wrong = false;
    }

    /** The answer with which the access has ended the operation, or {@link #UNDER_WAY}. */
    int answer() {
        return answer;
    }

    /** Whether no order of the operations explains the answer. */
    boolean isWrong() {
        return wrong;
    }

    ModelState state() {
        return state;
    }

    int get(int field) {
        return state.client(client, field);
    }

    void put(int field, int value) {
        state.client(client, field, value);
    }

    boolean hasFlag(int flag) {
        return (get(ModelState.FLAGS) & flag) != 0;
    }

    void flags(int flags) {
        put(ModelState.FLAGS, flags);
    }

    ModelStep step() {
        return state.step(client);
    }

    boolean hasEnded() {
        return get(ModelState.OPERATION) == scenario.programs.get(client).size();
    }

    /** The client's operation, or the next one if it is between two. */
    ModelOperation operation() {
        return scenario.programs.get(client).get(get(ModelState.OPERATION));
    }

    boolean has(ProtocolRule rule) {
        return scenario.has(rule);
    }

    /** Begins the client's next operation with its first access. */
    void begin() {
        ModelOperation operation = operation();
        int key = operation.key();
        if (operation.kind().hasKey()) {
            state.belief(key, monitors[key].begin(state.belief(key), client, operation));
        }
        ModelStep first = firstStep();
        if (first == ModelStep.STAMP) {
            goTo(first);
        } else {
            beginInEra();
        }
    }

    /** The stamp can be seen by the services: from now on an era waits for the request. */
    void stamped() {
        if (has(ProtocolRule.REQUESTS_LOOK_AT_THE_ERA_TWICE)) {
            leaveOldEra();
        }
        beginInEra();
    }

    private void beginInEra() {
        ModelOperation operation = operation();
        if (getsByPointer()) {
            put(ModelState.WORD, pointer());
            goTo(ModelStep.POINTER);
        } else if (isOut()) {
            end(ModelOperation.LOST);
        } else {
            if (operation.kind().stores()) {
                own(operation.key());
                write(operation.key(), operation.value(), operation.kind() == ModelOperation.Kind.ADD);
            }
            if (setsByPointer()) {
                put(ModelState.WORD, pointer());
                goTo(ModelStep.SWAP_BY_POINTER);
            } else {
                readBucket();
            }
        }
    }

    /** The step with which the next operation begins. */
    ModelStep firstStep() {
        if (!getsByPointer() && !setsByPointer()) {
            return ModelStep.BUCKET;
        }
        if (scenario.eras > 0) {
            return ModelStep.STAMP;
        }
        return getsByPointer() ? ModelStep.POINTER : ModelStep.SWAP_BY_POINTER;
    }

    private boolean setsByPointer() {
        return operation().kind() == ModelOperation.Kind.SET && scenario.setsByPointer && hasPointer();
    }

    private boolean getsByPointer() {
        return operation().kind() == ModelOperation.Kind.GET && hasPointer();
    }

    /** Whether a request is in flight as far as the services see. */
    boolean isStamped() {
        return step() != ModelStep.IDLE && step() != ModelStep.STAMP && step() != ModelStep.DEAD;
    }

    /** Whether the services of the table's server do not count the client any more, as its lease there has ended. */
    boolean isOut() {
        return (state.map(ModelState.OUT) >> client & 1) != 0;
    }

    /** Whether the client's request in flight, or its late access, is of an older era. */
    private boolean isOfOldEra() {
        return (get(ModelState.OLD) & OLD_REQUEST) != 0;
    }

    /** Whether an era waits for that. None waits for the access by which a slot says that there may be pointers. */
    boolean holdsOldEra() {
        boolean marksLate = isLate() && get(ModelState.LATE_SLOT) == 0;
        return isOfOldEra() && (isStamped() || marksLate);
    }

    /** A new era begins in the client; its request in flight stays of the older one. */
    void beginEra() {
        boolean pointersEnd = has(ProtocolRule.POINTERS_ARE_OF_AN_ERA);
        if (step() == ModelStep.IDLE && !isLate()) {
            if (pointersEnd) {
                dropPointers();
            }
        } else {
            int old = OLD_REQUEST;
            for (int key = 0; key < ModelState.KEYS && pointersEnd; key++) {
                if (get(ModelState.POINTERS + key) != ModelWord.EMPTY) {
                    old |= OLD_POINTERS << key;
                }
            }
            put(ModelState.OLD, old);
        }
    }

    /** No request of an older era is left in the client, so its pointers of that era are of no use. */
    private void leaveOldEra() {
        int old = get(ModelState.OLD);
        for (int key = 0; key < ModelState.KEYS; key++) {
            if ((old & OLD_POINTERS << key) != 0) {
                put(ModelState.POINTERS + key, ModelWord.EMPTY);
            }
        }
        put(ModelState.OLD, 0);
    }

    void dropPointers() {
        state.clear(client, ModelState.POINTERS, ModelState.KEYS);
        put(ModelState.OLD, get(ModelState.OLD) & OLD_REQUEST);
    }

    void goTo(ModelStep step) {
        put(ModelState.STEP, step.ordinal());
    }

    /** READs the bucket, to look at it from the beginning; the request keeps its new block and its claim. */
    void readBucket() {
        int own = get(ModelState.OWN);
        int claimed = get(ModelState.CLAIMED);
        state.clear(client, ModelState.READ, ModelState.LATE - ModelState.READ);
        state.clear(client, ModelState.COPIES, ModelState.MOST_SLOTS);
        put(ModelState.OWN, own);
        put(ModelState.CLAIMED, claimed);
        goTo(ModelStep.BUCKET);
    }

    /** READs the block of another request's word, which is in the slot now. */
    void readOther(int word, ModelStep step) {
        state.clear(client, ModelState.COPIES, ModelState.MOST_SLOTS);
        flags(0);
        put(ModelState.WORD, word);
        goTo(step);
    }

    /** READs the bucket after the request's insertion, to remove duplicates. */
    void readBucketForDuplicates() {
        int doubled = get(ModelState.FLAGS) & DOUBLED;
        readBucket();
        flags(doubled);
        goTo(ModelStep.INSERTED);
    }

    /** One of the words of a READ has come. @return whether all have */
    boolean came(int number, int word, int words) {
        put(ModelState.COPIES + number, word);
        int read = get(ModelState.READ) | 1 << number;
        boolean all = read == (1 << words) - 1;
        put(ModelState.READ, all ? 0 : read);
        return all;
    }

    boolean hasCome(int number) {
        return (get(ModelState.READ) >> number & 1) != 0;
    }

    /** A word that the client has read. */
    int copy(int slot) {
        return get(ModelState.COPIES + slot);
    }

    /** The lowest live slot from {@code from} on, in the copy; or {@link #NONE}. */
    int find(int from) {
        for (int slot = from; slot < scenario.slots; slot++) {
            if (ModelWord.isLive(copy(slot))) {
                return slot;
            }
        }
        return NONE;
    }

    /** The highest live slot below {@code below}, in the copy; or {@link #NONE}. */
    int findLast(int below) {
        for (int slot = below - 1; slot >= 0; slot--) {
            if (ModelWord.isLive(copy(slot))) {
                return slot;
            }
        }
        return NONE;
    }

    /** Whether a slot is the only live one, so that a hash in it that is the key's makes it the key's for a set. */
    boolean isAlone(int slot) {
        return find(0) == slot && find(slot + 1) == NONE;
    }

    /** Makes a slot of the copy the request's. @return its word */
    int choose(int slot) {
        put(ModelState.SLOT, slot);
        put(ModelState.WORD, copy(slot));
        return copy(slot);
    }

    /** Whether the client reaches the server of a word's block. */
    boolean reaches(int word) {
        boolean far = scenario.isFar(ModelWord.block(word));
        if (isOut()) {
            return far && (scenario.cutOff >> client & 1) == 0;
        }
        return !far || !knowsFarAsLeft() && (scenario.cutOff >> client & 1) == 0;
    }

    private boolean knowsFarAsLeft() {
        return state.map(ModelState.LEFT) != 0
                || state.map(ModelState.ERA) == ModelState.LEAVING
                        && (state.map(ModelState.ACKNOWLEDGED) >> client & 1) != 0
                        && !isOfOldEra();
    }

    /** Whether a slot may be emptied whose block cannot be marked. */
    boolean mayEmptyUnreachable(int word) {
        return !has(ProtocolRule.WHAT_CANNOT_BE_MARKED_IS_NOT_EMPTIED)
                || state.map(ModelState.LEFT) != 0
                || !ModelWord.isShared(word);
    }

    /** Whether a live word's object may make way for another. */
    boolean mayCrowdOut(int word) {
        return reaches(word) || mayEmptyUnreachable(word);
    }

    /** The block that the client would take into use, or {@link #NONE}. */
    int freeBlock() {
        for (int block = 0; block < scenario.blocks; block++) {
            if (state.isFree(block) && reaches(ModelWord.live(block, 0))) {
                return block;
            }
        }
        return NONE;
    }

    /** Takes a block into use as the request's own, with its next incarnation. */
    void own(int key) {
        boolean notes = scenario.pointers && (scenario.noting >> client & 1) != 0;
        own(notes || get(ModelState.POINTERS + key) != ModelWord.EMPTY);
    }

    /** @param shared whether pointers to it may be kept as soon as a slot names it */
    void own(boolean shared) {
        int block = freeBlock();
        int incarnation = ModelWord.incarnationOfMark(state.mark(block)) + 1;
        if (incarnation > ModelWord.MOST_INCARNATION) {
            throw new IllegalStateException("the scenario uses block " + block + " more than "
                    + ModelWord.MOST_INCARNATION + " times; give it more blocks or shorter programs");
        }
        state.free(block, false);
        int word = ModelWord.live(block, incarnation);
        put(ModelState.OWN, shared ? ModelWord.shared(word) : word);
    }

    /** The WRITE of the request's own block. */
    void write(int key, int value, boolean conditional) {
        int own = get(ModelState.OWN);
        int incarnation = ModelWord.incarnation(own);
        state.mark(ModelWord.block(own), ModelWord.mark(incarnation));
        state.body(ModelWord.block(own), ModelWord.body(incarnation, key, value, conditional));
    }

    /** Frees the request's own block, if it has one, which no slot names. */
    void giveBack() {
        if (get(ModelState.OWN) != ModelWord.EMPTY) {
            state.free(ModelWord.block(get(ModelState.OWN)), true);
        }
    }

    /** The READ of the block that a word names: its body, or {@link #NOT_WHOLE} if it was used again. */
    int body(int word) {
        int body = state.body(ModelWord.block(word));
        return ModelWord.incarnationOfBody(body) == ModelWord.incarnation(word) ? body : NOT_WHOLE;
    }

    boolean isOfKey(int body) {
        return body != NOT_WHOLE && ModelWord.key(body) == operation().key();
    }

    /** The compare-and-swap of a mark, which does nothing if the block was marked or used again. */
    private void mark(int word) {
        int block = ModelWord.block(word);
        if (state.mark(block) == ModelWord.mark(ModelWord.incarnation(word))) {
            state.mark(block, ModelWord.marked(state.mark(block)));
        }
    }

    /**
     * The compare-and-swap of a slot's word; before it, as an access of its own, the mark of the block that it takes
     * out, as {@link ProtocolRule#MARK_BEFORE_SWAP} says. The block that was taken out is free. If pointers to the
     * block may be kept since the word was read, it is marked and tried again.
     */
    Swapped swap(int slot, int from, int to) {
        boolean takesOut = ModelWord.isLive(from);
        boolean marks = takesOut && ModelWord.isShared(from) && reaches(from);
        if (marks && has(ProtocolRule.MARK_BEFORE_SWAP) && !hasFlag(MARKED)) {
            mark(from);
            flags(get(ModelState.FLAGS) | MARKED);
            return Swapped.NOT_YET;
        }
        flags(get(ModelState.FLAGS) & ~MARKED);
        boolean mayBeShared = takesOut && !ModelWord.isShared(from) && reaches(from);
        if (mayBeShared
                && has(ProtocolRule.ANNOUNCED_WORDS_ARE_THE_SAME)
                && state.word(slot) == ModelWord.shared(from)) {
            put(ModelState.WORD, ModelWord.shared(from));
            return Swapped.NOT_YET;
        }
        if (state.word(slot) != from) {
            return Swapped.FAILED;
        }
        state.word(slot, to);
        if (marks && !has(ProtocolRule.MARK_BEFORE_SWAP)) {
            put(ModelState.LATE, from);
        } else if (takesOut && reaches(from)) {
            state.free(ModelWord.block(from), true);
        }
        return Swapped.DONE;
    }

    /** The same for the request's slot and word. */
    Swapped swap(int to) {
        return swap(get(ModelState.SLOT), get(ModelState.WORD), to);
    }

    /**
     * Whether an access comes yet for which no request waits: the mark of a block behind the compare-and-swap that took
     * it out, or the compare-and-swap by which a slot says that pointers may be kept.
     */
    boolean isLate() {
        return get(ModelState.LATE) != ModelWord.EMPTY;
    }

    void late() {
        int word = get(ModelState.LATE);
        int where = get(ModelState.LATE_SLOT);
        if (where == 0) {
            mark(word);
            state.free(ModelWord.block(word), true);
        } else {
            int slot = where % LATE_KEY - 1;
            if (state.word(slot) == word || state.word(slot) == ModelWord.shared(word)) {
                state.word(slot, ModelWord.shared(word));
                keepPointer(where / LATE_KEY, ModelWord.shared(word));
            }
        }
        state.clear(client, ModelState.LATE, 2);
        if (step() == ModelStep.IDLE) {
            leaveOldEra();
        }
    }

    /** The slot that has a word, or {@link #NONE}. */
    int slotWith(int word) {
        for (int slot = 0; slot < scenario.slots; slot++) {
            if (state.word(slot) == word) {
                return slot;
            }
        }
        return NONE;
    }

    /** Whether the client has a pointer to the operation's key, of the request's era, to a block that it reaches. */
    private boolean hasPointer() {
        return pointer() != ModelWord.EMPTY && reaches(pointer());
    }

    /** The pointer of the operation's key, or {@link ModelWord#EMPTY} if it is of an older era than the request. */
    int pointer() {
        int key = operation().key();
        boolean old = (get(ModelState.OLD) & OLD_POINTERS << key) != 0;
        return old && !isOfOldEra() ? ModelWord.EMPTY : get(ModelState.POINTERS + key);
    }

    void dropPointer() {
        int key = operation().key();
        put(ModelState.POINTERS + key, ModelWord.EMPTY);
        put(ModelState.OLD, get(ModelState.OLD) & ~(OLD_POINTERS << key));
    }

    /** Keeps a word as the pointer of the operation's key, if its slot says that pointers to it may be kept. */
    void keepPointer(int word) {
        boolean may = ModelWord.isShared(word) || !has(ProtocolRule.POINTERS_ARE_ANNOUNCED);
        if (scenario.pointers && may) {
            keepPointer(operation().key(), word);
        }
    }

    private void keepPointer(int key, int word) {
        put(ModelState.POINTERS + key, word);
        int old = get(ModelState.OLD) & ~(OLD_POINTERS << key);
        boolean isOld = isOfOldEra()
                && has(ProtocolRule.POINTERS_ARE_OF_AN_ERA)
                && has(ProtocolRule.POINTERS_HAVE_THE_ERA_OF_THEIR_REQUEST);
        put(ModelState.OLD, isOld ? old | OLD_POINTERS << key : old);
    }

    /** A set that counts as replaced at once has a block that no slot names. */
    void keepPointerOfLoser() {
        keepPointer(has(ProtocolRule.POINTERS_ARE_TO_WHAT_A_SLOT_NAMED) ? get(ModelState.WORD) : get(ModelState.OWN));
    }

    /** Ends a get by the table: if the slot does not say so yet, a late access lets it say that pointers are kept. */
    void found(int value) {
        int slot = get(ModelState.SLOT);
        int word = get(ModelState.WORD);
        int key = operation().key();
        boolean announces = scenario.pointers && !ModelWord.isShared(word) && has(ProtocolRule.POINTERS_ARE_ANNOUNCED);
        boolean hasMore =
                get(ModelState.OPERATION) + 1 < scenario.programs.get(client).size();
        keepPointer(word);
        if (announces && hasMore) {
            put(ModelState.LATE, word);
            put(ModelState.LATE_SLOT, slot + 1 + key * LATE_KEY);
        }
        end(value);
    }

    /** Ends the operation. */
    void end(int with) {
        ModelOperation operation = operation();
        if (operation.kind().hasKey()) {
            int key = operation.key();
            int belief = monitors[key].end(state.belief(key), client, with);
            wrong = belief == LinearizabilityMonitor.WRONG;
            state.belief(key, belief);
        }
        answer = with;
        state.clear(client, ModelState.STEP, ModelState.LATE - ModelState.STEP);
        state.clear(client, ModelState.COPIES, ModelState.MOST_SLOTS);
        put(ModelState.OPERATION, get(ModelState.OPERATION) + 1);
        if (hasEnded()) {
            dropPointers();
        }
        if (!isLate()) {
            leaveOldEra();
        }
    }

    /**
     * The client's lease on the table's server ends: nothing that it has posted there is executed any more. A READ of a
     * block on the other server is.
     */
    void loseLease() {
        state.clear(client, ModelState.LATE, 2);
        if (has(ProtocolRule.POINTERS_END_WITH_THE_LEASE)) {
            dropPointers();
        }
        boolean readsFar = step() == ModelStep.POINTER && scenario.isFar(ModelWord.block(get(ModelState.WORD)));
        if (isStamped() && !readsFar) {
            end(ModelOperation.LOST);
        }
    }

    /** Ends an operation that cannot continue, and has changed nothing. */
    void lost() {
        giveBack();
        end(ModelOperation.LOST);
    }
}
