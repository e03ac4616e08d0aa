package io.farheap.kv.leased.server;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/** Calls that any thread hands to one, the latest first: a stack without a lock, of which its thread takes all. */
final class HandedCalls {

    private static final VarHandle TOP;

    static {
        try {
            TOP = MethodHandles.lookup().findVarHandle(HandedCalls.class, "top", HandedCall.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private volatile @Nullable HandedCall top;

    /** Any thread. */
    void push(HandedCall call) {
        HandedCall before;
        do {
            before = top;
            call.next = before;
        } while (!TOP.compareAndSet(this, before, call));
    }

    boolean isEmpty() {
        return top == null;
    }

    /** All calls, in the order in which they were handed over, linked by {@code next}. The thread that takes them. */
    @Nullable
    HandedCall takeAll() {
        HandedCall each = (HandedCall) TOP.getAndSet(this, null);
        HandedCall inOrder = null;
        while (each != null) {
            HandedCall before = each.next;
            each.next = inOrder;
            inOrder = each;
            each = before;
        }
        return inOrder;
    }
}
