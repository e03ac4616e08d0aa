package io.farheap.tier;

import io.farheap.lifetime.Closeables;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.DeviceHandle;
import io.farheap.tier.device.IoStatus;
import io.farheap.tier.device.StorageException;
import io.farheap.tier.handle.BaseHandle;
import io.farheap.tier.handle.OwnedMemory;
import io.farheap.tier.tiered.LastTierCopy;
import io.farheap.tier.tiered.Tier;
import io.farheap.tier.tiered.TierFill;
import io.farheap.tier.tiered.TierRepair;
import io.farheap.tier.tiered.TieredHandle;
import io.farheap.tier.tiered.TieredLog;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Several devices that hold one log (Redy, section 8.2; FASTER's tiered storage): each tier has the newest part of the
 * log that the next one has, and the last tier has all of it. A read goes to the first tier that has the address; if
 * that tier has lost it, or overwrites it meanwhile, the read goes to the next. An append goes to all tiers, and ends
 * when the tiers up to the <em>commit point</em> have it; if these fail, when a later one has it. Its memory is
 * released when no tier reads it any more.
 *
 * <p>A tier never drops a part of the log that the next tier does not have yet: an append that would need this is
 * refused, as by a full handle. So handles have to be polled until nothing is pending. {@link DeviceHandle#sync} syncs
 * the appends that have ended, in the first tier that is {@linkplain Device#durable durable} and was there from the
 * beginning; if there is none, it does nothing.
 *
 * <table>
 * <caption>Which appends that had ended are there afterwards, if the commit point is far memory, or the file</caption>
 * <tr><th>what happens</th><th>far memory</th><th>file</th><th>either, synced</th></tr>
 * <tr><td>a memory server is killed</td><td>all but those that the file did not have yet, which
 *     are {@link IoStatus#LOST} or read once the file has them</td><td>all</td><td>all</td></tr>
 * <tr><td>the client is killed</td><td>those that the file had</td><td>all</td><td>all</td></tr>
 * <tr><td>power is lost</td><td>those that were synced</td><td>those that were synced</td><td>all</td></tr>
 * </table>
 *
 * <p>Tiers are added and removed while the log is used: a new one is {@linkplain #fill filled} from the next. Tiers are
 * closed with this device, or when they have been removed and no handle uses them.
 */
public final class TieredDevice extends BaseDevice {

    private final int requests;
    private final TieredLog log;

    /** As {@link #TieredDevice(List, int, int)}, with 128 requests a handle. */
    public TieredDevice(List<? extends Device> devices, int commit) {
        this(devices, commit, FarDevice.DEFAULT_REQUESTS);
    }

    /**
     * @param devices from the fastest to the one that has all of the log, which may be an earlier process's; a device
     *     whose log ends before is treated as empty. All have segments of one size
     * @param commit which of them is the commit point, counted from 0
     * @param requests how many requests a handle may have at a time
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
                    + " TieredDevice.complete copies the missing parts");
        }
        this.log = new TieredLog(devices, commit, end, alignment());
        TierRepair repair = new TierRepair(log);
        log.repairedBy(repair::wake, repair);
    }

    /**
     * Copies to the last of some devices the parts of the log that it lacks, before the devices become tiers: after a
     * crash, since appends do not wait for tiers behind the commit point, or if the last device is new. Everything that
     * the other devices have is compared, which takes a sequential read of both, and the last device is synced. The
     * call may be repeated if it was interrupted. If several devices have an address, the bytes of the first one that
     * can read them count. If these are zeros, it has no append there, and the last device keeps its bytes; so it does
     * if no other device can read them. How much a device could not read is logged. If the last device cannot read
     * bytes of its own at this moment, and no other device has them, the call fails and writes nothing over them.
     *
     * @param devices from the fastest to the last, as for the constructor; no other thread uses them, and the caller
     *     closes them
     * @return how many bytes were written to the last
     * @throws IllegalArgumentException if no device has some part of the log; nothing was copied then
     * @throws StorageException if the last device fails
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

    /** The refusal of the last tier that has one. */
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

    /** Truncates all tiers, also if one of them throws. */
    @Override
    public void truncate(long below) {
        List<AutoCloseable> each = new ArrayList<>();
        log.tiers().all().forEach(tier -> each.add(() -> tier.device.truncate(below)));
        Closeables.all(each);
    }

    /** How many tiers there are. */
    public int tiers() {
        return log.tiers().all().size();
    }

    /** The address from which on a tier has the log, except for parts that it has lost. */
    public long tierBegin(int tier) {
        return log.tiers().all().get(tier).begin();
    }

    /** How many reads a tier has answered. */
    public long reads(int tier) {
        return log.tiers().all().get(tier).reads.get();
    }

    /** How many reads a tier could not answer since it had lost their part. */
    public long lost(int tier) {
        return log.tiers().all().get(tier).lost.get();
    }

    /**
     * How many bytes of a tier's part of the log it has refused and does not have yet. They are copied to it from the
     * first tier that has them, as soon as it takes them; until then that tier does not give them up, and a sync of the
     * tier fails. Bytes that no other tier can read any more still count, until they are appended again or the log's
     * beginning has passed them. In a store neither happens, and a store makes no more checkpoints: copy it, or open
     * the last checkpoint.
     */
    public long owedBytes(int tier) {
        return log.tiers().all().get(tier).owedBytes();
    }

    /** How many handles still use tiers that were removed; each lets go of them when it is next used, or closed. */
    public int removedInUse() {
        return log.removedInUse();
    }

    /**
     * Adds a tier, which has nothing of the log before its first append; {@link #fill} copies older parts. Its
     * alignment may be no coarser than that of the others. The commit point stays the device that it was.
     *
     * @param index the tier before which to insert it: from 0 to their number, exclusive, since the last one stays the
     *     last
     * @throws IllegalArgumentException if it has segments of another size, or a coarser alignment
     * @throws IllegalStateException if there are too many tiers, removed ones that are still in use among them
     */
    public void add(int index, Device device) {
        checkTier(device);
        log.add(index, device);
    }

    /**
     * Removes a tier other than the last; it is closed when no handle uses it any more. If it was the commit point, the
     * next tier is the commit point from now on.
     *
     * @throws IndexOutOfBoundsException if it is the last, or there is no such tier
     */
    public void remove(int index) {
        log.remove(index);
    }

    /**
     * {@link #add Adds} a tier in place of another one, which is lost or of another size, and {@link #remove}s that. If
     * that was the commit point, the new tier is.
     */
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
     * Copies to a tier the parts of the log that the next tiers have and that it has room for, the newest first, while
     * the log is used. Returns when that is done, when the thread is interrupted, or when the tier is removed.
     *
     * @param bytesPerSecond the highest rate, at least 1
     * @return how many bytes were copied
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
