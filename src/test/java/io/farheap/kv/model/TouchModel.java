package io.farheap.kv.model;

/** A touch, which stores the same value in another block, and takes effect on nothing but its place. */
final class TouchModel implements OperationModel {

    private final ClientTurn turn;

    TouchModel(ClientTurn turn) {
        this.turn = turn;
    }

    @Override
    public void bucketRead() {
        look(0);
    }

    private void look(int from) {
        int slot = turn.find(from);
        if (slot == ClientTurn.NONE) {
            absent();
        } else if (turn.reaches(turn.choose(slot))) {
            turn.goTo(ModelStep.TOUCH_BLOCK);
        } else if (turn.mayEmptyUnreachable(turn.get(ModelState.WORD))) {
            turn.goTo(ModelStep.TAKE_OUT);
        } else {
            turn.lost();
        }
    }

    private void absent() {
        turn.giveBack();
        turn.end(ModelOperation.NO);
    }

    @Override
    public void access(int choice) {
        switch (turn.step()) {
            case TOUCH_BLOCK -> readBlock();
            case TOUCH_SWAP -> swap();
            case TAKE_OUT -> takeOut();
            default -> throw OperationModel.stray(turn.step());
        }
    }

    private void readBlock() {
        int body = turn.body(turn.get(ModelState.WORD));
        if (body == ClientTurn.NOT_WHOLE) {
            turn.readBucket();
        } else if (turn.isOfKey(body)) {
            if (turn.get(ModelState.OWN) == ModelWord.EMPTY) {
                turn.own(turn.operation().key());
            }
            turn.write(turn.operation().key(), ModelWord.value(body), true);
            turn.goTo(ModelStep.TOUCH_SWAP);
        } else {
            look(turn.get(ModelState.SLOT) + 1);
        }
    }

    private void swap() {
        int own = turn.get(ModelState.OWN);
        switch (turn.swap(own)) {
            case NOT_YET -> {}
            case FAILED -> turn.readBucket();
            case DONE -> {
                turn.keepPointer(own);
                turn.end(ModelOperation.YES);
            }
        }
    }

    private void takeOut() {
        turn.swap(ModelWord.EMPTY);
        turn.readBucket();
    }
}
