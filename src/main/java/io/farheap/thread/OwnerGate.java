package io.farheap.thread;

import io.farheap.posix.AsymmetricFence;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Mutual exclusion between one owner, which enters and exits millions of times a second, and rare claimers, which pay
 * for it: the owner executes two plain stores and a load, a claimer a {@linkplain AsymmetricFence heavy fence} and a
 * wait for at most one operation of the owner.
 *
 * <p><b>Protocol.</b> The owner stores {@code inside}, then loads {@code claimed}; a claimer stores {@code claimed},
 * executes the heavy fence, then loads {@code inside}. The heavy fence makes every running thread of the process
 * execute a full fence, so at least one of the two sees the other's store: either the owner goes out again and waits,
 * or the claimer waits until it has exited. The owner's release store on exit pairs with the claimer's acquire load,
 * and the claimer's release store in {@link #unclaim} with the owner's next load and acquire fence.
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

    // Accessed through the handles alone.
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

    /** Enters as the owner; waits while a claim lasts. */
    public void enter() {
        while (true) {
            INSIDE.setOpaque(this, true);
            // The two fences order the store before the load for the compiler; for the processor the claimer's heavy
            // fence does.
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

    /** Whether the owner is inside. Only the owner may ask. */
    public boolean inside() {
        return (boolean) INSIDE.get(this);
    }

    /** Exits as the owner. */
    public void exit() {
        INSIDE.setRelease(this, false);
    }

    /**
     * Keeps the owner out; returns when it is out. If the heavy fence throws, this throws too, and nothing is claimed.
     */
    public void claim() {
        claimers.lock();
        CLAIMED.setOpaque(this, true);
        try {
            heavyFence.run();
        } catch (Throwable e) {
            // It is not known whether the owner is out, so this is no claim, and the owner must not wait for one.
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
     * Whether the owner is out, for a caller that has executed a {@linkplain AsymmetricFence#heavy heavy fence}: if so,
     * the caller sees the owner's writes, and the owner, when it enters again, sees those that the caller made before
     * the fence.
     */
    public boolean vacant() {
        return !(boolean) INSIDE.getAcquire(this);
    }

    /** Ends the claim: the owner may enter again, and then sees everything that the claimer wrote. */
    public void unclaim() {
        CLAIMED.setRelease(this, false);
        claimers.unlock();
        Thread owner = waitingOwner;
        if (owner != null) {
            LockSupport.unpark(owner);
        }
    }

    /** Runs some work under a claim, and ends the claim even if the work throws. */
    public void claimed(Runnable work) {
        claim();
        try {
            work.run();
        } finally {
            unclaim();
        }
    }

    /** As {@link #claimed}, for a question. */
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
            // Parking may have consumed a permit that was meant for another wait of the owner.
            LockSupport.unpark(owner);
        }
    }
}
