package io.farheap.tier;

import io.farheap.tier.device.Device;
import io.farheap.tier.device.DeviceHandle;
import io.farheap.tier.device.DeviceMemory;
import io.farheap.tier.handle.BaseHandle;
import io.farheap.tier.handle.OpenResources;
import io.farheap.tier.handle.OwnedMemory;
import java.lang.foreign.MemorySegment;

/** The common part of all devices: segment size and alignment, and the handles and memory that are open. */
abstract class BaseDevice implements Device {

    private final long segmentBytes;
    private final int alignment;
    private final int readAlignment;
    private final OpenResources parts = new OpenResources();

    BaseDevice(long segmentBytes, int alignment) {
        this(segmentBytes, alignment, alignment);
    }

    BaseDevice(long segmentBytes, int alignment, int readAlignment) {
        if (alignment < 1 || alignment > OwnedMemory.PAGE_BYTES || Integer.bitCount(alignment) != 1) {
            throw new IllegalArgumentException("an alignment of " + alignment
                    + " bytes; it must be a power of two, at most " + OwnedMemory.PAGE_BYTES);
        }
        if (segmentBytes < OwnedMemory.PAGE_BYTES || segmentBytes > MAX_ADDRESS || Long.bitCount(segmentBytes) != 1) {
            throw new IllegalArgumentException("segments of " + segmentBytes
                    + " bytes; they must have a power of two, from " + OwnedMemory.PAGE_BYTES + " to " + MAX_ADDRESS);
        }
        this.segmentBytes = segmentBytes;
        this.alignment = alignment;
        this.readAlignment = readAlignment;
    }

    @Override
    public final long segmentBytes() {
        return segmentBytes;
    }

    @Override
    public final int alignment() {
        return alignment;
    }

    @Override
    public final int readAlignment() {
        return readAlignment;
    }

    @Override
    public final DeviceMemory register(MemorySegment memory) {
        if (!memory.isNative() || memory.isReadOnly()) {
            throw new IllegalArgumentException(
                    memory + " cannot be registered; take memory that is off-heap and writable");
        }
        if (memory.byteSize() == 0
                || memory.byteSize() % OwnedMemory.PAGE_BYTES != 0
                || memory.address() % OwnedMemory.PAGE_BYTES != 0) {
            throw new IllegalArgumentException(memory.byteSize() + " bytes at " + Long.toHexString(memory.address())
                    + " cannot be registered; take memory that begins and ends at multiples of "
                    + OwnedMemory.PAGE_BYTES);
        }
        return parts.register(() -> own(parts, memory));
    }

    /** Makes this device's object for memory that has passed the checks. */
    OwnedMemory own(OwnedMemory.Registry registry, MemorySegment memory) {
        return new OwnedMemory(registry, memory);
    }

    @Override
    public final DeviceHandle open() {
        return parts.open(() -> openHandle(parts));
    }

    abstract BaseHandle openHandle(BaseHandle.Registry registry);

    @Override
    public final void close() {
        if (parts.end()) {
            free();
        }
    }

    /** Frees the device's resources. Called once, when no handle or memory is open. */
    abstract void free();
}
