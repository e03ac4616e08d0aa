package io.farheap.tier.tiered;

import io.farheap.lifetime.Closeables;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.DeviceHandle;
import io.farheap.tier.handle.HighWaterMark;
import io.farheap.tier.handle.OwnedMemory;
import io.farheap.tier.handle.PendingAppends;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The log of a {@link io.farheap.tier.TieredDevice}: its tiers, the handles and memory that use each of them, and the
 * log's end. Tiers are added and removed while the log is used; a removed tier is closed once no handle uses it. Any
 * thread.
 */
public final class TieredLog {

    /** Guards changes of the tiers, and of the handles and memory that use them. */
    private final ReentrantLock changing = new ReentrantLock();

    private final List<TieredMemory> memories = new ArrayList<>();
    /** Tiers that were removed and that a handle still uses. */
    private final List<Tier> leaving = new CopyOnWriteArrayList<>();

    /** Is called when a tier owes something, and closed before the tiers. */
    private Runnable owed = () -> {};

    private AutoCloseable repair = () -> {};

    private volatile Tiers tiers;
    private int usedIds;
    /** The highest end of appends that were issued; raised before the issuing thread loads the tiers. */
    private final HighWaterMark issued;

    private final HighWaterMark end;
    private final int alignment;
    private final AtomicLong numbers = new AtomicLong();

    /**
     * @param end the log's end; a device whose log ends before it is treated as empty
     * @param alignment of the tiers together
     */
    public TieredLog(List<? extends Device> devices, int commit, long end, int alignment) {
        this.alignment = alignment;
        this.issued = new HighWaterMark(end);
        this.end = new HighWaterMark(end);
        List<Tier> all = new ArrayList<>();
        for (Device device : devices) {
            boolean complete = device.end() == end;
            all.add(new Tier(device, takeId(), complete ? device.begin() : end, true, alignment));
        }
        this.tiers = new Tiers(all, commit);
    }

    private int takeId() {
        int id = Integer.numberOfTrailingZeros(~usedIds);
        if (id >= Tier.IDS) {
            throw new IllegalStateException(Tier.IDS + " tiers are in use, those that were removed and that a handle"
                    + " still uses among them; poll all handles first");
        }
        usedIds |= 1 << id;
        return id;
    }

    public Tiers tiers() {
        return tiers;
    }

    public long begin() {
        return tiers.last().begin();
    }

    public long end() {
        return end.get();
    }

    void wrote(long to) {
        end.raise(to);
    }

    /** Registers an append that is about to be issued. @return its number, which is lower than those of later ones */
    long issue(long to) {
        issued.raise(to);
        return numbers.incrementAndGet();
    }

    long nextNumber() {
        return numbers.get() + 1;
    }

    long issuedEnd() {
        return issued.get();
    }

    /** Adds a tier before another. */
    public void add(int index, Device device) {
        changing.lock();
        try {
            Tiers now = tiers;
            checkIndex(index, now.all().size());
            Tier tier = made(device);
            List<Tier> all = new ArrayList<>(now.all());
            all.add(index, tier);
            change(all, now.commit() + (index <= now.commit() ? 1 : 0));
            tier.join(issued);
        } finally {
            changing.unlock();
        }
    }

    public void remove(int index) {
        changing.lock();
        try {
            Tiers now = tiers;
            checkIndex(index, now.all().size() - 1);
            List<Tier> all = new ArrayList<>(now.all());
            Tier tier = all.remove(index);
            change(all, now.commit() > index ? now.commit() - 1 : now.commit());
            leave(tier);
        } finally {
            changing.unlock();
        }
    }

    public void replace(int index, Device device) {
        changing.lock();
        try {
            Tiers now = tiers;
            checkIndex(index, now.all().size() - 1);
            Tier tier = made(device);
            List<Tier> all = new ArrayList<>(now.all());
            Tier before = all.set(index, tier);
            change(all, now.commit());
            tier.join(issued);
            leave(before);
        } finally {
            changing.unlock();
        }
    }

    private static void checkIndex(int index, int end) {
        if (index < 0 || index >= end) {
            throw new IndexOutOfBoundsException("tier " + index + "; it may be from 0 to " + (end - 1)
                    + ", as the last tier has all of the log, and stays");
        }
    }

    private Tier made(Device device) {
        Tier tier = new Tier(device, takeId(), Long.MAX_VALUE, false, alignment);
        List<TieredMemory> added = new ArrayList<>();
        try {
            for (TieredMemory memory : memories) {
                memory.add(tier);
                added.add(memory);
            }
            return tier;
        } catch (Throwable e) {
            usedIds &= ~(1 << tier.id);
            Closeables.after(e, () -> added.forEach(memory -> memory.remove(tier)));
            throw e;
        }
    }

    private void change(List<Tier> all, int commit) {
        all.forEach(Tier::unsettle);
        tiers = new Tiers(all, commit);
        all.forEach(tier -> tier.settles(nextNumber()));
    }

    private void leave(Tier tier) {
        leaving.add(tier);
        closeIfUnused(tier);
    }

    /** How many handles have yet to let go of tiers that were removed. */
    public int removedInUse() {
        changing.lock();
        try {
            return leaving.stream().mapToInt(tier -> tier.users).sum();
        } finally {
            changing.unlock();
        }
    }

    /**
     * Opens a handle of a tier. That may block on far memory's servers, so other threads' handles do not wait for it:
     * meanwhile the tier is in use, and is not closed.
     *
     * @return null if it was removed meanwhile
     */
    @Nullable
    DeviceHandle use(Tier tier, PendingAppends appends) {
        changing.lock();
        try {
            if (tier.removed) {
                return null;
            }
            tier.users++;
        } finally {
            changing.unlock();
        }
        try {
            DeviceHandle handle = tier.device.open();
            tier.appends.add(appends);
            return handle;
        } catch (Throwable e) {
            Closeables.after(e, () -> unused(tier));
            throw e;
        }
    }

    /** Says that a handle has closed its handle of the tier's device. */
    void leave(Tier tier, PendingAppends appends) {
        tier.appends.remove(appends);
        unused(tier);
    }

    private void unused(Tier tier) {
        changing.lock();
        try {
            tier.users--;
            closeIfUnused(tier);
        } finally {
            changing.unlock();
        }
    }

    private void closeIfUnused(Tier tier) {
        if (tier.users == 0 && leaving.remove(tier)) {
            tier.removed = true;
            memories.forEach(memory -> memory.remove(tier));
            usedIds &= ~(1 << tier.id);
            tier.device.close();
        }
    }

    /** Registers memory with each tier, and with tiers that are added later. */
    public TieredMemory own(OwnedMemory.Registry registry, MemorySegment memory) {
        changing.lock();
        try {
            TieredMemory made = new TieredMemory(registry, memory, this::release);
            try {
                tiers.all().forEach(made::add);
            } catch (Throwable e) {
                Closeables.after(e, made::removeAll);
                throw e;
            }
            memories.add(made);
            return made;
        } finally {
            changing.unlock();
        }
    }

    /** Releases memory under the lock, so that a removed tier, which its last user closes, has no memory registered. */
    private void release(TieredMemory memory) {
        changing.lock();
        try {
            memories.remove(memory);
            memory.removeAll();
        } finally {
            changing.unlock();
        }
    }

    /**
     * Sets what copies to tiers the parts that they have refused, before any handle is opened.
     *
     * @param wake is called when a tier owes something, or has got what another one owes
     * @param ends is closed before the tiers are
     */
    public void repairedBy(Runnable wake, AutoCloseable ends) {
        owed = wake;
        repair = ends;
    }

    /** Says that a tier owes something, or has got what another one owes. */
    void owes() {
        owed.run();
    }

    /** Whether a tier other than {@code beside} owes a part of the chunks, as {@link Holes} has them, of a range. */
    boolean owesBeside(Tier beside, long address, long length) {
        long from = address & -Holes.CHUNK_BYTES;
        long to = (address + length + Holes.CHUNK_BYTES - 1) & -Holes.CHUNK_BYTES;
        for (Tier tier : tiers.all()) {
            if (tier != beside && tier.debts.overlap(from, to - from)) {
                return true;
            }
        }
        return false;
    }

    /** Closes all tiers, which no handle uses any more. */
    public void close() {
        List<AutoCloseable> all = new ArrayList<>();
        all.add(repair);
        tiers.all().forEach(tier -> all.add(tier.device));
        Closeables.all(all);
    }
}
