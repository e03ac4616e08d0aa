package io.farheap.kv.model;

/**
 * A delete. If several slots may have the key, it looks upwards for the lowest one, whose removal is its answer. If a
 * key may be in two slots, it then takes out from the highest slot downwards; else it takes out the one that it has
 * found.
 */
final class DeleteModel implements OperationModel {

    private final ClientTurn turn;

    DeleteModel(ClientTurn turn) {
        this.turn = turn;
    }

    private boolean oneSlotHasTheKey() {
        return turn.has(ProtocolRule.NO_KEY_IN_TWO_SLOTS);
    }

    @Override
    public void bucketRead() {
        int slot = turn.find(0);
        if (slot != ClientTurn.NONE && !oneSlotHasTheKey() && turn.isAlone(slot)) {
            lowest(slot);
            look(turn.scenario.slots);
        } else {
            lookForLowest(slot);
        }
    }

    private void lowest(int slot) {
        turn.put(ModelState.LOWEST, slot + 1);
    }

    private int lowest() {
        return turn.get(ModelState.LOWEST) - 1;
    }

    private void lookForLowest(int slot) {
        if (slot == ClientTurn.NONE) {
            turn.end(ModelOperation.NO);
            return;
        }
        lowest(slot);
        if (turn.reaches(turn.choose(slot))) {
            turn.goTo(ModelStep.LOWEST);
        } else if (turn.mayEmptyUnreachable(turn.get(ModelState.WORD))) {
            look(turn.scenario.slots);
        } else {
            turn.lost();
        }
    }

    @Override
    public void access(int choice) {
        switch (turn.step()) {
            case LOWEST -> readLowest();
            case DELETE_PROBE -> probe();
            case DELETE_SWAP -> swap();
            default -> throw OperationModel.stray(turn.step());
        }
    }

    private void readLowest() {
        int body = turn.body(turn.get(ModelState.WORD));
        if (body == ClientTurn.NOT_WHOLE) {
            turn.readBucket();
        } else if (!turn.isOfKey(body)) {
            lookForLowest(turn.find(lowest() + 1));
        } else if (oneSlotHasTheKey()) {
            turn.flags(ClientTurn.OF_KEY);
            turn.goTo(ModelStep.DELETE_SWAP);
        } else {
            look(turn.scenario.slots);
        }
    }

    private void look(int below) {
        int slot = turn.findLast(below);
        if (slot == ClientTurn.NONE || slot < lowest()) {
            turn.end(ModelOperation.NO);
            return;
        }
        turn.flags(0);
        if (turn.reaches(turn.choose(slot))) {
            turn.goTo(ModelStep.DELETE_PROBE);
        } else if (turn.mayEmptyUnreachable(turn.get(ModelState.WORD))) {
            turn.goTo(ModelStep.DELETE_SWAP);
        } else {
            turn.lost();
        }
    }

    private void probe() {
        int body = turn.body(turn.get(ModelState.WORD));
        if (body == ClientTurn.NOT_WHOLE) {
            turn.readBucket();
        } else if (turn.isOfKey(body)) {
            turn.flags(ClientTurn.OF_KEY);
            turn.goTo(ModelStep.DELETE_SWAP);
        } else {
            look(turn.get(ModelState.SLOT));
        }
    }

    private void swap() {
        switch (turn.swap(ModelWord.EMPTY)) {
            case NOT_YET -> {}
            case FAILED -> turn.readBucket();
            case DONE -> {
                if (!turn.hasFlag(ClientTurn.OF_KEY)) {
                    // It could not be read. The key may be in another slot.
                    turn.readBucket();
                } else if (turn.get(ModelState.SLOT) == lowest()) {
                    turn.end(ModelOperation.YES);
                } else {
                    look(turn.get(ModelState.SLOT));
                }
            }
        }
    }
}
