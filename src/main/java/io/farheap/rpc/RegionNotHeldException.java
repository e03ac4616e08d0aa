package io.farheap.rpc;

/**
 * A call named a region that its client does not hold. It ends that call as refused, and has no stack trace: clients
 * can provoke it.
 */
public final class RegionNotHeldException extends RuntimeException {

    private static final long serialVersionUID = 1;

    /** Without a stack trace there is nothing in it that differs. */
    @SuppressWarnings("StaticAssignmentOfThrowable")
    static final RegionNotHeldException INSTANCE = new RegionNotHeldException();

    private RegionNotHeldException() {
        super("the client does not hold the region", null, false, false);
    }
}
