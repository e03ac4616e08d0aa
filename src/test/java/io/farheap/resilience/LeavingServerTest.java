package io.farheap.resilience;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.resilience.contract.Resilience;
import io.farheap.resilience.keeper.SlabPlacement;
import io.farheap.resilience.table.SlabTable;
import io.farheap.resilience.table.SpaceState;
import io.farheap.testing.Fields;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** A server that is retired while slabs are regenerated: it keeps no slab, and gets none. */
class LeavingServerTest {

    private static final Resilience CODE = Resilience.failureRecovery(2, 2);

    /** A space with no slab on the first server, which is therefore the first choice for a new slab. */
    private static CodedSpace space(CodedServers servers, Function<RemoteServer, String> domains) {
        RemoteRegion taken =
                servers.memory.allocate(servers.attached.getFirst(), 1).getFirst();
        CodedSpace space = CodedSpace.create(servers.memory, CODE, 1, domains);
        servers.memory.release(taken);
        assertEquals(0, space.slabsAt(servers.attached.getFirst()));
        return space;
    }

    /** The keeper has chosen the server for a slab that is not in the table yet. */
    @Test
    void aSlabThatIsBeingPlacedThereLeavesToo() throws InterruptedException {
        try (CodedServers servers = new CodedServers(6, 1)) {
            RemoteServer leaves = servers.attached.getFirst();
            RemoteServer other = servers.attached.getLast();
            CountDownLatch chosen = new CountDownLatch(1);
            CountDownLatch goOn = new CountDownLatch(1);
            AtomicReference<RemoteServer> stopAt = new AtomicReference<>();
            // The keeper asks for the last server's domain after it has found that the first may have the slab.
            Function<RemoteServer, String> domains = server -> {
                if (server == stopAt.get() && isPlacing()) {
                    chosen.countDown();
                    awaitQuietly(goOn);
                }
                return server.address();
            };
            try (CodedSpace space = space(servers, domains)) {
                stopAt.set(other);
                space.giveUp(space.slab(0, 1));
                chosen.await();
                AtomicReference<Throwable> refused = new AtomicReference<>();
                Thread retires = Thread.ofPlatform()
                        .uncaughtExceptionHandler((_, e) -> refused.set(e))
                        .start(() -> space.retire(leaves, () -> {}));
                CodedServers.await(
                        "it is retired, or waits",
                        () -> !retires.isAlive() || retires.getState() == Thread.State.WAITING);
                stopAt.set(null);
                goOn.countDown();
                retires.join();
                assertNull(refused.get());
                CodedServers.await("all slabs are good", () -> space.health().whole());
                assertEquals(0, space.slabsAt(leaves));
                CodedServers.await("its memory is free", () -> servers.freeRegions(0) == 1);
            } finally {
                goOn.countDown();
            }
        }
    }

    private static boolean isPlacing() {
        return StackWalker.getInstance()
                .walk(frames -> frames.anyMatch(frame -> frame.getClassName().equals(SlabPlacement.class.getName())
                        && frame.getMethodName().equals("take")));
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The range is lost, and its slabs have no successors: its servers may leave, and so take their memory back. */
    @Test
    void whatIsLostKeepsNoServer() {
        try (CodedServers servers = new CodedServers(3, 1);
                CodedSpace space = servers.space(Resilience.failureRecovery(2, 1), 1)) {
            SlabTable table = Fields.get(Fields.get(space, "space", SpaceState.class), "table", SlabTable.class);
            RemoteServer missed = space.slab(0, 0).region().server();
            RemoteServer good = space.slab(0, 2).region().server();
            table.makeVoid(space.slab(0, 0));
            table.makeVoid(space.slab(0, 1));
            for (RemoteServer server : List.of(missed, good)) {
                space.retire(server, () -> {});
                assertEquals(0, space.slabsAt(server));
                servers.memory.detach(server);
                CodedServers.await("its memory is free", () -> servers.freeRegions(servers.indexOf(server)) == 1);
            }
            assertEquals(3, space.health().voidSlabs());
        }
    }

    /** The content is gone, so a listener of the loss must not receive that there was none. */
    @Test
    void aLostServerCountsItsSlabsOfLostRanges() {
        try (CodedServers servers = new CodedServers(3, 1);
                CodedSpace space = servers.space(Resilience.failureRecovery(2, 1), 1)) {
            SlabTable table = Fields.get(Fields.get(space, "space", SpaceState.class), "table", SlabTable.class);
            table.makeVoid(space.slab(0, 0));
            table.makeVoid(space.slab(0, 1));
            for (RemoteServer server : servers.attached) {
                assertEquals(1, space.lostWith(server));
                assertEquals(0, space.slabsAt(server));
            }
        }
    }

    /** A retired server is detached next: a slab that came in between would be lost. */
    @Test
    void noSlabComesToAServerThatHasBeenRetired() {
        try (CodedServers servers = new CodedServers(6, 1);
                CodedSpace space = space(servers, RemoteServer::address)) {
            RemoteServer left = servers.attached.getFirst();
            space.retire(left, () -> {});
            for (int split = 0; split < 4; split++) {
                long before = split;
                space.giveUp(space.slab(0, split));
                CodedServers.await("the slab is made anew", () -> space.health().regenerated() > before);
                assertEquals(0, space.slabsAt(left));
            }
        }
    }
}
