package io.farheap.kv.keeper;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.SpaceKey;
import io.farheap.control.grpc.ControlServer;
import io.farheap.control.plane.SpacePlane;
import io.farheap.kv.format.FakeMap;
import io.farheap.kv.format.MapCalls;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteSpace;
import io.farheap.server.MemoryServer;
import io.farheap.server.Planes;
import io.farheap.server.contract.ServerOptions;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.Softverbs;
import io.farheap.testing.TestDevice;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

@Needs(Need.SOFTVERBS)
class MapServiceClientTest {

    private static final long REGION_BYTES = 1 << 20;
    private static final long LEASE_NANOS = TestDevice.patience(30_000_000_000L);
    private static final long MILLI = 1_000_000;

    private long now;

    @AfterEach
    void heal() {
        Softverbs.set("qp_error_after=0");
    }

    private static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + TestDevice.patience(20_000_000_000L);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, "it has not come to that");
        }
    }

    private interface LineUser {
        /** @param answered calls the server, and returns whether it has answered */
        void use(MapServiceClient line, BooleanSupplier answered);
    }

    private void withLine(LineUser user) {
        try (MemoryServer server = MemoryServer.open(
                        new ServerOptions(REGION_BYTES, REGION_BYTES, LEASE_NANOS, TestDevice.server(), "calls"));
                ControlServer control = ControlServer.start("127.0.0.1:0", Planes.of(server));
                RemoteMemory memory = RemoteMemory.open(TestDevice.client(), "calls")) {
            RemoteSpace space = memory.createSpace(
                    memory.attach(control.address()),
                    SpaceKey.of("map", "not a secret"),
                    1,
                    SpacePlane.FOR_EVER,
                    FakeMap.descriptor(1, 1, REGION_BYTES).encode());
            try (MapServiceClient line = new MapServiceClient(memory, space, 0, () -> now)) {
                BooleanSupplier answered = () -> {
                    line.await(100_000);
                    return line.with(1, 7).callFirst(MapCalls.REGISTER, 2);
                };
                await(answered);
                user.use(line, answered);
            }
        }
    }

    /** A session whose keeper cannot call a server evicts objects meanwhile, so the back-off must begin short. */
    @Test
    void aConnectionThatFailsAgainIsMadeAgainAfter5Ms() {
        withLine((line, answered) -> {
            Softverbs.set("qp_error_after=1");
            // The call that the failure meets may still be answered.
            await(() -> !answered.getAsBoolean() && line.inVain() == 2);
            Softverbs.set("qp_error_after=0");
            assertFalse(answered.getAsBoolean(), "its back-off has not passed");
            now += 5 * MILLI;
            await(answered);
        });
    }

    /** Another call may learn first that the connection is back. A session that waits must not evict then. */
    @Test
    void theAnswerToAChangeIsLateUntilTheChangeIsSentAgain() {
        withLine((line, answered) -> {
            Softverbs.set("qp_error_after=1");
            await(() -> !line.changing(2, 0)
                            .changing(3, 1)
                            .changing(4, 0)
                            .changing(5, MapCalls.FIRST)
                            .changing(6, 1)
                            .change(MapCalls.TAKE, 7)
                    && line.unanswered());
            assertTrue(line.late());
            Softverbs.set("qp_error_after=0");
            await(() -> {
                now = line.inVain() * 5 * MILLI;
                return answered.getAsBoolean();
            });
            assertTrue(line.late(), "the change has not been sent again");
            await(() -> line.again() || !line.unanswered());
            assertFalse(line.unanswered());
            assertFalse(line.late());
        });
    }
}
