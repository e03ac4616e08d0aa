package io.farheap.tier.tiered;

import io.farheap.lifetime.Closeables;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.DeviceHandle;
import io.farheap.tier.device.DeviceMemory;
import io.farheap.tier.device.IoStatus;
import io.farheap.tier.handle.BlockingDeviceHandle;
import io.farheap.tier.handle.OwnedMemory;
import io.farheap.tier.handle.PendingAppends;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Fills a tier: copies to it, a piece at a time, the part of the log that the next tiers have and that it has room for.
 * It starts below the part that the tier has and works downwards. Once a piece is copied, reads of it go to the tier.
 * If a piece is appended to while it is copied, it is copied again. Runs on one thread.
 */
public final class TierFill implements AutoCloseable {

    private static final long PIECE_BYTES = 256 * 1024;

    private final Device device;
    private final TieredLog log;
    private final Tier tier;
    private final double nanosPerByte;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment piece = arena.allocate(PIECE_BYTES, OwnedMemory.PAGE_BYTES);
    private final List<Lane> lanes = new ArrayList<>();

    /** A tier's handle and memory. */
    private final class Lane implements AutoCloseable {

        private final Tier of;
        private final PendingAppends appends = new PendingAppends(1);
        private final @Nullable DeviceHandle handle;
        private final @Nullable DeviceMemory memory;

        Lane(Tier of) {
            this.of = of;
            this.handle = log.use(of, appends);
            this.memory = handle == null ? null : of.device.register(piece);
        }

        boolean open() {
            return handle != null;
        }

        int read(long address, long length) {
            return call().read(address, Objects.requireNonNull(memory), 0, length);
        }

        /**
         * Writes a piece; it may wait for an older append, one lap before, that is still on its way to the same place.
         */
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

    public TierFill(Device device, TieredLog log, Tier tier, long bytesPerSecond) {
        if (bytesPerSecond < 1) {
            throw new IllegalArgumentException(bytesPerSecond + " bytes a second; it must be at least 1");
        }
        this.device = device;
        this.log = log;
        this.tier = tier;
        this.nanosPerByte = 1e9 / bytesPerSecond;
    }

    private Lane lane(Tier of) {
        for (Lane lane : lanes) {
            if (lane.of == of) {
                return lane;
            }
        }
        Lane lane = new Lane(of);
        lanes.add(lane);
        return lane;
    }

    /** @return how many bytes were copied */
    public long run() {
        long copied = 0;
        long due = System.nanoTime();
        while (!Thread.currentThread().isInterrupted()) {
            List<Tier> all = log.tiers().all();
            int index = all.indexOf(tier);
            long to = tier.low();
            long from = from(to);
            if (index < 0 || from >= to || !lane(tier).open()) {
                return copied;
            }
            tier.beginFill(from, to);
            List<Tier> sources = all.subList(index + 1, all.size());
            if (!awaitAppends(sources, from, to - from)) {
                return copied;
            }
            int status = copy(sources, from, to - from);
            if (status == IoStatus.GONE || from < tier.device.begin()) {
                // The log has grown so far that the tier has dropped this range.
                return copied;
            }
            if (status != IoStatus.OK) {
                tier.holes.add(from, to - from, tier.device.begin());
            }
            if (tier.endFill() && status == IoStatus.OK) {
                copied += to - from;
            }
            due = pause(due + (long) ((to - from) * nanosPerByte));
        }
        return copied;
    }

    /** The beginning of the piece that ends at an address; not below that address if there is nothing left to copy. */
    private long from(long to) {
        long floor = Math.max(log.begin(), log.issuedEnd() - tier.device.capacity());
        floor = Math.max(floor, tier.device.begin());
        long aligned = floor + device.alignment() - 1 & -device.alignment();
        long segment = to - 1 & -device.segmentBytes();
        return Math.max(aligned, Math.max(segment, to - PIECE_BYTES));
    }

    private int copy(List<Tier> sources, long from, long length) {
        int status = IoStatus.FAILED;
        for (Tier source : sources) {
            if (source.has(from, length) && lane(source).open()) {
                status = lane(source).read(from, length);
                if (status == IoStatus.OK) {
                    return lane(tier).write(from, length);
                }
            }
        }
        return status == IoStatus.GONE ? IoStatus.FAILED : status;
    }

    /** @return false if the thread was interrupted, while an append may be there in part */
    private boolean awaitAppends(List<Tier> sources, long from, long length) {
        for (Tier source : sources) {
            if (!awaitAppends(source, from, length)) {
                return false;
            }
        }
        return awaitAppends(tier, from, length);
    }

    private static boolean awaitAppends(Tier of, long from, long length) {
        while (of.pends(from, from + length, Long.MAX_VALUE)) {
            if (Thread.currentThread().isInterrupted()) {
                return false;
            }
            LockSupport.parkNanos(100_000);
        }
        return true;
    }

    private static long pause(long until) {
        while (!Thread.currentThread().isInterrupted() && until - System.nanoTime() > 0) {
            LockSupport.parkNanos(until - System.nanoTime());
        }
        return Math.max(until, System.nanoTime() - 100_000_000);
    }

    @Override
    public void close() {
        List<AutoCloseable> all = new ArrayList<>(lanes);
        all.add(arena);
        Closeables.all(all);
    }
}
