package io.farheap.tier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.Cache;
import io.farheap.cache.Cluster;
import io.farheap.cache.SoftverbsFaults;
import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.testing.Effort;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.TestDevice;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.DeviceHandle;
import io.farheap.tier.device.IoStatus;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

@Tag("optimised")
@ParameterizedClass(name = "{0}")
@MethodSource("shapes")
class FarDeviceTest extends BoundedDeviceContract {

    /** @param segments the size of the cache in segments; the shapes have a power of two, and another number */
    record Shape(int segments, int batch, int doorbell) {

        CacheConfiguration configuration() {
            return batch == 1
                    ? CacheConfiguration.DIRECT.withQueueDepth(8)
                    : CacheConfiguration.DIRECT.with(0, 1, batch, 4);
        }
    }

    static Stream<Shape> shapes() {
        return Effort.variants(2, new Shape(SEGMENTS + 1, 1, 8), new Shape(SEGMENTS, 16, 1), new Shape(SEGMENTS, 1, 1));
    }

    private static final long LEASE_NANOS = TestDevice.patience(3_000_000_000L);

    @Parameter
    private Shape shape;

    private final CountDownLatch lost = new CountDownLatch(1);

    private Cluster cluster;
    private Cache cache;

    @Override
    Device create() {
        assertEquals(SEGMENT, Cluster.REGION_BYTES);
        cluster = new Cluster();
        cluster.add(shape.segments, LEASE_NANOS);
        cache = Cache.builder()
                .capacity((long) shape.segments * SEGMENT)
                .servers(cluster.addresses())
                .device(TestDevice.client())
                .configuration(shape.configuration())
                .doorbellBatch(shape.doorbell)
                .onLost((server, why, regions) -> lost.countDown())
                .requests(64)
                .create();
        return new FarDevice(cache, SEGMENT, 32);
    }

    @Override
    void end() {
        cache.close();
        cluster.close();
    }

    @Override
    int operations() {
        return shape.batch == 1 ? super.operations() : 200;
    }

    @Test
    void aReadUnderWayThatIsWrittenOverIsGoneAndHoldsUpNothing() {
        append(0, SEGMENT);
        DeviceHandle idle = device.open();
        Calls late = new Calls();
        assertTrue(idle.read(0, memory, SEGMENT, 64, late, 1));
        for (long address = SEGMENT; address < device.capacity() + SEGMENT; address += SEGMENT) {
            append(address, SEGMENT);
        }
        Calls.finish(idle);
        assertEquals(IoStatus.GONE, late.status(1));
        idle.close();
    }

    @Test
    void anAppendWaitsForOneOnItsWayToTheSamePlace() {
        DeviceHandle idle = device.open();
        Calls late = new Calls();
        fill(bytes, SEGMENT, SEGMENT, 0);
        assertTrue(idle.append(0, memory, SEGMENT, SEGMENT, late, 1));
        for (long address = SEGMENT; address < device.capacity(); address += SEGMENT) {
            append(address, SEGMENT);
        }
        fill(bytes, 0, SEGMENT, device.capacity());
        assertFalse(handle.append(device.capacity(), memory, 0, SEGMENT, calls, 2));
        Calls.finish(idle);
        // The refused append has moved the log's beginning past the late one.
        assertEquals(IoStatus.GONE, late.status(1));
        idle.close();
        append(device.capacity(), SEGMENT);
        assertReads(device.capacity(), SEGMENT);
    }

    @Test
    void whatIsAtALostServerIsLost() throws InterruptedException {
        append(0, SEGMENT);
        cluster.stop(0);
        // Until then it may only be silent.
        assertTrue(lost.await(TestDevice.patience(30), TimeUnit.SECONDS));
        assertEquals(IoStatus.LOST, read(0, 64));
        Calls append = new Calls();
        assertTrue(handle.append(SEGMENT, memory, 0, 64, append, 1));
        Calls.finish(handle);
        assertEquals(IoStatus.LOST, append.status(1));
    }

    /** Connections fail again and again; the bytes are the same each time, and nothing else is written there. */
    @Test
    @Needs(Need.SOFTVERBS)
    void anAppendWhoseConnectionFailsIsRepeated() {
        Calls appends = new Calls();
        SoftverbsFaults.failQueuePairsAfter(3);
        try {
            for (int i = 0; i < 16; i++) {
                fill(bytes, 64 * i, 64, 64 * i);
                while (!handle.append(64 * i, memory, 64 * i, 64, appends, i)) {
                    handle.poll();
                }
            }
            Calls.finish(handle);
        } finally {
            SoftverbsFaults.failQueuePairsAfter(0);
        }
        for (int i = 0; i < 16; i++) {
            assertEquals(IoStatus.OK, appends.status(i));
        }
        assertReads(0, 16 * 64);
    }

    @Test
    @Needs(Need.SOFTVERBS)
    void closingEndsAnAppendWhoseServerCannotBeReached() {
        Calls appends = new Calls();
        SoftverbsFaults.link(false);
        try {
            assertTrue(handle.append(0, memory, 0, 64, appends, 1));
            handle.close();
        } finally {
            SoftverbsFaults.link(true);
        }
        assertEquals(IoStatus.FAILED, appends.status(1));
    }

    @Test
    void whatIsInAClosedCacheIsLost() {
        append(0, SEGMENT);
        Calls reads = new Calls();
        assertTrue(handle.read(0, memory, 0, 64, reads, 1));
        cache.close();
        assertTrue(handle.read(0, memory, 0, 64, reads, 2));
        Calls.finish(handle);
        assertEquals(IoStatus.LOST, reads.status(1));
        assertEquals(IoStatus.LOST, reads.status(2));
        assertEquals(IoStatus.LOST, read(0, 64));
        handle.release();
    }

    @Test
    void aCacheOfLessThanASegmentIsRefused() {
        String message = assertThrows(IllegalArgumentException.class, () -> new FarDevice(cache, 1 << 30))
                .getMessage();
        assertTrue(message.contains("segments of 1073741824 bytes; the cache has " + cache.capacity()), message);
    }
}
