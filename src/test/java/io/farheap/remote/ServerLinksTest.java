package io.farheap.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.farheap.control.ControlException;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.server.LeasedServer;
import io.farheap.remote.server.ServerLinks;
import io.farheap.remote.server.ServerRing;
import io.farheap.rpc.RingShape;
import io.farheap.testing.Fields;
import io.farheap.testing.StoppedPlane;
import io.farheap.testing.TestDevice;
import io.farheap.thread.OwnerGate;
import io.farheap.verbs.CompletionChannel;
import io.farheap.verbs.Context;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Links whose server is stopped, or whose owner throws. */
@Timeout(120)
class ServerLinksTest {

    private static final int ECHO = 0;

    private final StoppedPlane plane = new StoppedPlane();
    private final TestServers servers = TestServers.behind(plane::before, 2, 2);
    private final RemoteMemory memory = RemoteMemory.open(TestDevice.client(), "links");
    private final RemoteServer server = memory.attach(servers.address(0));
    private final OwnerGate gate = new OwnerGate();
    private final CompletionChannel channel = memory.context().createCompletionChannel();
    private final Rings owner = new Rings();
    private final ServerLinks<ServerRing> links = new ServerLinks<>(owner, gate);
    private final AtomicInteger asked = new AtomicInteger();
    private final CountDownLatch letGo = new CountDownLatch(1);

    private final class Rings implements ServerLinks.Owner<ServerRing> {

        private boolean broken;
        private boolean taken = true;
        private int left;
        private int ended;
        private ServerRing used;

        @Override
        public ServerRing open(RemoteServer to) {
            return LeasedServer.of(to).connectRing(memory.context(), channel, new RingShape(1, 1, 64, true), 1, 0);
        }

        @Override
        public void use(RemoteServer to, ServerRing made) {
            if (broken) {
                throw new IllegalStateException("injected");
            }
            used = made;
        }

        @Override
        public void leave(RemoteServer to, ServerRing end) {
            end.connection().fail();
            left += end.isOver() ? 0 : 1;
            use(to, end);
        }

        @Override
        public void fail(RemoteServer to) {}

        @Override
        public boolean hasTaken(ServerRing end) {
            return taken;
        }

        @Override
        public void ended(ServerRing end) {
            ended++;
        }
    }

    @AfterEach
    void close() {
        letGo.countDown();
        links.close();
        links.closed().join();
        channel.close();
        memory.close();
        servers.close();
    }

    /** Stops a server: it destroys none of its ends, and the device keeps the rings in use until {@link #letGo}. */
    private void stop(RemoteServer stopped) {
        plane.stop(asked::incrementAndGet);
        LeasedServer.of(stopped).closeLate(letGo::await);
    }

    private void awaitEntered() throws InterruptedException {
        Thread inside = Thread.ofPlatform().daemon().start(() -> {
            gate.enter();
            gate.exit();
        });
        inside.join(TimeUnit.SECONDS.toMillis(60));
        assertFalse(inside.isAlive(), "the owner's thread is kept out");
    }

    @Test
    void anErrorWhileTheGateIsClaimedKeepsTheOwnerOutNoLonger() throws Exception {
        owner.broken = true;
        assertThrows(IllegalStateException.class, () -> links.connect(server));
        awaitEntered();
        owner.broken = false;
        assertTrue(links.connect(server));
        owner.broken = true;
        assertThrows(IllegalStateException.class, () -> links.forget(server));
        awaitEntered();
        owner.broken = false;
    }

    @Test
    void whatCouldNotBeUsedIsLeftAndClosed() {
        owner.broken = true;
        assertThrows(IllegalStateException.class, () -> links.connect(server));
        owner.broken = false;
        assertEquals(1, owner.left);
        assertEquals(1, owner.ended);
        BooleanSupplier wanted = () -> {
            throw new IllegalStateException("injected");
        };
        assertThrows(IllegalStateException.class, () -> links.connect(server, wanted));
        assertEquals(1, owner.left);
        assertEquals(2, owner.ended);
    }

    @Test
    void whatIsNotWantedAnyMoreIsNotUsed() {
        owner.broken = true;
        assertFalse(links.connect(server, () -> false));
        owner.broken = false;
        assertTrue(links.connect(server));
        links.shut();
        assertFalse(links.connect(server));
    }

    @Test
    void aServerThatWasAbandonedIsNotConnectedAgain() {
        assertTrue(links.connect(server));
        ServerRing old = owner.used;
        links.abandon(server);
        assertEquals(1, owner.ended);
        assertFalse(links.connect(server));
        int[] ran = {0};
        links.ensure(server, () -> ran[0]++);
        assertEquals(1, ran[0]);
        assertSame(old, owner.used, "another end was made");
        assertTrue(links.connect(memory.attach(servers.address(1))));
    }

    @Test
    void whatIsForgottenIsClosedWhenItsServerLetsGo() {
        links.connect(server);
        stop(server);
        links.forget(server);
        assertEquals(1, asked.get());
        assertFalse(links.closed().isDone());
        links.close();
        assertFalse(links.closed().isDone());
        letGo.countDown();
        links.closed().join();
    }

    @Test
    void whatWasAnsweredIsTakenBeforeItsMemoryIsFreed() {
        links.connect(server);
        stop(server);
        owner.taken = false;
        links.forget(server);
        assertEquals(1, asked.get());
        assertTrue(links.closed().isDone(), "it is closed, with answers in it");
        owner.taken = true;
        RemoteServer another = memory.attach(servers.address(1));
        links.connect(another);
        links.forget(another);
        assertFalse(links.closed().isDone());
    }

    /** A server that does not answer is asked again by the next fence. */
    @Test
    void whatIsFencedIsLeftFirst() {
        links.connect(server);
        links.fence(server);
        assertEquals(1, owner.left);
        links.fence(server);
        assertEquals(1, owner.left);
        assertTrue(links.connect(server));
        stop(server);
        assertThrows(ControlException.class, () -> links.fence(server));
        assertThrows(ControlException.class, () -> links.fence(server));
        assertEquals(2, asked.get());
        assertEquals(3, owner.left);
    }

    /** A close without the server's answer fences nothing, so a later fence asks the server. */
    @Test
    void whatIsClosedCanBeFencedYet() {
        links.connect(server);
        stop(server);
        links.close();
        assertThrows(ControlException.class, () -> links.fence(server));
        assertThrows(ControlException.class, () -> links.fenceFailed(server));
    }

    /** The server does not destroy the old end, and would make another: an old WRITE could land over a newer one. */
    @Test
    void noEndTakesThePlaceOfOneThatIsNotFenced() {
        links.connect(server);
        ServerRing old = owner.used;
        gate.claimed(() -> old.connection().fail());
        stop(server);
        for (int i = 1; i <= 2; i++) {
            assertThrows(ControlException.class, () -> links.ensure(server, () -> fail("the old end is not fenced")));
            assertEquals(i, asked.get());
            assertSame(old, owner.used);
        }
        assertEquals(0, owner.left, "operations of the old end are lost, and may still take effect");
    }

    /** INTERNAL would stand for a defect, and end what the client does; the end may be gone in a moment. */
    @Test
    void anEndThatAServerOfAnEarlierReleaseDoesNotReleaseYetIsUnavailable() {
        links.connect(server);
        ServerRing old = owner.used;
        gate.claimed(() -> old.connection().fail());
        plane.stop(asked::incrementAndGet, ControlException.Code.INTERNAL);
        ControlException refused = assertThrows(ControlException.class, () -> links.ensure(server, () -> {}));
        assertEquals(ControlException.Code.UNAVAILABLE, refused.code());
        assertEquals(1, asked.get());
    }

    @Test
    void aQueueThatIsClosedIsNotFencedByAServerThatIsSilent() {
        RemoteQueue queue = memory.openQueue(QueueOptions.DEFAULT);
        stop(server);
        queue.links().close();
        assertThrows(CompletionException.class, queue.links().fenceInTurn(server)::join);
    }

    /** A close of a queue does not wait for its server, and what the queue has posted may still take effect then. */
    @Test
    void aQueueThatWasClosedIsFencedOnceItsServerAnswers() {
        RemoteQueue queue = memory.openQueue(QueueOptions.DEFAULT);
        stop(server);
        queue.close();
        assertThrows(CompletionException.class, queue.fence(server)::join);
        int before = asked.get();
        plane.resume();
        queue.fence(server).join();
        queue.fence(server).join();
        assertTrue(before > 1, "the server was not asked again");
    }

    /** Each fence ends, also the second one, which is asked for while no thread can make the first. */
    @Test
    void aQueueOfClosedMemoryIsNotFenced() {
        try (RemoteMemory another = RemoteMemory.open(TestDevice.client(), "fences")) {
            RemoteServer attached = another.attach(servers.address(0));
            RemoteQueue queue = another.openQueue(QueueOptions.DEFAULT);
            another.close();
            for (int i = 0; i < 2; i++) {
                assertThrows(CompletionException.class, queue.fence(attached)::join);
            }
        }
    }

    @Test
    void aQueueForgetsAStoppedServer() throws Exception {
        try (RemoteMemory another = RemoteMemory.open(TestDevice.client(), "queue")) {
            RemoteServer stopped = another.attach(servers.address(0));
            RemoteServer going = another.attach(servers.address(1));
            RemoteRegion region = another.allocate(going, 1).getFirst();
            RemoteQueue queue = another.openQueue(QueueOptions.DEFAULT);
            RegisteredBuffer buffer = another.register(64);
            forget(another, stopped, queue);
            assertFalse(queue.connected(stopped));
            assertEquals(PostResult.OK, queue.read(region, 0, buffer, 0, 8, 1));
            assertEquals(Tags.done(1), new Tags().await(queue, 1).getLast());
            closesWhenItsServerLetsGo(another);
        }
    }

    @Test
    void aQueueOfCallsForgetsAStoppedServer() throws Exception {
        servers.register(ECHO, (held, arguments, reply) -> 0);
        try (RemoteMemory another = RemoteMemory.open(TestDevice.client(), "calls")) {
            RemoteServer stopped = another.attach(servers.address(0));
            RemoteServer going = another.attach(servers.address(1));
            RpcQueue queue = another.openRpcQueue(RpcOptions.DEFAULT);
            RegisteredBuffer buffer = another.register(4096);
            forget(another, stopped, queue);
            assertFalse(queue.connected(stopped));
            assertEquals(PostResult.OK, queue.call(going, ECHO, buffer, 0, 8, 64, 8, 1));
            while (queue.poll((tag, outcome, bytes) -> assertEquals(Outcome.DONE, outcome)) == 0) {
                queue.await(TimeUnit.MILLISECONDS.toNanos(1));
            }
            closesWhenItsServerLetsGo(another);
        }
    }

    /** Detaches a stopped server; the queue's owner is not kept out while the server is asked. */
    private void forget(RemoteMemory from, RemoteServer stopped, OwnedQueue queue) {
        AtomicInteger keptOut = new AtomicInteger();
        plane.stop(() -> {
            asked.incrementAndGet();
            keptOut.addAndGet(Fields.get(queue.gate, "claimed", Boolean.class) ? 1 : 0);
        });
        LeasedServer.of(stopped).closeLate(letGo::await);
        from.detach(stopped);
        assertTrue(asked.get() > 0, "nothing is fenced");
        assertEquals(0, keptOut.get());
    }

    private void closesWhenItsServerLetsGo(RemoteMemory closing) throws InterruptedException {
        Context context = closing.context();
        closing.close();
        assertFalse(context.ports().isEmpty(), "the device is closed, of which a ring is left");
        letGo.countDown();
        long deadline = System.nanoTime() + TestDevice.patience(60_000_000_000L);
        while (true) {
            try {
                context.ports();
            } catch (IllegalStateException e) {
                return;
            }
            assertTrue(System.nanoTime() - deadline < 0, "the device stays open");
            Thread.sleep(1);
        }
    }
}
