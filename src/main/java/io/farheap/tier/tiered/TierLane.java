package io.farheap.tier.tiered;

import io.farheap.lifetime.Closeables;
import io.farheap.tier.device.DeviceHandle;
import io.farheap.tier.device.DeviceMemory;
import io.farheap.tier.handle.BlockingDeviceHandle;
import io.farheap.tier.handle.PendingAppends;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A tier's handle, and memory that is registered with it, for a thread that copies between tiers. */
final class TierLane implements AutoCloseable {

    final Tier of;
    final PendingAppends appends = new PendingAppends(1);
    private final TieredLog log;
    private final @Nullable DeviceHandle handle;
    private final @Nullable DeviceMemory memory;

    TierLane(TieredLog log, Tier of, MemorySegment piece) {
        this.log = log;
        this.of = of;
        DeviceHandle opened = log.use(of, appends);
        try {
            this.memory = opened == null ? null : of.device.register(piece);
        } catch (Throwable e) {
            Closeables.after(e, opened, () -> log.leave(of, appends));
            throw e;
        }
        this.handle = opened;
    }

    /** Returns the lane of a tier among those that a thread has; a new one is added to them. */
    static TierLane of(List<TierLane> lanes, TieredLog log, Tier tier, MemorySegment piece) {
        for (TierLane lane : lanes) {
            if (lane.of == tier) {
                return lane;
            }
        }
        TierLane lane = new TierLane(log, tier, piece);
        lanes.add(lane);
        return lane;
    }

    /** Whether the tier was there; false if it was removed meanwhile. */
    boolean open() {
        return handle != null;
    }

    int read(long address, long length) {
        return call().read(address, Objects.requireNonNull(memory), 0, length);
    }

    /** Writes a piece; it may wait for an older append, one lap before, that is still on its way to the same place. */
    int write(long address, long length) {
        return call().append(address, Objects.requireNonNull(memory), 0, length);
    }

    private BlockingDeviceHandle call() {
        return new BlockingDeviceHandle(Objects.requireNonNull(handle));
    }

    @Override
    public void close() {
        if (handle != null) {
            Closeables.all(handle, memory, () -> log.leave(of, appends));
        }
    }
}
