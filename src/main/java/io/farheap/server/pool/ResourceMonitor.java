package io.farheap.server.pool;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.ServerStatus.HeadroomStatus;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.RegionUse;
import io.farheap.control.plane.WantedRegions;
import io.farheap.rpc.RegionHolders;
import io.farheap.server.contract.Headroom;
import io.farheap.server.contract.MachineMemory;
import io.farheap.thread.FailSafeLog;
import io.farheap.thread.ThreadJoiner;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a part of the machine's memory free, after Hydra's Resource Monitor (Lee et al., FAST '22, section 4.2). Each
 * control period it compares the free memory with the headroom. If less is free, free regions that are not promised are
 * withdrawn: their pages are given back to the kernel. If that is not enough, clients are asked for regions that they
 * could give up, and a manager receives how many are {@linkplain #wanted wanted}. If tasks of the machine wait for
 * memory, up to a quarter of the regions is withdrawn for a while although the headroom is free ({@link StallReserve}).
 * If more is free, the other withdrawn regions become free regions again, half of the excess at a time, so that the two
 * do not alternate. It has a thread of its own if there is headroom to keep; thread-safe.
 */
public final class ResourceMonitor implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(ResourceMonitor.class.getName());
    /** Most regions that clients are asked for at a time: each one costs a regeneration. */
    private static final int MOST_ASKED = 16;

    private final Headroom headroom;
    private final RegionPool pool;
    private final RegionUses uses;
    private final Supplier<OptionalInt> shown;
    private final IntUnaryOperator promised;
    private final StallReserve stalls;
    private final @Nullable Thread thread;
    private volatile MachineMemory seen = new MachineMemory(0, 0);
    private volatile boolean stopped;

    /**
     * @param shown returns how many regions caches may still take by the grants that they have shown; empty if the
     *     server needs no grants
     * @param promised returns of these grants how many free regions must not be withdrawn; called with the pool's lock,
     *     so it must not wait
     */
    public ResourceMonitor(
            Headroom headroom,
            RegionPool pool,
            RegionHolders holders,
            Supplier<OptionalInt> shown,
            IntUnaryOperator promised) {
        this.headroom = headroom;
        this.pool = pool;
        this.shown = shown;
        this.promised = promised;
        this.stalls = new StallReserve(pool.regionBytes(), pool.total());
        this.uses = new RegionUses(holders, headroom.periodNanos(), headroom.extra(), RandomGenerator.getDefault());
        if (!headroom.isKept()) {
            thread = null;
            return;
        }
        Thread made = new Thread(this::run, "farheap-headroom");
        made.setDaemon(true);
        thread = made;
        made.start();
    }

    private void run() {
        while (!stopped) {
            try {
                long since = pool.withdrawals();
                look(headroom.machine().get(), since);
            } catch (Throwable e) {
                FailSafeLog.log(LOG, "an error in the thread that keeps headroom; it continues", e);
            }
            LockSupport.parkNanos(this, headroom.periodNanos());
        }
    }

    /** @param since the pool's withdrawals before the memory was read */
    private void look(MachineMemory memory, long since) {
        seen = memory;
        long now = System.nanoTime();
        long beyond = -missing(headroom, memory);
        long given = pool.withdrawnCount() * pool.regionBytes();
        long reserve = stalls.look(memory.stalledPercent(), given, now);
        long missing = Math.max(-beyond, reserve - given);
        if (missing > 0) {
            long regions = Math.min(pool.total() - pool.withdrawnCount(), (missing - 1) / pool.regionBytes() + 1);
            OptionalInt grants = shown.get();
            int owed =
                    pool.owe((int) regions, since, () -> grants.isEmpty() ? 0 : promised.applyAsInt(grants.getAsInt()));
            if (owed > 0) {
                uses.ask(Math.min(owed, MOST_ASKED), now);
                return;
            }
        } else {
            pool.oweNothing();
            long most = Math.min(beyond / pool.regionBytes() / 2, (given - reserve) / pool.regionBytes());
            for (long left = most; left > 0 && !stopped; left--) {
                if (!pool.restore()) {
                    break;
                }
            }
        }
        uses.askNothing(now);
    }

    /** Bytes that are missing to the headroom; below 0 if more is free. */
    private static long missing(Headroom headroom, MachineMemory memory) {
        return memory.totalBytes() / 100 * headroom.percent() - memory.freeBytes();
    }

    /**
     * How many regions the machine wants back beside the withdrawn ones; free ones count.
     *
     * @param reported receives the number before it can change
     */
    public int wanted(IntConsumer reported) {
        return pool.wanted(reported);
    }

    /** Looks at the machine's memory soon: something has changed. */
    public void wake() {
        if (thread != null) {
            LockSupport.unpark(thread);
        }
    }

    /** A client reports how much it uses regions that it could give up. Never waits. */
    public WantedRegions report(long leaseId, List<RegionUse> reported) {
        if (reported.size() > ControlPlane.MAX_REPORTED) {
            throw new ControlException(
                    Code.INVALID_ARGUMENT,
                    "a report of " + reported.size() + " regions; it has at most " + ControlPlane.MAX_REPORTED);
        }
        for (RegionUse use : reported) {
            if (use.accesses() < 0) {
                throw new ControlException(
                        Code.INVALID_ARGUMENT,
                        "region " + use.regionId() + " with " + use.accesses() + " accesses; report 0 or more");
            }
        }
        return headroom.isKept()
                ? new WantedRegions(uses.report(leaseId, reported, System.nanoTime()), headroom.periodNanos())
                : WantedRegions.NEVER;
    }

    public HeadroomStatus status() {
        MachineMemory memory = seen;
        return headroom.isKept()
                ? new HeadroomStatus(
                        headroom.percent(), memory.totalBytes(), memory.freeBytes(), uses.asked(), uses.evicted())
                : HeadroomStatus.NONE;
    }

    @Override
    public void close() {
        stopped = true;
        if (thread != null) {
            LockSupport.unpark(thread);
            ThreadJoiner.join(thread);
        }
    }
}
