package io.farheap.remote;

import io.farheap.lifetime.CloseStack;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.thread.ThreadJoiner;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The queues that are open on a process's remote memory. What concerns all of them is asked of each in turn, inside its
 * gate. Any thread but an owner inside its gate.
 */
final class OpenQueues {

    private final List<OwnedQueue> queues = new CopyOnWriteArrayList<>();

    void add(OwnedQueue queue) {
        queues.add(queue);
    }

    /** @return whether it was there */
    boolean remove(OwnedQueue queue) {
        return queues.remove(queue);
    }

    /** Connects those of one-sided operations to a server, but for those that have a connection. */
    void join(RemoteServer server) {
        for (OwnedQueue queue : queues) {
            if (queue instanceof RemoteQueue) {
                queue.join(server);
            }
        }
    }

    /**
     * What is under way to a server ends, and what is to come is refused. Each queue by itself: one whose owner is long
     * in a handler must not keep the others' operations waiting.
     */
    void lose(RemoteServer server) {
        List<Thread> losing = queues.stream()
                .map(queue -> Thread.ofVirtual().start(() -> queue.lose(server.index())))
                .toList();
        losing.forEach(ThreadJoiner::join);
    }

    /** Destroys the connections to a server that is not used any more. */
    void forget(RemoteServer server) {
        queues.forEach(queue -> queue.forget(server));
    }

    /**
     * From now on no operation begins on some regions.
     *
     * @throws IllegalStateException where one has not ended; they stay as they were
     */
    void withdraw(List<RemoteRegion> regions) {
        List<RemoteRegion> usable =
                regions.stream().filter(region -> region.usableBytes() > 0).toList();
        usable.forEach(region -> region.usable(false));
        for (OwnedQueue queue : queues) {
            RemoteRegion used = queue.used(regions);
            if (used != null) {
                usable.forEach(region -> region.usable(true));
                throw new IllegalStateException(
                        "an operation that uses " + used + " has not ended; poll its queue until it has");
            }
        }
    }

    /**
     * From now on no operation begins with a buffer.
     *
     * @throws IllegalStateException where one has not ended; it stays as it was
     */
    void withdraw(RegisteredBuffer buffer) {
        buffer.usable(false);
        for (OwnedQueue queue : queues) {
            if (queue.usesNow(buffer)) {
                buffer.usable(true);
                throw new IllegalStateException(
                        "an operation that uses the buffer has not ended; poll its queue until it has");
            }
        }
    }

    /** Shuts all of them, and has a stack free each. */
    void closeWith(CloseStack stack) {
        queues.forEach(queue -> stack.add(queue::free));
        queues.forEach(OwnedQueue::shut);
    }
}
