package io.farheap.kv.model;

/**
 * A get. By a kept pointer it is one READ of a block, of which mark and body come in any order: a hit if the block has
 * the pointer's incarnation and the key, and is not marked. Else it is a READ of the bucket and one of the block.
 */
final class GetModel implements OperationModel {

    private static final int MARK = 0;
    private static final int BODY = 1;
    private static final int BLOCK_WORDS = 2;

    private final ClientTurn turn;

    GetModel(ClientTurn turn) {
        this.turn = turn;
    }

    @Override
    public void bucketRead() {
        look(0);
    }

    private void look(int from) {
        int slot = turn.find(from);
        if (slot == ClientTurn.NONE) {
            turn.end(ModelOperation.ABSENT);
        } else if (turn.reaches(turn.choose(slot))) {
            turn.goTo(ModelStep.BLOCK);
        } else if (turn.mayEmptyUnreachable(turn.get(ModelState.WORD))) {
            turn.goTo(ModelStep.TAKE_OUT);
        } else {
            turn.lost();
        }
    }

    @Override
    public void access(int choice) {
        switch (turn.step()) {
            case STAMP -> turn.stamped();
            case POINTER -> readByPointer(choice);
            case BLOCK -> readBlock();
            case TAKE_OUT -> takeOut();
            default -> throw OperationModel.stray(turn.step());
        }
    }

    private void readByPointer(int part) {
        int word = turn.get(ModelState.WORD);
        int block = ModelWord.block(word);
        if (!turn.came(
                part, part == MARK ? turn.state().mark(block) : turn.state().body(block), BLOCK_WORDS)) {
            return;
        }
        int incarnation = ModelWord.incarnation(word);
        int body = turn.copy(BODY);
        if (turn.copy(MARK) == ModelWord.mark(incarnation)
                && ModelWord.incarnationOfBody(body) == incarnation
                && turn.isOfKey(body)) {
            turn.end(ModelWord.value(body));
            return;
        }
        turn.dropPointer();
        if (turn.isOut()) {
            turn.end(ModelOperation.LOST);
        } else {
            turn.readBucket();
        }
    }

    private void readBlock() {
        int word = turn.get(ModelState.WORD);
        int body = turn.body(word);
        if (body == ClientTurn.NOT_WHOLE) {
            turn.readBucket();
        } else if (turn.isOfKey(body)) {
            turn.found(ModelWord.value(body));
        } else {
            look(turn.get(ModelState.SLOT) + 1);
        }
    }

    /** The key may be in another slot. */
    private void takeOut() {
        turn.swap(ModelWord.EMPTY);
        turn.readBucket();
    }
}
