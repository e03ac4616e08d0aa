package io.farheap.remote.server;

import io.farheap.control.ControlException;
import io.farheap.control.plane.Lease;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Control calls under a lease on a memory server. Once the lease is lost none is made any more, and those under way
 * end. Any thread.
 */
final class LeaseCalls {

    private final String address;
    private final Lease lease;
    private final CircuitBreaker silence = new CircuitBreaker();
    private volatile @Nullable ControlException lost;

    /** @param address the server's, for messages */
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

    /** Throws where the lease is lost. */
    void requireHeld() {
        ControlException cause = lost;
        if (cause != null) {
            throw new ControlException(
                    ControlException.Code.UNAVAILABLE,
                    "the lease on memory server " + address + " is lost: " + cause.getMessage(),
                    cause);
        }
    }

    /** Throws where the server has just not answered another call: all that wait for it wait once. */
    void requireAnswering() {
        silence.check(address);
    }

    /** @param call gets the lease's id; the loss of the lease ends it */
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

    /** As {@link #call}, of one that answers nothing. */
    void run(LongConsumer call) {
        call(id -> {
            call.accept(id);
            return null;
        });
    }
}
