package io.farheap.store.checkpoint;

import io.farheap.lifetime.CloseStack;
import io.farheap.memory.SharedMemory;
import io.farheap.store.contract.StoreException;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.DeviceMemory;
import io.farheap.tier.device.IoStatus;
import io.farheap.tier.handle.BlockingDeviceHandle;

/**
 * What is missing of the page in which a recovered log ends. New records begin in the next one, so nobody would ever
 * write it; but scans and compactions read whole pages, and a read may pass the end of a short record.
 */
public final class TailPagePadding {

    private TailPagePadding() {}

    /**
     * Writes zeros from the block behind what the checkpoint has to the end of its page. The device's own end does not
     * say whether that page is whole: a power cut may leave a later segment, and of this one a part. The last extent
     * may go on behind the checkpoint's end, as the page was written while sessions went on: its checksum is of that
     * too, so it stays.
     *
     * @throws StoreException where the device does not take them
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
