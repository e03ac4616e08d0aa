package io.farheap.remote.server;

import io.farheap.control.ControlException;
import io.farheap.control.plane.Lease;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Control calls under a lease on a memory server. Once the lease is lost no call is made any more, and calls under way
 * end. Any thread may call.
 */
final class LeaseCalls {

    private final String address;
    private final Lease lease;
    private final CircuitBreaker silence = new CircuitBreaker();
    private volatile @Nullable ControlException lost;

    /** @param address the server's address, for messages */
    LeaseCalls(String address, Lease lease) {
        this.address = address;
        this.lease = lease;
    }

    /** Why the lease was lost, or null while it holds. */
    @Nullable
    ControlException lost() {
        return lost;
    }

    void lose(ControlException cause) {
        lost = cause;
    }

    /** Throws if the lease is lost. */
    void requireHeld() {
        ControlException cause = lost;
        if (cause != null) {
            throw new ControlException(
                    ControlException.Code.UNAVAILABLE,
                    "the lease on memory server " + address + " is lost: " + cause.getMessage(),
                    cause);
        }
    }

    /**
     * Throws if the server has recently not answered another call, so that several callers wait for one deadline
     * together.
     */
    void requireAnswering() {
        silence.check(address);
    }

    /** @param call receives the lease's id; the loss of the lease ends it */
    <T> T call(LongFunction<T> call) {
        requireHeld();
        try {
            T answer = call.apply(lease.id());
            silence.end();
            return answer;
        } catch (ControlException e) {
            if (e.code() != ControlException.Code.LEASE_EXPIRED) {
                requireHeld();
            }
            if (e.code() == ControlException.Code.DEADLINE_EXCEEDED) {
                silence.begin();
            }
            throw e;
        }
    }

    /** As {@link #call}, for a call without a result. */
    void run(LongConsumer call) {
        call(id -> {
            call.accept(id);
            return null;
        });
    }
}
