package io.farheap.kv.model;

/**
 * The end of an insertion, if a key may be in two slots: it looks downwards for two slots of the key, and empties the
 * higher one, until there is one at most. If that one may have hidden a value that was set, it goes too.
 */
final class DuplicateRemovalModel {

    /** No slot of the key has been found yet. */
    private static final int NOT_YET = ModelState.MOST_SLOTS;

    private final ClientTurn turn;

    DuplicateRemovalModel(ClientTurn turn) {
        this.turn = turn;
    }

    /** Begins with the bucket as it was read after the insertion. */
    void begin() {
        turn.put(ModelState.SLOT, NOT_YET);
        look(turn.scenario.slots);
    }

    private boolean foundNone() {
        return turn.get(ModelState.SLOT) == NOT_YET;
    }

    private void look(int below) {
        int next = turn.findLast(below);
        if (next == ClientTurn.NONE || foundNone() && turn.find(0) == next) {
            settled(foundNone() ? next : turn.get(ModelState.SLOT));
            return;
        }
        turn.put(ModelState.LOOKED, next);
        if (turn.copy(next) == turn.get(ModelState.OWN)) {
            found();
        } else {
            turn.goTo(ModelStep.DUPLICATE_PROBE);
        }
    }

    void access() {
        switch (turn.step()) {
            case DUPLICATE_PROBE -> probe();
            case DUPLICATE_REMOVE -> {
                if (turn.swap(ModelWord.EMPTY) != ClientTurn.Swapped.NOT_YET) {
                    turn.readBucketForDuplicates();
                }
            }
            case DUPLICATE_SURVIVOR -> survived();
            default -> throw OperationModel.stray(turn.step());
        }
    }

    private void probe() {
        int looked = turn.get(ModelState.LOOKED);
        int body = turn.body(turn.copy(looked));
        if (body == ClientTurn.NOT_WHOLE) {
            turn.readBucketForDuplicates();
        } else if (turn.isOfKey(body)) {
            found();
        } else {
            look(looked);
        }
    }

    private void found() {
        int looked = turn.get(ModelState.LOOKED);
        if (foundNone()) {
            turn.put(ModelState.SLOT, looked);
            look(looked);
        } else {
            turn.flags(ClientTurn.DOUBLED);
            turn.put(ModelState.WORD, turn.copy(turn.get(ModelState.SLOT)));
            turn.goTo(ModelStep.DUPLICATE_REMOVE);
        }
    }

    private void settled(int last) {
        if (turn.hasFlag(ClientTurn.DOUBLED) && last != ClientTurn.NONE) {
            turn.choose(last);
            turn.goTo(ModelStep.DUPLICATE_SURVIVOR);
        } else {
            end();
        }
    }

    private void survived() {
        int body = turn.body(turn.get(ModelState.WORD));
        if (turn.isOfKey(body) && ModelWord.conditional(body)) {
            turn.goTo(ModelStep.DUPLICATE_REMOVE);
        } else {
            end();
        }
    }

    /** The pointer is to the request's own block; if that was taken out as a duplicate, its mark says so. */
    private void end() {
        turn.keepPointer(turn.get(ModelState.OWN));
        turn.end(ModelOperation.YES);
    }
}
