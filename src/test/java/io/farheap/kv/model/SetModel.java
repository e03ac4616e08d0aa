package io.farheap.kv.model;

/**
 * Sets and adds. A set with a kept pointer marks its block and swaps the word of the slot that has it, before it READs
 * anything. Any other update marks the block that the key's slot names, makes sure of its key, and swaps the slot's
 * word. An insertion claims a slot, looks behind its claim, and turns the claim into the block's word; without that
 * rule a set inserts by one compare-and-swap and removes duplicates.
 *
 * <p>Requests that meet another's claim do not wait: a request that waits and then removes the claim, or finds that it
 * has gone, does no more than one whose compare-and-swap comes late.
 */
final class SetModel implements OperationModel {

    private final ClientTurn turn;
    private final DuplicateRemovalModel duplicates;

    SetModel(ClientTurn turn) {
        this.turn = turn;
        duplicates = new DuplicateRemovalModel(turn);
    }

    private boolean adds() {
        return turn.operation().kind() == ModelOperation.Kind.ADD;
    }

    private boolean claims() {
        return adds() || turn.has(ProtocolRule.NO_KEY_IN_TWO_SLOTS);
    }

    private boolean isClaimed() {
        return claimed() != ClientTurn.NONE;
    }

    private int claimed() {
        return turn.get(ModelState.CLAIMED) - 1;
    }

    private int claimWord() {
        return ModelWord.claim(turn.get(ModelState.OWN));
    }

    @Override
    public void bucketRead() {
        if (turn.step() == ModelStep.INSERTED) {
            duplicates.begin();
        } else {
            look(0);
        }
    }

    @Override
    public void access(int choice) {
        switch (turn.step()) {
            case STAMP -> turn.stamped();
            case SWAP_BY_POINTER -> swapByPointer(choice);
            case TAKE_OUT -> takeOut();
            case CANDIDATE -> candidate(choice != 0);
            case PROBE -> probe();
            case HEAD -> head();
            case SWAP -> swap();
            case WINNER -> winner();
            case REPLACED -> replaced();
            case CHOOSE -> {
                turn.flags(0);
                turn.choose(choice);
                turn.goTo(ModelStep.INSERT);
                insert();
            }
            case INSERT -> insert();
            case RIVAL -> {
                turn.swap(ModelWord.EMPTY);
                turn.readBucket();
            }
            case COMMIT -> commit();
            case WITHDRAW -> {
                turn.swap(claimed(), claimWord(), ModelWord.EMPTY);
                turn.put(ModelState.CLAIMED, 0);
                turn.readBucket();
            }
            default -> duplicates.access();
        }
    }

    private void look(int from) {
        int slot = turn.find(from);
        if (slot == ClientTurn.NONE) {
            absent();
            return;
        }
        turn.flags(0);
        int word = turn.choose(slot);
        if (!turn.reaches(word)) {
            unreachable();
        } else if (adds() || isClaimed()) {
            turn.goTo(ModelStep.PROBE);
        } else if (turn.has(ProtocolRule.NO_INSERTION_UNSEEN)) {
            if (turn.pointer() == word) {
                turn.flags(ClientTurn.PROVEN);
                turn.goTo(ModelStep.SWAP);
            } else {
                turn.goTo(ModelStep.HEAD);
            }
        } else {
            turn.goTo(turn.isAlone(slot) ? ModelStep.CANDIDATE : ModelStep.PROBE);
        }
    }

    private void unreachable() {
        if (isClaimed()) {
            turn.goTo(ModelStep.WITHDRAW);
        } else if (turn.mayEmptyUnreachable(turn.get(ModelState.WORD))) {
            turn.goTo(ModelStep.TAKE_OUT);
        } else {
            turn.lost();
        }
    }

    private void takeOut() {
        turn.swap(ModelWord.EMPTY);
        turn.readBucket();
    }

    private void candidate(boolean byHash) {
        if (byHash) {
            turn.goTo(ModelStep.HEAD);
            head();
        } else {
            turn.goTo(ModelStep.PROBE);
            probe();
        }
    }

    private void probe() {
        int body = turn.body(turn.get(ModelState.WORD));
        if (body == ClientTurn.NOT_WHOLE) {
            turn.readBucket();
        } else if (!turn.isOfKey(body)) {
            look(turn.get(ModelState.SLOT) + 1);
        } else if (isClaimed()) {
            turn.goTo(ModelStep.WITHDRAW);
        } else if (adds()) {
            turn.giveBack();
            turn.end(ModelOperation.NO);
        } else {
            turn.flags(ClientTurn.PROVEN);
            turn.goTo(ModelStep.SWAP);
        }
    }

    private void head() {
        int body = turn.body(turn.get(ModelState.WORD));
        boolean waits = turn.has(ProtocolRule.NO_INSERTION_UNSEEN);
        if (waits && body == ClientTurn.NOT_WHOLE) {
            turn.readBucket();
        } else if (waits && !turn.isOfKey(body)) {
            look(turn.get(ModelState.SLOT) + 1);
        } else {
            turn.flags(turn.isOfKey(body) ? ClientTurn.OF_KEY : 0);
            turn.goTo(ModelStep.SWAP);
        }
    }

    private void swap() {
        switch (turn.swap(turn.get(ModelState.OWN))) {
            case NOT_YET -> {}
            case FAILED -> readOther(ModelStep.WINNER);
            case DONE -> {
                if (turn.hasFlag(ClientTurn.PROVEN | ClientTurn.OF_KEY)) {
                    stored();
                } else {
                    // It has replaced another key's object: an insertion without a claim.
                    turn.readBucketForDuplicates();
                }
            }
        }
    }

    private void stored() {
        turn.keepPointer(turn.get(ModelState.OWN));
        turn.end(ModelOperation.YES);
    }

    /**
     * The word may be in one slot at most, which is the pointer's: it has not come back in the era, so it has not come
     * back in another slot either.
     *
     * @param choice the pointer's slot, if none has the word
     */
    private void swapByPointer(int choice) {
        int word = turn.get(ModelState.WORD);
        int found = turn.slotWith(word);
        int slot = found == ClientTurn.NONE ? choice : found;
        turn.put(ModelState.SLOT, slot);
        switch (turn.swap(slot, word, turn.get(ModelState.OWN))) {
            case NOT_YET -> {}
            case FAILED -> {
                boolean looks = turn.has(ProtocolRule.A_SET_THAT_LOSES_BY_A_POINTER_LOOKS);
                readOther(looks ? ModelStep.REPLACED : ModelStep.WINNER);
            }
            case DONE -> stored();
        }
    }

    /** The compare-and-swap has found another word, which is the request's from then on. */
    private void readOther(ModelStep step) {
        int now = turn.state().word(turn.get(ModelState.SLOT));
        if (ModelWord.isLive(now) && turn.reaches(now)) {
            turn.readOther(now, step);
        } else {
            turn.readBucket();
        }
    }

    private void replaced() {
        if (turn.isOfKey(turn.body(turn.get(ModelState.WORD)))) {
            turn.flags(ClientTurn.PROVEN);
            turn.goTo(ModelStep.SWAP);
        } else {
            turn.readBucket();
        }
    }

    /** If the slot has another set's object, this set counts as taking effect right before that. */
    private void winner() {
        int body = turn.body(turn.get(ModelState.WORD));
        if (turn.isOfKey(body) && !ModelWord.conditional(body)) {
            turn.keepPointerOfLoser();
            turn.giveBack();
            turn.end(ModelOperation.YES);
        } else {
            turn.readBucket();
        }
    }

    private void absent() {
        if (!isClaimed()) {
            if (maySomewhere()) {
                turn.goTo(ModelStep.CHOOSE);
            } else {
                turn.lost();
            }
            return;
        }
        for (int slot = 0; slot < turn.scenario.slots; slot++) {
            if (ModelWord.isClaim(turn.copy(slot)) && slot != claimed()) {
                turn.choose(slot);
                turn.goTo(ModelStep.RIVAL);
                return;
            }
        }
        turn.goTo(ModelStep.COMMIT);
    }

    private boolean maySomewhere() {
        for (int slot = 0; slot < turn.scenario.slots; slot++) {
            if (mayInsert(turn, slot)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Whether an insertion may choose a slot: any empty one, which stands for one with an entry of the history as well;
     * if there is none, one with a claim or with another key's object.
     */
    static boolean mayInsert(ClientTurn turn, int slot) {
        int word = turn.copy(slot);
        if (word == ModelWord.EMPTY) {
            return true;
        }
        for (int other = 0; other < turn.scenario.slots; other++) {
            if (turn.copy(other) == ModelWord.EMPTY) {
                return false;
            }
        }
        return ModelWord.isClaim(word) || turn.mayCrowdOut(word);
    }

    private void insert() {
        switch (turn.swap(claims() ? claimWord() : turn.get(ModelState.OWN))) {
            case NOT_YET -> {}
            case FAILED -> turn.readBucket();
            case DONE -> {
                if (claims()) {
                    turn.put(ModelState.CLAIMED, turn.get(ModelState.SLOT) + 1);
                    turn.readBucket();
                } else {
                    turn.readBucketForDuplicates();
                }
            }
        }
    }

    private void commit() {
        ClientTurn.Swapped swapped = turn.swap(claimed(), claimWord(), turn.get(ModelState.OWN));
        turn.put(ModelState.CLAIMED, 0);
        if (swapped != ClientTurn.Swapped.DONE) {
            turn.readBucket();
        } else if (turn.has(ProtocolRule.NO_KEY_IN_TWO_SLOTS)) {
            stored();
        } else {
            turn.readBucketForDuplicates();
        }
    }
}
