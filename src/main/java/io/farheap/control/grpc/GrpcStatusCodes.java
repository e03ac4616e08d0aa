package io.farheap.control.grpc;

import io.farheap.control.ControlException.Code;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;

/** Codes of the control plane as gRPC statuses, one to one, and back. */
public final class GrpcStatusCodes {

    private GrpcStatusCodes() {}

    /** The exception that ends a refused call. */
    public static StatusRuntimeException refusal(Code code, String why) {
        return status(code).toStatus().withDescription(why).asRuntimeException();
    }

    private static Status.Code status(Code code) {
        return switch (code) {
            case PROTOCOL_MISMATCH -> Status.Code.UNIMPLEMENTED;
            case INVALID_ARGUMENT -> Status.Code.INVALID_ARGUMENT;
            case LEASE_EXPIRED -> Status.Code.UNAUTHENTICATED;
            case NOT_FOUND -> Status.Code.NOT_FOUND;
            case OUT_OF_MEMORY -> Status.Code.RESOURCE_EXHAUSTED;
            case GRANT_REFUSED -> Status.Code.FAILED_PRECONDITION;
            case TICKET_REFUSED -> Status.Code.PERMISSION_DENIED;
            case PULL_FAILED -> Status.Code.DATA_LOSS;
            case UNAVAILABLE -> Status.Code.UNAVAILABLE;
            case DEADLINE_EXCEEDED -> Status.Code.DEADLINE_EXCEEDED;
            case BUSY -> Status.Code.ABORTED;
            case BAD_REPLY -> Status.Code.OUT_OF_RANGE;
            case CANCELLED -> Status.Code.CANCELLED;
            case INTERNAL -> Status.Code.INTERNAL;
        };
    }

    static Code code(Status.Code status) {
        return switch (status) {
            case UNIMPLEMENTED -> Code.PROTOCOL_MISMATCH;
            case INVALID_ARGUMENT -> Code.INVALID_ARGUMENT;
            case UNAUTHENTICATED -> Code.LEASE_EXPIRED;
            case NOT_FOUND -> Code.NOT_FOUND;
            case RESOURCE_EXHAUSTED -> Code.OUT_OF_MEMORY;
            case FAILED_PRECONDITION -> Code.GRANT_REFUSED;
            case PERMISSION_DENIED -> Code.TICKET_REFUSED;
            case DATA_LOSS -> Code.PULL_FAILED;
            case UNAVAILABLE -> Code.UNAVAILABLE;
            case DEADLINE_EXCEEDED -> Code.DEADLINE_EXCEEDED;
            case ABORTED -> Code.BUSY;
            case OUT_OF_RANGE -> Code.BAD_REPLY;
            case CANCELLED -> Code.CANCELLED;
            default -> Code.INTERNAL;
        };
    }
}
