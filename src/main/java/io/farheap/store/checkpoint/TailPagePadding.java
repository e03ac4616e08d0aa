package io.farheap.store.checkpoint;

import io.farheap.lifetime.CloseStack;
import io.farheap.memory.SharedMemory;
import io.farheap.store.contract.StoreException;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.DeviceMemory;
import io.farheap.tier.device.IoStatus;
import io.farheap.tier.handle.BlockingDeviceHandle;

/**
 * Fills the page in which a recovered log ends. New records begin in the next page, so the rest of that page would
 * never be written; but scans and compactions read whole pages, and a read may reach beyond the end of a short record.
 */
public final class TailPagePadding {

    private TailPagePadding() {}

    /**
     * Writes zeros from the block behind the checkpoint's last bytes to the end of their page. The device's own end
     * does not say whether that page is whole: after a power cut there may be a later segment, and only a part of this
     * one. The last extent may reach beyond the checkpoint's end, since the page was written while sessions appended to
     * it; its checksum covers those bytes, so they stay.
     *
     * @throws StoreException if the device does not write them
     */
    public static void complete(Checkpoint checkpoint, Device device) {
        long alignment = device.alignment();
        long there =
                checkpoint.extents().stream().mapToLong(Checkpoint.Extent::to).reduce(checkpoint.end(), Math::max);
        long from = there + alignment - 1 & -alignment;
        long bytes = checkpoint.next() - from;
        if (bytes <= 0) {
            return;
        }
        try (CloseStack resources = new CloseStack()) {
            SharedMemory zeros =
                    resources.add(SharedMemory.allocate("farheap-store-last-page", 1L << checkpoint.pageBits()));
            DeviceMemory registered = resources.add(device.register(zeros.segment()));
            int status = new BlockingDeviceHandle(resources.add(device.open())).append(from, registered, 0, bytes);
            if (status != IoStatus.OK) {
                throw new StoreException("the log's last page, from " + from + " to " + checkpoint.next()
                        + ", cannot be completed: " + IoStatus.describe(status, device));
            }
        }
    }
}
