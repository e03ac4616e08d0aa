package io.farheap.tier;

import io.farheap.lifetime.Closing;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Several devices that have one log (Redy, section 8.2; FASTER's tiered storage): each has the newest part of what the
 * next one has, and the last has all. A read goes to the first that has the address; where that has lost it, or writes
 * it over meanwhile, to the next. An append goes to all, and is called back when the tiers up to the <em>commit
 * point</em> have it; where these fail, when a later one has it. Its memory is released when no tier reads it any more.
 *
 * <p>A tier gives up nothing that the next one has not got yet: an append that would do that is refused, as by a full
 * handle. So handles are to be polled until nothing is pending. {@link DeviceHandle#sync} is that of the first tier
 * that is {@linkplain Device#durable durable} and was there from the beginning, of what is called back, and with none
 * does nothing.
 *
 * <table>
 * <caption>What of appends that were called back is there afterwards, by commit point: far memory, or the file</caption>
 * <tr><th>what happens</th><th>far memory</th><th>file</th><th>either, synced</th></tr>
 * <tr><td>a memory server is killed</td><td>all but what the file had not got yet, which is {@link IoStatus#LOST} or
 *     read once the file has it</td><td>all</td><td>all</td></tr>
 * <tr><td>the client is killed</td><td>what the file had got</td><td>all</td><td>all</td></tr>
 * <tr><td>power is lost</td><td>what was synced</td><td>what was synced</td><td>all</td></tr>
 * </table>
 *
 * <p>Tiers are added and removed while the log is used: a new one is {@linkplain #fill filled} from the next. They are
 * closed with this, or when they have been removed and no handle uses them.
 */
public final class TieredDevice extends BaseDevice {

    private static final int MAX_TIERS = Byte.SIZE;

    /** Which tiers there are. */
    record Tiers(List<Tier> all, int commit) {

        Tier last() {
            return all.getLast();
        }
    }

    private final int requests;
    /** Held by who changes which tiers there are, or what has to do with each. */
    private final ReentrantLock changing = new ReentrantLock();

    private final List<TieredMemory> memories = new ArrayList<>();
    private volatile Tiers tiers;
    private int usedIds;
    /** Ends of appends that were issued; raised before the issuer looks which tiers there are. */
    private final Mark issued;

    private final Mark end;
    private final AtomicLong numbers = new AtomicLong();

    /** As {@link #TieredDevice(List, int, int)}, with 128 requests a handle. */
    public TieredDevice(List<? extends Device> devices, int commit) {
        this(devices, commit, FarDevice.DEFAULT_REQUESTS);
    }

    /**
     * @param devices from the fastest to the one that has all of the log, which may be of a process before; one that
     *     has not the log's end has nothing of use. All have segments of one size
     * @param commit which of them ends an append, from 0
     * @param requests that a handle has at a time
     */
    public TieredDevice(List<? extends Device> devices, int commit, int requests) {
        super(shape(devices).segmentBytes(), alignment(devices), readAlignment(devices));
        if (commit < 0 || commit >= devices.size()) {
            throw new IllegalArgumentException("commit point " + commit + " of " + devices.size()
                    + " tiers; it must be one of them, counted from 0");
        }
        this.requests = requests;
        long end = devices.stream().mapToLong(Device::end).max().orElse(0);
        if (devices.getLast().end() < end) {
            throw new IllegalArgumentException("the last tier has the log up to "
                    + devices.getLast().end() + ", and another up to " + end + "; the last must have all of it");
        }
        this.issued = new Mark(end);
        this.end = new Mark(end);
        List<Tier> all = new ArrayList<>();
        for (Device device : devices) {
            boolean complete = device.end() == end;
            all.add(new Tier(device, takeId(), complete ? device.begin() : end, true));
        }
        this.tiers = new Tiers(List.copyOf(all), commit);
    }

    private static Device shape(List<? extends Device> devices) {
        if (devices.isEmpty() || devices.size() >= MAX_TIERS) {
            throw new IllegalArgumentException(devices.size() + " tiers; there may be from 1 to " + (MAX_TIERS - 1));
        }
        for (Device device : devices) {
            checkSegment(device, devices.getFirst().segmentBytes());
        }
        return devices.getFirst();
    }

    private static void checkSegment(Device device, long segmentBytes) {
        if (device.segmentBytes() != segmentBytes) {
            throw new IllegalArgumentException("a tier has segments of " + device.segmentBytes() + " bytes, another of "
                    + segmentBytes + "; make them the same");
        }
    }

    private static int alignment(List<? extends Device> devices) {
        return devices.stream().mapToInt(Device::alignment).max().orElseThrow();
    }

    private static int readAlignment(List<? extends Device> devices) {
        return devices.stream().mapToInt(Device::readAlignment).min().orElseThrow();
    }

    private int takeId() {
        int id = Integer.numberOfTrailingZeros(~usedIds);
        if (id >= MAX_TIERS) {
            throw new IllegalStateException(MAX_TIERS + " tiers are in use, those that were removed and that a handle"
                    + " still uses among them; poll all handles first");
        }
        usedIds |= 1 << id;
        return id;
    }

    @Override
    public String name() {
        return tiers.all.stream().map(tier -> tier.device.name()).collect(Collectors.joining("; then ", "tiers: ", ""));
    }

    @Override
    public long capacity() {
        return tiers.last().device.capacity();
    }

    @Override
    public boolean durable() {
        return tiers.all.stream().anyMatch(tier -> tier.original && tier.device.durable());
    }

    @Override
    public long begin() {
        return tiers.last().begin();
    }

    @Override
    public long end() {
        return end.get();
    }

    /** All tiers give it up. */
    @Override
    public void truncate(long below) {
        for (Tier tier : tiers.all) {
            tier.device.truncate(below);
        }
    }

    /** How many there are. */
    public int tiers() {
        return tiers.all.size();
    }

    /** From where on a tier has the log, but for what it has lost. */
    public long tierBegin(int tier) {
        return tiers.all.get(tier).begin();
    }

    /** How many reads a tier has answered. */
    public long reads(int tier) {
        return tiers.all.get(tier).reads.get();
    }

    /** How many reads a tier had lost. */
    public long lost(int tier) {
        return tiers.all.get(tier).lost.get();
    }

    /** How many handles have yet to let go of tiers that were removed; each does when it is used, or closed. */
    public int removedInUse() {
        changing.lock();
        try {
            return leaving.stream().mapToInt(tier -> tier.users).sum();
        } finally {
            changing.unlock();
        }
    }

    /** Removed, and used by a handle. */
    private final List<Tier> leaving = new CopyOnWriteArrayList<>();

    /**
     * Adds a tier, which has nothing of the log; {@link #fill} changes that. Its requests may be no coarser than those
     * of the others.
     *
     * @param index before which of the tiers: from 0 to their number, exclusive, as the last one stays the last
     */
    public void add(int index, Device device) {
        checkTier(device);
        changing.lock();
        try {
            Tiers now = tiers;
            checkIndex(index, now.all.size());
            Tier tier = made(device);
            List<Tier> all = new ArrayList<>(now.all);
            all.add(index, tier);
            change(all, now.commit + (index <= now.commit ? 1 : 0));
            tier.join(issued);
        } finally {
            changing.unlock();
        }
    }

    /** Removes a tier, but not the last: it is closed when no handle uses it any more. */
    public void remove(int index) {
        changing.lock();
        try {
            Tiers now = tiers;
            checkIndex(index, now.all.size() - 1);
            List<Tier> all = new ArrayList<>(now.all);
            Tier tier = all.remove(index);
            change(all, now.commit > index ? now.commit - 1 : now.commit);
            leave(tier);
        } finally {
            changing.unlock();
        }
    }

    /** {@link #add Adds} a tier in the place of another, that is lost or of another size, and {@link #remove}s that. */
    public void replace(int index, Device device) {
        checkTier(device);
        changing.lock();
        try {
            Tiers now = tiers;
            checkIndex(index, now.all.size() - 1);
            Tier tier = made(device);
            List<Tier> all = new ArrayList<>(now.all);
            Tier before = all.set(index, tier);
            change(all, now.commit);
            tier.join(issued);
            leave(before);
        } finally {
            changing.unlock();
        }
    }

    private void checkTier(Device device) {
        checkSegment(device, segmentBytes());
        if (device.alignment() > alignment() || device.readAlignment() > alignment()) {
            throw new IllegalArgumentException("a tier with an alignment of " + device.alignment()
                    + " bytes; the others have " + alignment() + ": it may be no more");
        }
    }

    private static void checkIndex(int index, int end) {
        if (index < 0 || index >= end) {
            throw new IndexOutOfBoundsException("tier " + index + "; it may be from 0 to " + (end - 1)
                    + ", as the last tier has all of the log, and stays");
        }
    }

    private Tier made(Device device) {
        Tier tier = new Tier(device, takeId(), Long.MAX_VALUE, false);
        List<TieredMemory> added = new ArrayList<>();
        try {
            for (TieredMemory memory : memories) {
                memory.add(tier);
                added.add(memory);
            }
            return tier;
        } catch (Throwable e) {
            usedIds &= ~(1 << tier.id);
            Closing.after(e, () -> added.forEach(memory -> memory.remove(tier)));
            throw e;
        }
    }

    private void change(List<Tier> all, int commit) {
        all.forEach(Tier::unsettle);
        tiers = new Tiers(List.copyOf(all), commit);
        all.forEach(tier -> tier.settles(nextNumber()));
    }

    private void leave(Tier tier) {
        leaving.add(tier);
        closeIfUnused(tier);
    }

    /**
     * Copies to a tier, newest first, what the next ones have and it has room for, while the log is used. Returns when
     * that is done, or when the thread is interrupted, or the tier is removed.
     *
     * @param bytesPerSecond at most
     * @return how many bytes it has copied
     */
    public long fill(int index, long bytesPerSecond) {
        try (TierFill fill = new TierFill(this, tiers.all.get(index), bytesPerSecond)) {
            return fill.run();
        }
    }

    Tiers now() {
        return tiers;
    }

    /** An append is about to go out. Its number, which is lower than those of later ones. */
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

    void wrote(long to) {
        end.raise(to);
    }

    /** @return null where it was removed meanwhile */
    @Nullable
    DeviceHandle use(Tier tier, PendingAppends appends) {
        changing.lock();
        try {
            if (tier.removed) {
                return null;
            }
            DeviceHandle handle = tier.device.open();
            tier.users++;
            tier.appends.add(appends);
            return handle;
        } finally {
            changing.unlock();
        }
    }

    /** A handle has closed the tier's. */
    void leave(Tier tier, PendingAppends appends) {
        changing.lock();
        try {
            tier.users--;
            tier.appends.remove(appends);
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

    @Override
    OwnedMemory own(MemorySegment memory) {
        changing.lock();
        try {
            TieredMemory made = new TieredMemory(this, memory);
            try {
                tiers.all.forEach(made::add);
            } catch (Throwable e) {
                Closing.after(e, made::free);
                throw e;
            }
            memories.add(made);
            return made;
        } finally {
            changing.unlock();
        }
    }

    void forget(TieredMemory memory) {
        changing.lock();
        try {
            memories.remove(memory);
        } finally {
            changing.unlock();
        }
    }

    @Override
    BaseHandle openHandle() {
        return new TieredHandle(this, requests);
    }

    @Override
    void free() {
        Closing.all(tiers.all.stream().map(tier -> tier.device).toList());
    }

    /** Registered with each tier. */
    static final class TieredMemory extends OwnedMemory {

        private final TieredDevice device;
        /** By the tier's id; one is written before a handle sees its tier. */
        private final @Nullable DeviceMemory[] parts = new DeviceMemory[MAX_TIERS];

        TieredMemory(TieredDevice device, MemorySegment memory) {
            super(device, memory);
            this.device = device;
        }

        void add(Tier tier) {
            parts[tier.id] = tier.device.register(segment());
        }

        void remove(Tier tier) {
            DeviceMemory part = parts[tier.id];
            if (part != null) {
                parts[tier.id] = null;
                part.close();
            }
        }

        DeviceMemory part(int id) {
            DeviceMemory part = parts[id];
            assert part != null;
            return part;
        }

        @Override
        void free() {
            device.forget(this);
            Closing.all(parts);
        }
    }
}
