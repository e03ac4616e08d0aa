package io.farheap.tier.handle;

import io.farheap.posix.AsymmetricFence;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/** The handles and the memory of a device that are open, for as long as the device is. Any thread. */
public final class OpenResources implements BaseHandle.Registry {

    /** Guards the lists and {@code closed}. */
    private final ReentrantLock lock = new ReentrantLock();

    private final List<BaseHandle> handles = new ArrayList<>();
    private final List<OwnedMemory> memories = new ArrayList<>();
    private boolean closed;

    /** Adds a handle, which is made while the device cannot be closed. */
    public BaseHandle open(Supplier<? extends BaseHandle> make) {
        lock.lock();
        try {
            checkOpen();
            BaseHandle handle = make.get();
            handles.add(handle);
            return handle;
        } finally {
            lock.unlock();
        }
    }

    /** Adds memory, which is registered while the device cannot be closed. */
    public OwnedMemory register(Supplier<? extends OwnedMemory> make) {
        lock.lock();
        try {
            checkOpen();
            OwnedMemory memory = make.get();
            memories.add(memory);
            return memory;
        } finally {
            lock.unlock();
        }
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the device is closed");
        }
    }

    @Override
    public void forget(BaseHandle handle) {
        lock.lock();
        try {
            handles.remove(handle);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void free(OwnedMemory memory) {
        lock.lock();
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
            lock.unlock();
        }
    }

    /**
     * From now on nothing is opened.
     *
     * @return false if that was so before
     * @throws IllegalStateException if handles or memory are open
     */
    public boolean end() {
        lock.lock();
        try {
            if (closed) {
                return false;
            }
            if (!handles.isEmpty() || !memories.isEmpty()) {
                throw new IllegalStateException("the device has " + handles.size() + " handles and " + memories.size()
                        + " pieces of memory open; close them before it");
            }
            closed = true;
            return true;
        } finally {
            lock.unlock();
        }
    }
}
