package io.farheap.cache;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.farheap.remote.RemoteRegion;
import io.farheap.remote.RemoteServer;
import io.farheap.remote.ServerEnd;
import io.farheap.thread.OwnerGate;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Where an error strikes while a session's gate is claimed, its thread comes in again all the same. */
class ServerLinksTest {

    private final OwnerGate gate = new OwnerGate();
    private final Broken links = new Broken(gate);

    private static final class Broken extends ServerLinks<ServerEnd> {

        Broken(OwnerGate gate) {
            super(Links.NONE, gate);
        }

        @Override
        ServerEnd open(RemoteServer server) {
            return null;
        }

        @Override
        void use(int server, ServerEnd end) {}

        @Override
        void remove(int server, ServerEnd end) {}

        @Override
        void finish(ServerEnd end) {}

        @Override
        boolean usable(int server) {
            return false;
        }

        @Override
        boolean idle(int server) {
            return true;
        }

        @Override
        void fail(int server) {}

        @Override
        boolean failed(ServerEnd end) {
            return false;
        }

        @Override
        Drain beginDrain(RemoteRegion region) {
            return Drain.DONE;
        }

        @Override
        boolean endsDrain(int server) {
            return true;
        }
    }

    private void awaitEntered() throws InterruptedException {
        Thread owner = Thread.ofPlatform().daemon().start(() -> {
            gate.enter();
            gate.exit();
        });
        owner.join(TimeUnit.SECONDS.toMillis(60));
        assertFalse(owner.isAlive(), "the session's thread is kept out");
    }

    /** A server that is none stands for whatever goes wrong there. */
    @Test
    void whileAnEndIsAdded() throws Exception {
        assertThrows(NullPointerException.class, () -> links.connect(null));
        awaitEntered();
    }

    @Test
    void whileAnEndIsLookedAt() throws Exception {
        assertThrows(NullPointerException.class, () -> links.ensure(null));
        awaitEntered();
    }
}
