package io.farheap.tier;

import io.farheap.lifetime.CloseStack;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Copies to the last of some devices what it lacks of their log. What was appended to it and not synced may be missing
 * anywhere, so all that another has is compared. One thread; nobody else uses the devices.
 */
final class LastTierCopy implements AutoCloseable {

    private static final long PIECE_BYTES = 256 * 1024;

    private final Device source;
    private final Device last;
    private final CloseStack resources = new CloseStack();
    /** What the source has, and behind it what the last has. */
    private final MemorySegment memory;

    private final DeviceMemory ofSource;
    private final DeviceMemory ofLast;
    private final DeviceCall from;
    private final DeviceCall to;

    private LastTierCopy(Device source, Device last) {
        this.source = source;
        this.last = last;
        try {
            this.memory = resources.add(Arena.ofShared()).allocate(2 * PIECE_BYTES, BaseDevice.PAGE_BYTES);
            this.ofSource = resources.add(source.register(memory));
            this.ofLast = resources.add(last.register(memory));
            this.from = new DeviceCall(resources.add(source.open()));
            this.to = new DeviceCall(resources.add(last.open()));
        } catch (Throwable e) {
            try (resources) {
                throw e;
            }
        }
    }

    /** As {@link TieredDevice#complete}. */
    static long run(List<? extends Device> devices, int alignment) {
        Device last = devices.getLast();
        long end = devices.stream().mapToLong(Device::end).max().orElse(0);
        Device source = null;
        for (Device device : devices.subList(0, devices.size() - 1)) {
            if (device.end() == end && (source == null || device.begin() < source.begin())) {
                source = device;
            }
        }
        if (source == null) {
            return 0;
        }
        if (last.end() == 0) {
            last.truncate(source.begin());
        } else if (last.end() < source.begin()) {
            throw new IllegalArgumentException("the last tier has the log up to " + last.end()
                    + ", and the others from " + source.begin() + " on; nothing has what is between: begin with an"
                    + " empty last tier");
        }
        if (((source.begin() | end) & alignment - 1) != 0) {
            throw new IllegalArgumentException("the log goes from " + source.begin() + " to " + end
                    + "; both must be multiples of the tiers' alignment, " + alignment);
        }
        try (LastTierCopy copy = new LastTierCopy(source, last)) {
            return copy.all(Math.max(source.begin(), last.begin()), end);
        }
    }

    private long all(long begin, long end) {
        long copied = 0;
        long next;
        for (long at = begin; at < end; at = next) {
            long segmentEnd = (at & -source.segmentBytes()) + source.segmentBytes();
            next = Math.min(Math.min(end, segmentEnd), at + PIECE_BYTES);
            long length = next - at;
            check("read", at, from.read(at, ofSource, 0, length));
            if (!alike(at, length)) {
                check("written to the last tier", at, to.append(at, ofLast, 0, length));
                copied += length;
            }
        }
        check("synced in the last tier", end, to.sync());
        return copied;
    }

    private boolean alike(long at, long length) {
        return at + length <= last.end()
                && to.read(at, ofLast, PIECE_BYTES, length) == IoStatus.OK
                && MemorySegment.mismatch(memory, 0, length, memory, PIECE_BYTES, PIECE_BYTES + length) < 0;
    }

    private static void check(String what, long at, int status) {
        if (status != IoStatus.OK) {
            throw new StorageException("the log at " + at + " could not be " + what + ": " + IoStatus.describe(status));
        }
    }

    @Override
    public void close() {
        resources.close();
    }
}
