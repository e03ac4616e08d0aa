package io.farheap.kv.model;

/** A move of an object of any key: as a touch, but it begins with a slot, and ends if that has changed. */
final class MoveModel implements OperationModel {

    private final ClientTurn turn;

    MoveModel(ClientTurn turn) {
        this.turn = turn;
    }

    @Override
    public void bucketRead() {
        for (int slot = 0; slot < turn.scenario.slots; slot++) {
            if (mayMove(turn, slot)) {
                turn.goTo(ModelStep.MOVE);
                return;
            }
        }
        turn.end(ModelOperation.YES);
    }

    /** Whether the object of a slot may be moved. */
    static boolean mayMove(ClientTurn turn, int slot) {
        return ModelWord.isLive(turn.copy(slot)) && turn.reaches(turn.copy(slot));
    }

    @Override
    public void access(int choice) {
        switch (turn.step()) {
            case MOVE -> readBlock(choice);
            case MOVE_SWAP -> swap();
            default -> throw OperationModel.stray(turn.step());
        }
    }

    private void readBlock(int slot) {
        int word = turn.choose(slot);
        int body = turn.body(word);
        if (body == ClientTurn.NOT_WHOLE) {
            turn.end(ModelOperation.YES);
            return;
        }
        turn.own(ModelWord.isShared(word));
        turn.write(ModelWord.key(body), ModelWord.value(body), true);
        turn.goTo(ModelStep.MOVE_SWAP);
    }

    private void swap() {
        switch (turn.swap(turn.get(ModelState.OWN))) {
            case NOT_YET -> {}
            case FAILED -> {
                turn.giveBack();
                turn.end(ModelOperation.YES);
            }
            case DONE -> turn.end(ModelOperation.YES);
        }
    }
}
