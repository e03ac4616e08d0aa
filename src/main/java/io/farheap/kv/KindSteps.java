package io.farheap.kv;

/** The steps of each kind of request. */
record KindSteps(GetSteps gets, ChangeSteps changes, TouchSteps touches, DeleteSteps deletes, MoveSteps moves) {

    Steps of(int kind) {
        return switch (kind) {
            case Operations.GET -> gets;
            case Operations.DELETE -> deletes;
            case Operations.TOUCH -> touches;
            case Operations.MOVE, Operations.EVICT, Operations.EVICT_ALONE, Operations.MAKE_ROOM, Operations.COMPACT ->
                moves;
            default -> changes;
        };
    }
}
