package io.farheap.tier.tiered;

import io.farheap.lifetime.Closeables;
import io.farheap.tier.device.AppendCompletion;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.DeviceHandle;
import io.farheap.tier.device.DeviceMemory;
import io.farheap.tier.device.IoCompletion;
import io.farheap.tier.handle.OwnedMemory;
import io.farheap.tier.handle.PendingAppends;
import io.farheap.tier.handle.RequestSlots;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The access of one handle of a {@link io.farheap.tier.TieredDevice} to one tier: a handle of the tier's device, whose
 * completions it passes on.
 */
final class TierAccess implements IoCompletion, AppendCompletion, AutoCloseable {

    private static final System.Logger LOG = System.getLogger(TierAccess.class.getName());

    /** The handle that makes these requests. */
    interface TierListener {

        void ended(TierAccess from, int slot, int status);

        void appended(TierAccess from, int slot, int status);

        void released(TierAccess from, int slot);
    }

    final Tier tier;
    /** The bit of {@link Tier#id} in sets of tiers. */
    final int bit;

    final PendingAppends appends;
    /** Of each append: what the tier's {@link TierDebts#unlisted} returned before it was listed as pending. */
    final long[] since;

    private final TieredLog log;
    private final TierListener user;
    /** Null if the tier's device could not open a handle: requests pass the tier by until another access opens one. */
    private final @Nullable DeviceHandle handle;
    // Bounce memory for reads with a finer alignment than the tier's; null if there are none.
    private final @Nullable Arena arena;
    private final @Nullable MemorySegment bounce;
    private final @Nullable DeviceMemory registered;
    private final int coarse;
    private long reads;

    /** @param readAlignment the alignment of the handle's reads, which may be finer than the tier's */
    TierAccess(TieredLog log, Tier tier, TierListener user, int requests, int readAlignment) {
        this.log = log;
        this.tier = tier;
        this.bit = 1 << tier.id;
        this.user = user;
        this.appends = new PendingAppends(requests);
        this.since = new long[requests];
        this.coarse = tier.device.readAlignment();
        Arena memory = null;
        MemorySegment between = null;
        DeviceMemory part = null;
        DeviceHandle opened = null;
        try {
            opened = log.use(tier, appends);
            // From here on the tier is in use, and is not closed if it is removed.
            if (opened != null && coarse > readAlignment) {
                memory = Arena.ofShared();
                between = memory.allocate(requests * bounceBytes(), OwnedMemory.PAGE_BYTES);
                part = tier.device.register(between);
            }
        } catch (RuntimeException e) {
            if (opened != null) {
                DeviceHandle unused = opened;
                Closeables.after(e, unused, memory, () -> log.leave(tier, appends));
                opened = null;
                memory = null;
            }
            LOG.log(System.Logger.Level.WARNING, "a tier is passed by: " + e.getMessage(), e);
        }
        this.arena = memory;
        this.bounce = between;
        this.registered = part;
        this.handle = opened;
    }

    private static long bounceBytes() {
        return Device.MAX_FINE_READ + 2 * OwnedMemory.PAGE_BYTES;
    }

    boolean open() {
        return handle != null;
    }

    private DeviceHandle handle() {
        return Objects.requireNonNull(handle);
    }

    int pending() {
        return handle == null ? 0 : handle.pending();
    }

    void poll() {
        if (handle != null && handle.pending() > 0) {
            handle.poll();
            if (reads != 0) {
                tier.reads.addAndGet(reads);
                reads = 0;
            }
        }
    }

    void await() {
        if (handle != null) {
            handle.awaitProgress();
        }
    }

    void release() {
        if (handle != null) {
            handle.release();
        }
    }

    boolean append(RequestSlots slots, int slot) {
        return handle().append(
                        slots.address[slot], part(slots, slot), slots.offset[slot], slots.length[slot], this, slot);
    }

    boolean read(RequestSlots slots, int slot) {
        long address = slots.address[slot];
        long length = slots.length[slot];
        if (fits(slots, slot)) {
            return handle().read(address, part(slots, slot), slots.offset[slot], length, this, slot);
        }
        long from = address & -coarse;
        long to = address + length + coarse - 1 & -coarse;
        return handle().read(from, Objects.requireNonNull(registered), slot * bounceBytes(), to - from, this, slot);
    }

    /** Whether a read has the tier's alignment, and so needs no bounce memory. */
    private boolean fits(RequestSlots slots, int slot) {
        return ((slots.address[slot] | slots.offset[slot] | slots.length[slot]) & coarse - 1) == 0;
    }

    private static DeviceMemory part(RequestSlots slots, int slot, int id) {
        return ((TieredMemory) slots.memory(slot)).part(id);
    }

    private DeviceMemory part(RequestSlots slots, int slot) {
        return part(slots, slot, tier.id);
    }

    /** Called when a read of this tier has succeeded. */
    void arrived(RequestSlots slots, int slot) {
        reads++;
        if (!fits(slots, slot)) {
            assert bounce != null;
            long at = slot * bounceBytes() + (slots.address[slot] & coarse - 1);
            MemorySegment.copy(bounce, at, slots.memory(slot).segment(), slots.offset[slot], slots.length[slot]);
        }
    }

    boolean sync(int slot) {
        return handle().sync(this, slot);
    }

    @Override
    public void completed(long token, int status) {
        user.ended(this, (int) token, status);
    }

    @Override
    public void appended(long token, int status) {
        user.appended(this, (int) token, status);
    }

    @Override
    public void released(long token) {
        user.released(this, (int) token);
    }

    /** Closes the access; nothing is pending. */
    @Override
    public void close() {
        tier.reads.addAndGet(reads);
        Closeables.all(handle, registered, arena, () -> {
            if (handle != null) {
                log.leave(tier, appends);
            }
        });
    }
}
