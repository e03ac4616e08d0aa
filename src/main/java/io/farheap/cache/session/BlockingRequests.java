package io.farheap.cache.session;

import io.farheap.cache.calls.RegisteredProcedure;
import io.farheap.cache.contract.CacheException;
import io.farheap.cache.contract.CallCompletion;
import io.farheap.cache.contract.CallResult;
import io.farheap.cache.contract.Completion;
import io.farheap.cache.contract.Status;
import io.farheap.cache.order.RequestBuffer;
import io.farheap.cache.order.RequestPath;
import io.farheap.latency.OperationLatency;
import io.farheap.migration.region.AddressLimit;
import io.farheap.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A session's blocking requests and calls, and how its thread waits for them. The owner alone. */
public final class BlockingRequests extends SessionRequests implements Completion, CallCompletion {

    /** The cache, as its sessions know it, with what ends them. */
    public interface Owner extends SessionHost {

        /** Throws where the calling thread is in a callback of one of the cache's sessions. */
        void refuseInCallback();

        /** Ends a session. */
        void close(BlockingRequests session);

        /** Fails all connections of a session. */
        void loseAll(BlockingRequests session);

        /**
         * Why requests to a range end with {@link Status#LOST}, with the servers and what the application can do. Any
         * thread.
         */
        String describeLoss(long address, long length);
    }

    private static final long SPIN_NANOS = 50_000;
    /** For which one that is interrupted sleeps at most: what would have woken it may have gone with the interrupt. */
    private static final long INTERRUPTED_NANOS = 1_000_000;

    private final Owner cache;

    /**
     * Of the one request or call that a thread can wait for; tells it from an earlier one whose wait was cut short by
     * an exception of another callback.
     */
    private long ticket;

    private boolean done;
    private int status;
    /** Of a call. */
    private int code;

    private int resultBytes;

    public BlockingRequests(Owner cache, AddressLimit capacity, @Nullable OperationLatency latency, boolean worker) {
        super(cache, capacity, latency, worker);
        this.cache = cache;
    }

    /** As {@link io.farheap.cache.CacheSession#readBlocking(long, Buffer, long, long)}, or writeBlocking. */
    public void execute(boolean write, long address, RequestBuffer buffer, long offset, long length) {
        int result = tryExecute(write, address, buffer, offset, length, this, ticket + 1);
        if (result == RequestPath.DONE) {
            return;
        }
        begin();
        if (result == RequestPath.DECLINED) {
            while (!issue(write, address, buffer, offset, length, this, ticket)) {
                awaitProgress();
            }
        }
        await(write, address, length);
    }

    /** As {@link io.farheap.cache.CacheSession#readBlocking(long, MemorySegment)}, or writeBlocking. */
    public void execute(boolean write, long address, MemorySegment segment) {
        begin();
        while (!issue(write, address, segment, this, ticket)) {
            awaitProgress();
        }
        await(write, address, segment.byteSize());
    }

    /**
     * As {@link io.farheap.cache.CacheSession#callBlocking(Procedure, long, long, long, Buffer, long, int, long, int)}.
     */
    public CallResult call(
            RegisteredProcedure procedure,
            long address,
            long from,
            long span,
            RequestBuffer buffer,
            long argumentsAt,
            int argumentBytes,
            long resultAt,
            int resultCapacity) {
        begin();
        while (!call(
                procedure,
                address,
                from,
                span,
                buffer,
                argumentsAt,
                argumentBytes,
                resultAt,
                resultCapacity,
                this,
                ticket)) {
            awaitProgress();
        }
        while (!done) {
            awaitProgress();
        }
        return new CallResult(status, code, resultBytes);
    }

    private void begin() {
        refuseInCallback();
        ticket++;
        done = false;
    }

    @Override
    public void completed(long token, int how) {
        if (token == ticket) {
            status = how;
            done = true;
        }
    }

    @Override
    public void completed(long token, int how, int returned, int bytes) {
        if (token == ticket) {
            status = how;
            code = returned;
            resultBytes = bytes;
            done = true;
        }
    }

    private void await(boolean write, long address, long length) {
        // What is owed keeps others from writing, and nobody may poll for a while.
        while (!done || owes()) {
            awaitProgress();
        }
        if (status != Status.OK) {
            throw failure(write, address, length, status);
        }
    }

    /**
     * The exception for a read or a write that has failed. Any thread.
     *
     * @param how it ended, not {@link Status#OK}
     */
    public CacheException failure(boolean write, long address, long length, int how) {
        String why = how == Status.LOST ? cache.describeLoss(address, length) : Status.describe(how);
        return new CacheException(
                "cannot " + (write ? "write " : "read ") + length + " bytes at address " + address + ": " + why, how);
    }

    /** As {@link io.farheap.cache.CacheSession#drain}. */
    public void drain() {
        while (pending() > 0 || owes()) {
            awaitProgress();
        }
    }

    /** As {@link io.farheap.cache.CacheSession#awaitProgress}. */
    public void awaitProgress() {
        awaitProgress(0);
    }

    /** @param most as for {@link #sleep} */
    public void awaitProgress(long most) {
        // An interrupt makes parking return at once, so that waiting would spin: it is kept for the caller.
        boolean interrupted = Thread.interrupted();
        try {
            if (interrupted) {
                // To interrupt a thread is to unpark it too, and each wait interrupts it again.
                LockSupport.parkNanos(this, 1);
            }
            pollOrSleep(interrupted ? INTERRUPTED_NANOS : most);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** @param most as for {@link #sleep} */
    private void pollOrSleep(long most) {
        if (poll() > 0) {
            return;
        }
        if (!Thread.currentThread().isVirtual()) {
            long deadline = System.nanoTime() + SPIN_NANOS;
            while (System.nanoTime() - deadline < 0) {
                Thread.onSpinWait();
                if (poll() > 0) {
                    return;
                }
            }
        }
        sleep(most);
    }

    /** All that it has on its way to servers is lost, and nothing of it comes to pass once they are fenced. */
    public void loseAll() {
        cache.loseAll(this);
    }

    /** As {@link io.farheap.cache.CacheSession#close}. */
    public void close() {
        cache.refuseInCallback();
        if (isClosed()) {
            return;
        }
        // Outside the try: a thread that may not use the session must not end it either.
        own();
        RuntimeException thrown = null;
        try {
            try {
                beginClose();
            } catch (RuntimeException e) {
                thrown = e;
            }
            while (pending() > 0) {
                try {
                    awaitProgress();
                } catch (VerbsException e) {
                    // The device itself: nothing will complete any more.
                    throw e;
                } catch (RuntimeException e) {
                    thrown = suppress(thrown, e);
                }
            }
        } finally {
            cache.close(this);
        }
        if (thrown != null) {
            throw thrown;
        }
    }

    private static RuntimeException suppress(@Nullable RuntimeException first, RuntimeException next) {
        if (first == null) {
            return next;
        }
        first.addSuppressed(next);
        return first;
    }
}
