package io.farheap.server;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.farheap.memory.RegisteredMemory;
import io.farheap.memory.SharedMemory;
import io.farheap.server.contract.ServerOptions;
import io.farheap.server.pool.RegionPool;
import io.farheap.server.pull.RegionCopy;
import io.farheap.server.thread.ServerThreads;
import io.farheap.testing.Fields;
import io.farheap.testing.Held;
import io.farheap.testing.TestDevice;
import io.farheap.thread.idle.Idle;
import io.farheap.verbs.CompletionChannel;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** If one part of a server fails to close, the other parts are closed nevertheless, so that the device can close. */
class ClosingTest {

    private static final long REGION = 1 << 16;

    @Test
    void ofARegionPool() throws ReflectiveOperationException {
        try (Context context = Devices.open(TestDevice.server())) {
            RegionPool pool = new RegionPool(context, REGION, 2, false);
            RegisteredMemory memory = Fields.get(pool, "memory", RegisteredMemory.class);
            assertInstanceOf(IllegalStateException.class, Held.during(memory.segment(), pool::close));
            memory.close();
            assertDoesNotThrow(context::close);
        }
    }

    /** As if the process had reached its limit of threads. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void ofARegionPoolThatGetsNoThread(boolean elastic) throws IOException {
        try (Context context = Devices.open(TestDevice.server())) {
            long before = poolsMapped();
            assertThrows(
                    OutOfMemoryError.class,
                    () -> new RegionPool(context, REGION, 2, elastic, task -> new Thread(task) {
                        @Override
                        public void start() {
                            throw new OutOfMemoryError("injected");
                        }
                    }));
            assertEquals(before, poolsMapped());
            assertDoesNotThrow(context::close);
        }
    }

    private static long poolsMapped() throws IOException {
        try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
            return maps.filter(line -> line.contains("farheap-regions")).count();
        }
    }

    @Test
    void ofACopy() throws ReflectiveOperationException {
        try (Context context = Devices.open(TestDevice.server());
                SharedMemory into = SharedMemory.allocate("test-into", REGION)) {
            RegionCopy copy = new RegionCopy(context, into.segment());
            RegisteredMemory memory = Fields.get(copy, "scratch", RegisteredMemory.class);
            assertInstanceOf(IllegalStateException.class, Held.during(memory.segment(), copy::close));
            memory.close();
            assertDoesNotThrow(context::close);
        }
    }

    @Test
    void ofThreads() {
        try (Context context = Devices.open(TestDevice.server())) {
            ServerThreads threads = new ServerThreads(context, 3, Idle.PARK, false, List.of());
            threads.thread(2);
            CompletionChannel channel = threads.thread(0).channel();
            CompletionQueue user = context.createCompletionQueue(1, 1, channel);
            assertThrows(IllegalStateException.class, threads::close);
            user.close();
            assertEquals(
                    0,
                    Thread.getAllStackTraces().keySet().stream()
                            .map(Thread::getName)
                            .filter(name -> name.startsWith("farheap-srv-"))
                            .count());
            channel.close();
            assertDoesNotThrow(context::close);
        }
    }

    @Test
    void ofAServer() throws ReflectiveOperationException {
        long lease = TestDevice.patience(30_000_000_000L);
        ServerPlane server =
                ServerPlane.open(new ServerOptions(2 * REGION, REGION, lease, TestDevice.server(), "closing"));
        Context context = Fields.get(server, "context", Context.class);
        RegisteredMemory memory =
                Fields.get(Fields.get(server, "pool", RegionPool.class), "memory", RegisteredMemory.class);
        assertInstanceOf(IllegalStateException.class, Held.during(memory.segment(), server::close));
        memory.close();
        assertThrows(IllegalStateException.class, context::ports, "the device is open");
    }
}
