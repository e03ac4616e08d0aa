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

    /** What an access of a compare-and-swap has done. */
    enum Swapped {
        /** It has marked the block, and the compare-and-swap is the next access. */
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
        if (operation.kind() != ModelOperation.Kind.EVICT) {
            int key = operation.key();
            state.belief(key, monitors[key].begin(state.belief(key), client, operation));
        }
        if (operation.kind().stores()) {
            own();
            write(operation.value(), operation.kind() == ModelOperation.Kind.ADD);
        }
        if (operation.kind() == ModelOperation.Kind.GET && hasPointer()) {
            goTo(ModelStep.POINTER);
        } else {
            readBucket();
        }
    }

    void goTo(ModelStep step) {
        put(ModelState.STEP, step.ordinal());
    }

    /** READs the bucket, to look at it from the beginning; the request keeps its new block and its claim. */
    void readBucket() {
        int own = get(ModelState.OWN);
        int claimed = get(ModelState.CLAIMED);
        state.clear(client, ModelState.READ, ModelState.UNMARKED - ModelState.READ);
        state.clear(client, ModelState.COPIES, ModelState.MOST_SLOTS);
        put(ModelState.OWN, own);
        put(ModelState.CLAIMED, claimed);
        goTo(ModelStep.BUCKET);
    }

    /** READs the bucket after a compare-and-swap that failed; the request keeps slot and word, too. */
    void readBucketAfterSwap() {
        state.clear(client, ModelState.COPIES, ModelState.MOST_SLOTS);
        flags(0);
        goTo(ModelStep.SWAP_LOST);
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
        boolean far = (scenario.far >> ModelWord.block(word) & 1) != 0;
        return !far || !knowsFarAsLeft() && (scenario.cutOff >> client & 1) == 0;
    }

    private boolean knowsFarAsLeft() {
        return state.map(ModelState.LEFT) != 0
                || state.map(ModelState.ERA) == ModelState.LEAVING
                        && (state.map(ModelState.ACKNOWLEDGED) >> client & 1) != 0;
    }

    /** Whether slots may be emptied that name blocks which cannot be marked. */
    boolean mayEmptyUnreachable() {
        return !has(ProtocolRule.WHAT_CANNOT_BE_MARKED_IS_NOT_EMPTIED) || state.map(ModelState.LEFT) != 0;
    }

    /** Whether a live word's object may make way for another. */
    boolean mayCrowdOut(int word) {
        return reaches(word) || mayEmptyUnreachable();
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
    void own() {
        int block = freeBlock();
        int incarnation = ModelWord.incarnationOfMark(state.mark(block)) + 1;
        if (incarnation > ModelWord.MOST_INCARNATION) {
            throw new IllegalStateException("the scenario uses block " + block + " more than "
                    + ModelWord.MOST_INCARNATION + " times; give it more blocks or shorter programs");
        }
        state.free(block, false);
        put(ModelState.OWN, ModelWord.live(block, incarnation));
    }

    /** The WRITE of the request's own block. */
    void write(int value, boolean conditional) {
        int own = get(ModelState.OWN);
        int incarnation = ModelWord.incarnation(own);
        state.mark(ModelWord.block(own), ModelWord.mark(incarnation));
        state.body(ModelWord.block(own), ModelWord.body(incarnation, operation().key(), value, conditional));
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
     * out, as {@link ProtocolRule#MARK_BEFORE_SWAP} says. The block that was taken out is free.
     */
    Swapped swap(int slot, int from, int to) {
        boolean takesOut = ModelWord.isLive(from);
        boolean marks = takesOut && scenario.pointers && reaches(from);
        if (marks && has(ProtocolRule.MARK_BEFORE_SWAP) && !hasFlag(MARKED)) {
            mark(from);
            flags(get(ModelState.FLAGS) | MARKED);
            return Swapped.NOT_YET;
        }
        flags(get(ModelState.FLAGS) & ~MARKED);
        if (state.word(slot) != from) {
            return Swapped.FAILED;
        }
        state.word(slot, to);
        if (marks && !has(ProtocolRule.MARK_BEFORE_SWAP)) {
            put(ModelState.UNMARKED, from);
        } else if (takesOut && reaches(from)) {
            state.free(ModelWord.block(from), true);
        }
        return Swapped.DONE;
    }

    /** The same for the request's slot and word. */
    Swapped swap(int to) {
        return swap(get(ModelState.SLOT), get(ModelState.WORD), to);
    }

    /** Whether a block waits for its mark behind the compare-and-swap that took it out. */
    boolean marksLate() {
        return get(ModelState.UNMARKED) != ModelWord.EMPTY;
    }

    void markLate() {
        int word = get(ModelState.UNMARKED);
        mark(word);
        state.free(ModelWord.block(word), true);
        put(ModelState.UNMARKED, ModelWord.EMPTY);
    }

    /** Whether the client has a pointer to the operation's key, to a block that it reaches. */
    boolean hasPointer() {
        return pointer() != ModelWord.EMPTY && reaches(pointer());
    }

    int pointer() {
        return get(ModelState.POINTERS + operation().key());
    }

    /** Keeps a word as the pointer of the operation's key. The next READ sees by the mark whether it is current. */
    void keepPointer(int word) {
        if (scenario.pointers) {
            put(ModelState.POINTERS + operation().key(), word);
        }
    }

    /** Ends the operation. */
    void end(int with) {
        ModelOperation operation = operation();
        if (operation.kind() != ModelOperation.Kind.EVICT) {
            int key = operation.key();
            int belief = monitors[key].end(state.belief(key), client, with);
            wrong = belief == LinearizabilityMonitor.WRONG;
            state.belief(key, belief);
        }
        answer = with;
        state.clear(client, ModelState.STEP, ModelState.UNMARKED - ModelState.STEP);
        state.clear(client, ModelState.COPIES, ModelState.MOST_SLOTS);
        put(ModelState.OPERATION, get(ModelState.OPERATION) + 1);
        if (hasEnded()) {
            state.clear(client, ModelState.POINTERS, ModelState.KEYS);
        }
    }

    /** Ends an operation that cannot continue, and has changed nothing. */
    void lost() {
        giveBack();
        end(ModelOperation.LOST);
    }
}
