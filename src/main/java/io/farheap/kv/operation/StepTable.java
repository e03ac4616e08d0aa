package io.farheap.kv.operation;

import io.farheap.kv.space.RequestColumns;
import io.farheap.kv.space.SpaceMemory;

/** The steps of each kind of request. */
public record StepTable(GetSteps gets, ChangeSteps changes, TouchSteps touches, DeleteSteps deletes, MoveSteps moves) {

    public StepTable(MapSessionParts parts, SpaceMemory space) {
        this(
                new GetSteps(parts),
                new ChangeSteps(parts),
                new TouchSteps(parts),
                new DeleteSteps(parts),
                new MoveSteps(parts, space));
    }

    public RequestSteps of(int kind) {
        return switch (kind) {
            case RequestColumns.GET -> gets;
            case RequestColumns.DELETE -> deletes;
            case RequestColumns.TOUCH -> touches;
            case RequestColumns.MOVE, RequestColumns.EVICT, RequestColumns.MAKE_ROOM, RequestColumns.COMPACT -> moves;
            default -> changes;
        };
    }
}
