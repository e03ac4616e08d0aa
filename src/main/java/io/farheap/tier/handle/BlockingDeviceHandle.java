package io.farheap.tier.handle;

import io.farheap.tier.device.AppendCompletion;
import io.farheap.tier.device.DeviceHandle;
import io.farheap.tier.device.DeviceMemory;
import io.farheap.tier.device.IoStatus;

/**
 * Blocking requests to a device, by a thread that uses the handle for nothing else. Each returns an {@link IoStatus}.
 */
public final class BlockingDeviceHandle implements AppendCompletion {

    private final DeviceHandle handle;
    private int ended;

    /** @param handle the caller closes it */
    public BlockingDeviceHandle(DeviceHandle handle) {
        this.handle = handle;
    }

    /** As {@link DeviceHandle#read}. */
    public int read(long address, DeviceMemory into, long offset, long bytes) {
        ended = -1;
        while (!handle.read(address, into, offset, bytes, this::end, 0)) {
            handle.poll();
        }
        return await();
    }

    /** As {@link DeviceHandle#append}; returns when the memory is free again. */
    public int append(long address, DeviceMemory from, long offset, long bytes) {
        ended = -1;
        while (!handle.append(address, from, offset, bytes, this, 0)) {
            handle.poll();
        }
        int status = await();
        while (handle.pending() > 0) {
            if (handle.poll() == 0) {
                handle.awaitProgress();
            }
        }
        return status;
    }

    @Override
    public void appended(long token, int status) {
        ended = status;
    }

    @Override
    public void released(long token) {
        // The append waits until the handle has nothing pending.
    }

    /** As {@link DeviceHandle#sync}. */
    public int sync() {
        ended = -1;
        while (!handle.sync(this::end, 0)) {
            handle.poll();
        }
        return await();
    }

    private void end(long token, int status) {
        ended = status;
    }

    private int await() {
        while (ended < 0) {
            if (handle.poll() == 0) {
                handle.awaitProgress();
            }
        }
        return ended;
    }
}
