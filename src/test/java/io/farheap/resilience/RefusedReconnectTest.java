package io.farheap.resilience;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.plane.ControlPlane;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.resilience.contract.CodedStatus;
import io.farheap.resilience.contract.Health;
import io.farheap.resilience.contract.Resilience;
import io.farheap.resilience.session.CodedConnections;
import io.farheap.resilience.session.CodedSessionContext;
import io.farheap.resilience.table.SlabTable;
import io.farheap.resilience.table.SpaceState;
import io.farheap.testing.Fields;
import io.farheap.testing.PlaneProxy;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A connection has failed, and its server refuses the fence that the next one waits for. */
class RefusedReconnectTest {

    private static final int PAGE = 4096;
    /** Fewer than after which a server is taken for unreachable. */
    private static final int REFUSALS = 3;

    private static final Resilience CODE =
            Resilience.failureRecovery(2, 1).timeout(Duration.ofSeconds(60)).strict(true);

    private volatile boolean refusing;
    private final AtomicInteger refused = new AtomicInteger();
    private final CodedServers servers = CodedServers.behind(this::before, 4, 2);
    private final List<Integer> statuses = new ArrayList<>();

    private ControlPlane before(ControlPlane server) {
        return PlaneProxy.around(server, (method, arguments, rest) -> {
            if (refusing && method.equals("disconnect")) {
                refused.incrementAndGet();
                throw new ControlException(Code.UNAVAILABLE, "the connection has not ended yet");
            }
            return rest.call();
        });
    }

    @AfterEach
    void close() {
        servers.close();
    }

    private static byte[] bytes(int seed) {
        byte[] bytes = new byte[PAGE];
        new SplittableRandom(seed).nextBytes(bytes);
        return bytes;
    }

    private void awaitRefusals(CodedSession session, int count) {
        CodedServers.await("the fence is refused", () -> {
            session.poll();
            return refused.get() >= count;
        });
    }

    /** The server has kept its memory: regenerating its slab would read and write whole slabs. */
    @Test
    void aWriteWaitsForItsServerUntilItsTimeout() {
        try (CodedSpace space = servers.space(CODE, PAGE);
                CodedSession session = space.openSession()) {
            assertEquals(CodedStatus.OK, session.writeBlocking(0, MemorySegment.ofArray(bytes(1)), 0, PAGE));
            CodedSessionContext parts = Fields.get(session, "parts", CodedSessionContext.class);
            CodedConnections connections = Fields.get(parts, "lines", CodedConnections.class);
            SlabTable table = Fields.get(parts, "space", SpaceState.class).table;
            RemoteServer failed = table.slab(0, 1).region().server();
            refusing = true;
            connections.end(failed, parts.clock());
            awaitRefusals(session, 1);
            byte[] written = bytes(2);
            assertTrue(session.write(
                    0, MemorySegment.ofArray(written), 0, PAGE, (token, status) -> statuses.add(status), 1));
            awaitRefusals(session, REFUSALS);
            assertEquals(List.of(), statuses);
            assertEquals(0, space.health().voidSlabs());
            refusing = false;
            CodedServers.await("the write has ended", () -> {
                session.poll();
                return !statuses.isEmpty();
            });
            assertEquals(List.of(CodedStatus.OK), statuses);
            Health health = space.health();
            assertEquals(0, health.counts().voided() + health.regenerated() + health.voidSlabs());
            byte[] read = new byte[PAGE];
            assertEquals(CodedStatus.OK, session.readBlocking(0, MemorySegment.ofArray(read), 0, PAGE));
            assertArrayEquals(written, read);
        }
    }
}
