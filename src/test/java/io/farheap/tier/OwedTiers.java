package io.farheap.tier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.memory.SharedMemory;
import io.farheap.testing.TestDevice;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.DeviceHandle;
import io.farheap.tier.device.DeviceMemory;
import io.farheap.tier.device.IoStatus;
import io.farheap.tier.handle.BlockingDeviceHandle;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Tiers in memory, the first of which is the commit point, with a handle of them. */
final class OwedTiers implements AutoCloseable {

    static final int SEGMENT = 1 << 18;
    static final int BLOCK = 4096;
    /** The name of the thread that copies what a tier owes. */
    static final String REPAIR = "farheap-tier-repair";

    final SharedMemory memory = SharedMemory.allocate("farheap-test-owed", SEGMENT);
    final TieredDevice tiers;
    final DeviceMemory registered;
    final DeviceHandle handle;

    OwedTiers(List<? extends Device> devices) {
        tiers = new TieredDevice(devices, 0);
        registered = tiers.register(memory.segment());
        handle = tiers.open();
    }

    static MemoryDevice device(int segments) {
        return new MemoryDevice(SEGMENT, 512, 32, segments * (long) SEGMENT);
    }

    static MemoryDevice device() {
        return new MemoryDevice(SEGMENT, 512);
    }

    /** A device that runs something before each thread opens it. */
    static Device opening(MemoryDevice real, Runnable before) {
        Class<?>[] types = {Device.class};
        return (Device) Proxy.newProxyInstance(Device.class.getClassLoader(), types, (proxy, method, arguments) -> {
            if (method.getName().equals("open")) {
                before.run();
            }
            try {
                return method.invoke(real, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        });
    }

    static boolean onRepair() {
        return Thread.currentThread().getName().equals(REPAIR);
    }

    static void refuse(MemoryDevice device, Fault fault) {
        device.faults().inject((kind, address, length) -> kind == Fault.Kind.APPEND ? fault : Fault.NONE);
    }

    int append(long address, int length, int value) {
        memory.segment().fill((byte) value);
        return new BlockingDeviceHandle(handle).append(address, registered, 0, length);
    }

    /** Appends once the device takes it. */
    void appendWhole(int segment) {
        memory.segment().fill((byte) (segment + 1));
        Calls calls = new Calls();
        await(() -> handle.append((long) segment * SEGMENT, registered, 0, SEGMENT, calls, 0));
        Calls.finish(handle);
        calls.assertAllOk();
    }

    int read(long address, int length) {
        memory.segment().fill((byte) -1);
        return new BlockingDeviceHandle(handle).read(address, registered, 0, length);
    }

    /** Another handle of the tiers. */
    final class Reader implements AutoCloseable {

        private final DeviceHandle own = tiers.open();

        int read(long address, int length) {
            return new BlockingDeviceHandle(own).read(address, registered, 0, length);
        }

        @Override
        public void close() {
            own.close();
        }
    }

    Reader reader() {
        return new Reader();
    }

    /** Asserts that a device has a value at each place of a range. */
    void assertHas(Device device, long address, int length, int value) {
        memory.segment().fill((byte) -1);
        try (DeviceMemory own = device.register(memory.segment());
                DeviceHandle of = device.open()) {
            assertEquals(IoStatus.OK, new BlockingDeviceHandle(of).read(address, own, 0, length));
        }
        for (int at = 0; at < length; at += 512) {
            assertEquals((byte) value, memory.segment().get(ValueLayout.JAVA_BYTE, at), "at " + (address + at));
        }
    }

    void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + TestDevice.patience(20_000_000_000L);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, "it has not come");
            handle.poll();
            Thread.onSpinWait();
        }
    }

    static void await(CountDownLatch latch) {
        try {
            assertTrue(latch.await(TestDevice.patience(20_000_000_000L), TimeUnit.NANOSECONDS), "it has not come");
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        handle.close();
        registered.close();
        tiers.close();
        memory.close();
    }
}
