package io.farheap.store;

import io.farheap.tier.AppendCompletion;
import io.farheap.tier.DeviceHandle;
import io.farheap.tier.DeviceMemory;

/** Requests of a thread that waits for each: the handle is used for nothing else. */
final class DeviceCall implements AppendCompletion {

    private final DeviceHandle handle;
    private int ended;

    DeviceCall(DeviceHandle handle) {
        this.handle = handle;
    }

    /** @return of {@link io.farheap.tier.IoStatus} */
    int read(long address, DeviceMemory into, long offset, long bytes) {
        ended = -1;
        while (!handle.read(address, into, offset, bytes, this::end, 0)) {
            handle.poll();
        }
        return await();
    }

    /** Returns when the memory is free again. @return of {@link io.farheap.tier.IoStatus} */
    int append(long address, DeviceMemory from, long offset, long bytes) {
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
        // Waited for as what is pending.
    }

    /** @return of {@link io.farheap.tier.IoStatus} */
    int sync() {
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
