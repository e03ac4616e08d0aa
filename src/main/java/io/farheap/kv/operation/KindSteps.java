package io.farheap.kv.operation;

import io.farheap.kv.space.Operations;

/** The steps of each kind of request. */
public record KindSteps(GetSteps gets, ChangeSteps changes, TouchSteps touches, DeleteSteps deletes, MoveSteps moves) {

    public Steps of(int kind) {
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
