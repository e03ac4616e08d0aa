package io.farheap.thread;

import io.farheap.posix.AsymmetricFence;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Mutual exclusion between one owner, who enters and leaves millions of times a second, and rare claimers, who pay for
 * it: the owner executes two plain stores and a load, a claimer a {@linkplain AsymmetricFence heavy fence} and a wait
 * of one operation.
 *
 * <p>One thread at a time is the owner. Any thread may claim; claimers exclude each other. Neither side may do it twice
 * at once.
 */
public final class OwnerGate {

    private static final VarHandle INSIDE;
    private static final VarHandle CLAIMED;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            INSIDE = lookup.findVarHandle(OwnerGate.class, "inside", boolean.class);
            CLAIMED = lookup.findVarHandle(OwnerGate.class, "claimed", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final int SPINS = 2_000;
    private static final long PARK_NANOS = 50_000;

    // Both through handles.
    @SuppressWarnings("unused")
    private boolean inside;

    @SuppressWarnings("unused")
    private boolean claimed;

    private volatile @Nullable Thread waitingOwner;
    private final ReentrantLock claimers = new ReentrantLock();
    private final Runnable heavyFence;

    public OwnerGate() {
        this(AsymmetricFence::heavy);
    }

    OwnerGate(Runnable heavyFence) {
        this.heavyFence = heavyFence;
    }

    /** The owner comes in; waits while a claim lasts. */
    public void enter() {
        while (true) {
            INSIDE.setOpaque(this, true);
            // Fences order the store before the load for the compiler; for the processor the claimer's heavy fence
            // does.
            VarHandle.releaseFence();
            AsymmetricFence.light();
            if (!(boolean) CLAIMED.getOpaque(this)) {
                VarHandle.acquireFence();
                return;
            }
            INSIDE.setRelease(this, false);
            awaitUnclaimed();
        }
    }

    /** Whether the owner is in. The owner alone. */
    public boolean inside() {
        return (boolean) INSIDE.get(this);
    }

    /** The owner goes out. */
    public void exit() {
        INSIDE.setRelease(this, false);
    }

    /** Keeps the owner out from now on; returns when it is out. Where the fence throws, so does this, with no claim. */
    public void claim() {
        claimers.lock();
        CLAIMED.setOpaque(this, true);
        try {
            heavyFence.run();
        } catch (Throwable e) {
            // Nothing tells whether the owner is out, so this is no claim: the owner is not to wait for one.
            unclaim();
            throw e;
        }
        for (int spins = 0; (boolean) INSIDE.getAcquire(this); spins++) {
            if (spins < SPINS) {
                Thread.onSpinWait();
            } else {
                Uninterruptibles.parkNanos(this, PARK_NANOS);
            }
        }
    }

    /**
     * Whether the owner is out, for a caller that has executed a {@linkplain AsymmetricFence#heavy heavy fence}: then
     * the caller sees what the owner did, and the owner, when it comes in again, what the caller did before the fence.
     */
    public boolean vacant() {
        return !(boolean) INSIDE.getAcquire(this);
    }

    /** Lets the owner in again, and shows it everything that the claimer did. */
    public void unclaim() {
        CLAIMED.setRelease(this, false);
        claimers.unlock();
        Thread owner = waitingOwner;
        if (owner != null) {
            LockSupport.unpark(owner);
        }
    }

    /** Does something under a claim, which ends also where that throws. */
    public void claimed(Runnable work) {
        claim();
        try {
            work.run();
        } finally {
            unclaim();
        }
    }

    /** {@link #claimed}, of a question. */
    public boolean asked(BooleanSupplier question) {
        claim();
        try {
            return question.getAsBoolean();
        } finally {
            unclaim();
        }
    }

    private void awaitUnclaimed() {
        Thread owner = Thread.currentThread();
        int most = owner.isVirtual() ? 0 : SPINS;
        waitingOwner = owner;
        int spins = 0;
        for (; (boolean) CLAIMED.getAcquire(this); spins++) {
            if (spins < most) {
                Thread.onSpinWait();
            } else {
                Uninterruptibles.parkNanos(this, PARK_NANOS);
            }
        }
        waitingOwner = null;
        if (spins > most) {
            // Parking may have used up a permit that was meant for something else the owner waits for.
            LockSupport.unpark(owner);
        }
    }
}
