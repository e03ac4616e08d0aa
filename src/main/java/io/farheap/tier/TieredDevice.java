package io.farheap.tier;

import io.farheap.tier.device.Device;
import io.farheap.tier.device.DeviceHandle;
import io.farheap.tier.device.IoStatus;
import io.farheap.tier.device.StorageException;
import io.farheap.tier.handle.BaseHandle;
import io.farheap.tier.handle.OwnedMemory;
import io.farheap.tier.tiered.LastTierCopy;
import io.farheap.tier.tiered.Tier;
import io.farheap.tier.tiered.TierFill;
import io.farheap.tier.tiered.TieredHandle;
import io.farheap.tier.tiered.TieredLog;
import java.lang.foreign.MemorySegment;
import java.util.List;
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

    private final int requests;
    private final TieredLog log;

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
                    + devices.getLast().end() + ", and another up to " + end + "; the last must have all of it:"
                    + " TieredDevice.complete copies what it lacks");
        }
        this.log = new TieredLog(devices, commit, end);
    }

    /**
     * Copies to the last of some devices what it lacks of the log, before they become tiers: after a crash, as what is
     * behind the commit point is never waited for, or where it is new. What the other devices have is compared, all of
     * it, and the last is synced: that takes a sequential read of both. It may be done again where it was interrupted.
     * Of several devices the first that has a place says what is there; where it has zeros, or cannot read, which is
     * logged, the last keeps what it has: that was not appended there.
     *
     * @param devices from the fastest to the last, as for the constructor; nobody uses them. They stay the caller's
     * @return how many bytes were written to the last
     * @throws IllegalArgumentException where there is a part of the log that none has; nothing was copied
     * @throws StorageException where the last device fails
     */
    public static long complete(List<? extends Device> devices) {
        shape(devices);
        return LastTierCopy.run(devices, alignment(devices));
    }

    private static Device shape(List<? extends Device> devices) {
        if (devices.isEmpty() || devices.size() >= Tier.IDS) {
            throw new IllegalArgumentException(devices.size() + " tiers; there may be from 1 to " + (Tier.IDS - 1));
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

    @Override
    public String name() {
        return log.tiers().all().stream()
                .map(tier -> tier.device.name())
                .collect(Collectors.joining("; then ", "tiers: ", ""));
    }

    @Override
    public long capacity() {
        return log.tiers().last().device.capacity();
    }

    /** Of the last of its tiers that had one. */
    @Override
    public @Nullable String refusal() {
        String refusal = null;
        for (Tier tier : log.tiers().all()) {
            String own = tier.device.refusal();
            refusal = own == null ? refusal : own;
        }
        return refusal;
    }

    @Override
    public boolean durable() {
        return log.tiers().all().stream().anyMatch(tier -> tier.original && tier.device.durable());
    }

    @Override
    public long begin() {
        return log.begin();
    }

    @Override
    public long end() {
        return log.end();
    }

    /** All tiers give it up. */
    @Override
    public void truncate(long below) {
        for (Tier tier : log.tiers().all()) {
            tier.device.truncate(below);
        }
    }

    /** How many there are. */
    public int tiers() {
        return log.tiers().all().size();
    }

    /** From where on a tier has the log, but for what it has lost. */
    public long tierBegin(int tier) {
        return log.tiers().all().get(tier).begin();
    }

    /** How many reads a tier has answered. */
    public long reads(int tier) {
        return log.tiers().all().get(tier).reads.get();
    }

    /** How many reads a tier had lost. */
    public long lost(int tier) {
        return log.tiers().all().get(tier).lost.get();
    }

    /** How many handles have yet to let go of tiers that were removed; each does when it is used, or closed. */
    public int removedInUse() {
        return log.removedInUse();
    }

    /**
     * Adds a tier, which has nothing of the log; {@link #fill} changes that. Its requests may be no coarser than those
     * of the others.
     *
     * @param index before which of the tiers: from 0 to their number, exclusive, as the last one stays the last
     */
    public void add(int index, Device device) {
        checkTier(device);
        log.add(index, device);
    }

    /** Removes a tier, but not the last: it is closed when no handle uses it any more. */
    public void remove(int index) {
        log.remove(index);
    }

    /** {@link #add Adds} a tier in the place of another, that is lost or of another size, and {@link #remove}s that. */
    public void replace(int index, Device device) {
        checkTier(device);
        log.replace(index, device);
    }

    private void checkTier(Device device) {
        checkSegment(device, segmentBytes());
        if (device.alignment() > alignment() || device.readAlignment() > alignment()) {
            throw new IllegalArgumentException("a tier with an alignment of " + device.alignment()
                    + " bytes; the others have " + alignment() + ": it may be no more");
        }
    }

    /**
     * Copies to a tier, newest first, what the next ones have and it has room for, while the log is used. Returns when
     * that is done, or when the thread is interrupted, or the tier is removed.
     *
     * @param bytesPerSecond at most
     * @return how many bytes it has copied
     */
    public long fill(int index, long bytesPerSecond) {
        try (TierFill fill = new TierFill(this, log, log.tiers().all().get(index), bytesPerSecond)) {
            return fill.run();
        }
    }

    @Override
    OwnedMemory own(OwnedMemory.Registry registry, MemorySegment memory) {
        return log.own(registry, memory);
    }

    @Override
    BaseHandle openHandle(BaseHandle.Registry registry) {
        return new TieredHandle(this, registry, log, requests);
    }

    @Override
    void free() {
        log.close();
    }
}
