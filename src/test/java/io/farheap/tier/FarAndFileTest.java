package io.farheap.tier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.Cache;
import io.farheap.cache.Cluster;
import io.farheap.testing.TestDevice;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.IoStatus;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/** The paper's two tiers, with real devices: far memory before a file. */
@Tag("optimised")
@ParameterizedClass(name = "commit point {0}")
@ValueSource(ints = {0, 1})
class FarAndFileTest extends DeviceContract {

    @Parameter
    private int commit;

    @TempDir
    private Path directory;

    private static final long LEASE_NANOS = TestDevice.patience(3_000_000_000L);

    private final CountDownLatch lost = new CountDownLatch(1);

    private Cluster cluster;
    private final List<Cache> caches = new ArrayList<>();

    @Override
    Device create() {
        cluster = new Cluster();
        cluster.add(4, LEASE_NANOS);
        return open();
    }

    private TieredDevice open() {
        return new TieredDevice(List.of(far(4), FileDevice.open(directory, SEGMENT)), commit, 32);
    }

    private FarDevice far(int segments) {
        Cache cache = Cache.builder()
                .capacity((long) segments * SEGMENT)
                .servers(cluster.address(caches.size()))
                .device(TestDevice.client())
                .onLost((server, why, regions) -> lost.countDown())
                .requests(64)
                .create();
        caches.add(cache);
        return new FarDevice(cache, SEGMENT, 32);
    }

    @Override
    void end() {
        caches.forEach(Cache::close);
        cluster.close();
    }

    @Override
    int operations() {
        return 300;
    }

    private TieredDevice tiered() {
        return (TieredDevice) device;
    }

    private void appendAll(int segments) {
        for (long address = 0; address < (long) segments * SEGMENT; address += SEGMENT) {
            append(address, SEGMENT);
        }
    }

    @Test
    void aLostServersPartIsReadFromTheFile() throws InterruptedException {
        appendAll(6);
        cluster.stop(0);
        // Until then its server may only be silent.
        assertTrue(lost.await(TestDevice.patience(30), TimeUnit.SECONDS));
        for (int i = 0; i < 6; i++) {
            assertReads((long) i * SEGMENT + 8, 24);
        }
        assertEquals(4, tiered().lost(0));
        append(6 * SEGMENT, SEGMENT);
        assertReads(6 * SEGMENT + 16, 24);
        assertEquals(IoStatus.OK, sync());
        // With a tier on another server, all of the log is in far memory again.
        cluster.add(8);
        tiered().replace(0, far(8));
        assertEquals(7L * SEGMENT, tiered().fill(0, 1L << 30));
        for (int i = 0; i < 7; i++) {
            assertReads((long) i * SEGMENT + 8, 24);
        }
        assertEquals(7, tiered().reads(0));
    }

    private int sync() {
        Calls sync = new Calls();
        assertTrue(handle.sync(sync, 1));
        Calls.finish(handle);
        return sync.status(1);
    }

    @Test
    void aLogThatIsThereFillsFarMemory() {
        appendAll(6);
        assertEquals(IoStatus.OK, sync());
        handle.close();
        memory.close();
        device.close();
        cluster.add(4);
        device = open();
        memory = device.register(bytes);
        handle = device.open();
        assertEquals(6L * SEGMENT, device.end());
        assertReads(5 * SEGMENT + 64, 24);
        assertEquals(0, tiered().reads(0));
        assertEquals(4L * SEGMENT, tiered().fill(0, 1L << 30));
        assertReads(5 * SEGMENT + 64, 24);
        assertReads(SEGMENT + 64, 24);
        assertEquals(1, tiered().reads(0));
        append(6 * SEGMENT, SEGMENT);
        assertReads(6 * SEGMENT, 24);
        assertEquals(2, tiered().reads(0));
    }
}
