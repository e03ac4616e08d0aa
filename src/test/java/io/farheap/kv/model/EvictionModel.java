package io.farheap.kv.model;

/**
 * An eviction of any object in the bucket. If a key may be in two slots and a higher slot may have the victim's key,
 * the blocks' heads say which slot goes.
 */
final class EvictionModel implements OperationModel {

    /** A bit of the flags, beside those of {@link ClientTurn}: the victim's key. */
    private static final int SECOND_KEY = 16;

    private final ClientTurn turn;

    EvictionModel(ClientTurn turn) {
        this.turn = turn;
    }

    @Override
    public void bucketRead() {
        for (int slot = 0; slot < turn.scenario.slots; slot++) {
            if (mayGo(turn, slot)) {
                turn.goTo(ModelStep.VICTIM);
                return;
            }
        }
        turn.end(ModelOperation.YES);
    }

    /** Whether the victim may be in a slot. */
    static boolean mayGo(ClientTurn turn, int slot) {
        return ModelWord.isLive(turn.copy(slot)) && turn.mayCrowdOut(turn.copy(slot));
    }

    @Override
    public void access(int choice) {
        switch (turn.step()) {
            case VICTIM -> begin(choice);
            case VICTIM_HEADS -> readHead();
            case EVICT -> swap();
            default -> throw OperationModel.stray(turn.step());
        }
    }

    private void begin(int slot) {
        int word = turn.choose(slot);
        boolean alone = turn.has(ProtocolRule.NO_KEY_IN_TWO_SLOTS) || turn.find(slot + 1) == ClientTurn.NONE;
        if (alone || !turn.reaches(word)) {
            turn.goTo(ModelStep.EVICT);
            swap();
        } else {
            turn.put(ModelState.LOOKED, slot);
            turn.goTo(ModelStep.VICTIM_HEADS);
            readHead();
        }
    }

    private void readHead() {
        int looked = turn.get(ModelState.LOOKED);
        int body = turn.body(turn.copy(looked));
        if (body == ClientTurn.NOT_WHOLE) {
            turn.choose(turn.findLast(turn.scenario.slots));
            turn.goTo(ModelStep.EVICT);
            return;
        }
        int key = ModelWord.key(body) == 0 ? 0 : SECOND_KEY;
        if (!turn.hasFlag(ClientTurn.OF_KEY)) {
            turn.flags(ClientTurn.OF_KEY | key);
        } else if ((turn.get(ModelState.FLAGS) & SECOND_KEY) == key) {
            turn.choose(looked);
        }
        int next = turn.find(looked + 1);
        if (next == ClientTurn.NONE) {
            turn.goTo(ModelStep.EVICT);
        } else {
            turn.put(ModelState.LOOKED, next);
        }
    }

    /** A victim that has changed since stays. */
    private void swap() {
        if (turn.swap(ModelWord.EMPTY) != ClientTurn.Swapped.NOT_YET) {
            turn.end(ModelOperation.YES);
        }
    }
}
