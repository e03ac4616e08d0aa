package io.farheap.tier;

import io.farheap.posix.AsymmetricFence;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/** What devices have in common: their shape, and which handles and memory are open. */
abstract class BaseDevice implements Device {

    /** What registered memory begins and ends at. */
    static final long PAGE_BYTES = 4096;

    private final long segmentBytes;
    private final int alignment;
    private final int readAlignment;
    /** Guards what is open, for short. */
    private final ReentrantLock opened = new ReentrantLock();

    private final List<BaseHandle> handles = new ArrayList<>();
    private final List<OwnedMemory> memories = new ArrayList<>();
    private boolean closed;

    BaseDevice(long segmentBytes, int alignment) {
        this(segmentBytes, alignment, alignment);
    }

    BaseDevice(long segmentBytes, int alignment, int readAlignment) {
        if (alignment < 1 || alignment > PAGE_BYTES || Integer.bitCount(alignment) != 1) {
            throw new IllegalArgumentException(
                    "an alignment of " + alignment + " bytes; it must be a power of two, at most " + PAGE_BYTES);
        }
        if (segmentBytes < PAGE_BYTES || segmentBytes > MAX_ADDRESS || Long.bitCount(segmentBytes) != 1) {
            throw new IllegalArgumentException("segments of " + segmentBytes
                    + " bytes; they must have a power of two, from " + PAGE_BYTES + " to " + MAX_ADDRESS);
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
        if (memory.byteSize() == 0 || memory.byteSize() % PAGE_BYTES != 0 || memory.address() % PAGE_BYTES != 0) {
            throw new IllegalArgumentException(memory.byteSize() + " bytes at " + Long.toHexString(memory.address())
                    + " cannot be registered; take memory that begins and ends at multiples of " + PAGE_BYTES);
        }
        opened.lock();
        try {
            checkOpen();
            OwnedMemory registered = own(memory);
            memories.add(registered);
            return registered;
        } finally {
            opened.unlock();
        }
    }

    OwnedMemory own(MemorySegment memory) {
        return new OwnedMemory(this, memory);
    }

    @Override
    public final DeviceHandle open() {
        opened.lock();
        try {
            checkOpen();
            BaseHandle handle = openHandle();
            handles.add(handle);
            return handle;
        } finally {
            opened.unlock();
        }
    }

    abstract BaseHandle openHandle();

    final void close(OwnedMemory memory) {
        opened.lock();
        try {
            if (!memories.contains(memory)) {
                return;
            }
            memory.closed(true);
            AsymmetricFence.heavy();
            for (BaseHandle handle : handles) {
                if (handle.uses(memory)) {
                    memory.closed(false);
                    throw new IllegalStateException(
                            "a request that uses the memory has not ended; poll its handle until it has");
                }
            }
            memory.free();
            memories.remove(memory);
        } finally {
            opened.unlock();
        }
    }

    /** The handle is closed: nobody need look at it. */
    final void forget(BaseHandle handle) {
        opened.lock();
        try {
            handles.remove(handle);
        } finally {
            opened.unlock();
        }
    }

    final List<BaseHandle> handles() {
        opened.lock();
        try {
            return List.copyOf(handles);
        } finally {
            opened.unlock();
        }
    }

    final void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the device is closed");
        }
    }

    @Override
    public final void close() {
        opened.lock();
        try {
            if (closed) {
                return;
            }
            if (!handles.isEmpty() || !memories.isEmpty()) {
                throw new IllegalStateException("the device has " + handles.size() + " handles and " + memories.size()
                        + " pieces of memory open; close them before it");
            }
            closed = true;
        } finally {
            opened.unlock();
        }
        free();
    }

    /** Once: nothing of it is open. */
    abstract void free();
}
