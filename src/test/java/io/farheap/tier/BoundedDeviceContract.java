package io.farheap.tier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.tier.device.Device;
import io.farheap.tier.device.IoStatus;
import org.junit.jupiter.api.Test;

/** The further promise of a {@link Device} of bounded size: it writes its oldest part over. */
abstract class BoundedDeviceContract extends DeviceContract {

    @Test
    void aDeviceOfBoundedSizeWritesItsOldestPartOver() {
        long capacity = device.capacity();
        for (long address = 0; address < capacity + SEGMENT; address += SEGMENT) {
            append(address, SEGMENT);
        }
        assertEquals(SEGMENT, device.begin());
        assertEquals(IoStatus.GONE, read(SEGMENT - unit(), unit()));
        for (long address = SEGMENT; address < capacity + SEGMENT; address += SEGMENT) {
            assertReads(address, SEGMENT);
        }
        Calls read = new Calls();
        assertTrue(handle.read(SEGMENT, memory, 0, unit(), read, 1));
        fill(bytes, SEGMENT, SEGMENT, capacity + SEGMENT);
        assertTrue(handle.append(capacity + SEGMENT, memory, SEGMENT, SEGMENT, read, 2));
        Calls.finish(handle);
        assertEquals(IoStatus.OK, read.status(2));
        assertEquals(2 * SEGMENT, device.begin());
        assertReads(capacity + SEGMENT, SEGMENT);
    }
}
