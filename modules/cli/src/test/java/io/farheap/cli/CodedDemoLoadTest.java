package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.grpc.ControlServer;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.resilience.CodedSession;
import io.farheap.resilience.CodedSpace;
import io.farheap.resilience.contract.CodedStatus;
import io.farheap.resilience.contract.Resilience;
import io.farheap.server.MemoryServer;
import io.farheap.server.Planes;
import io.farheap.server.contract.ServerOptions;
import io.farheap.testing.TestDevice;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/** The demo finds wrong bytes, which another client writes to its space. */
class CodedDemoLoadTest {

    private static final long REGION_BYTES = 64 * 1024;
    private static final int PIECE = 4096;
    private static final int LINE = 64;
    private static final Duration PATIENCE = Duration.ofSeconds(TestDevice.patience(60));

    private interface Check {
        void on(CodedDemoLoad load, CodedSession other);
    }

    private static void withLoad(Check check) {
        ServerOptions options = new ServerOptions(
                2 * REGION_BYTES, REGION_BYTES, PATIENCE.toNanos(), TestDevice.server(), "coded-demo");
        try (MemoryServer server = MemoryServer.open(options);
                ControlServer control = ControlServer.start("127.0.0.1:0", Planes.of(server));
                RemoteMemory memory = RemoteMemory.open(TestDevice.client(), "test")) {
            memory.attach(control.address());
            try (CodedSpace space = CodedSpace.create(memory, Resilience.copies(1), 1, RemoteServer::domain);
                    CodedDemoLoad load = new CodedDemoLoad(space);
                    CodedSession other = space.openSession()) {
                load.fill();
                check.on(load, other);
            }
        }
    }

    private static void invert(CodedSession session, long at, int count) {
        byte[] bytes = new byte[count];
        MemorySegment memory = MemorySegment.ofArray(bytes);
        assertEquals(CodedStatus.OK, session.readBlocking(at, memory, 0, count));
        for (int i = 0; i < count; i++) {
            bytes[i] = (byte) ~bytes[i];
        }
        assertEquals(CodedStatus.OK, session.writeBlocking(at, memory, 0, count));
    }

    private static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, "waited too long");
            Thread.yield();
        }
    }

    @Test
    void wrongBytesAreCounted() {
        withLoad((load, other) -> {
            assertEquals(new CodedDemoLoad.Verdict(0, -1), load.verify(PIECE));
            invert(other, 40_007, 1);
            invert(other, 3 * PIECE - 1, 2);
            invert(other, REGION_BYTES - 1, 1);
            CodedDemoLoad.Verdict verdict = load.verify(PIECE);
            assertEquals(new CodedDemoLoad.Verdict(4, 3 * PIECE - 1), verdict);
            assertEquals(verdict, load.verify(PIECE / 4));
        });
    }

    @Test
    void readersNoticeAWrongLine() {
        withLoad((load, other) -> {
            load.start(1);
            await(() -> load.reads() > 100 && load.writes() > 100);
            assertNull(load.trouble());
            await(() -> {
                // The demo's writer may overwrite the line before its reader reads it, so invert it again.
                invert(other, LINE, 1);
                return load.trouble() != null;
            });
            assertTrue(load.stop(PATIENCE));
            assertTrue(
                    String.valueOf(load.trouble()).contains("returned bytes that were never written"), load::trouble);
        });
    }

    @Test
    void afterALoadTheCopyIsTheSpace() {
        withLoad((load, other) -> {
            load.start(2);
            await(() -> load.reads() > 1000 && load.writes() > 1000);
            assertTrue(load.stop(PATIENCE));
            assertNull(load.trouble());
            assertEquals(new CodedDemoLoad.Verdict(0, -1), load.verify(PIECE));
            assertNotNull(load.readTimes());
        });
    }
}
