package io.farheap.tier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.memory.SharedMemory;
import io.farheap.testing.TestDevice;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.DeviceHandle;
import io.farheap.tier.device.DeviceMemory;
import io.farheap.tier.device.IoStatus;
import io.farheap.tier.handle.BlockingDeviceHandle;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** A tier whose device could not be opened once is used as soon as it can be. */
class TierOpenedAgainTest {

    private static final int SEGMENT = 1 << 16;

    private final AtomicBoolean refuses = new AtomicBoolean();

    private Device device(MemoryDevice real) {
        Class<?>[] types = {Device.class};
        return (Device) Proxy.newProxyInstance(Device.class.getClassLoader(), types, (proxy, method, arguments) -> {
            if (method.getName().equals("open") && refuses.get()) {
                throw new IllegalStateException("it cannot be opened now");
            }
            try {
                return method.invoke(real, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        });
    }

    @Test
    void itIsOpenedLater() {
        MemoryDevice last = new MemoryDevice(SEGMENT, 512);
        try (SharedMemory memory = SharedMemory.allocate("farheap-test-opened", SEGMENT);
                TieredDevice tiers =
                        new TieredDevice(List.of(new MemoryDevice(SEGMENT, 512, 32, SEGMENT), device(last)), 0);
                DeviceMemory registered = tiers.register(memory.segment())) {
            try (DeviceHandle before = tiers.open()) {
                assertEquals(IoStatus.OK, append(before, registered, 0));
                assertEquals(IoStatus.OK, append(before, registered, 1));
            }
            refuses.set(true);
            try (DeviceHandle handle = tiers.open()) {
                assertNotEquals(IoStatus.OK, new BlockingDeviceHandle(handle).read(0, registered, 0, SEGMENT));
                refuses.set(false);
                long deadline = System.nanoTime() + TestDevice.patience(30_000_000_000L);
                while (new BlockingDeviceHandle(handle).read(0, registered, 0, SEGMENT) != IoStatus.OK) {
                    assertTrue(System.nanoTime() - deadline < 0, "the tier is not used");
                }
                assertEquals(IoStatus.OK, append(handle, registered, 2));
                assertEquals(3 * SEGMENT, last.end());
            }
        }
    }

    private static int append(DeviceHandle handle, DeviceMemory memory, int segment) {
        return new BlockingDeviceHandle(handle).append((long) segment * SEGMENT, memory, 0, SEGMENT);
    }
}
