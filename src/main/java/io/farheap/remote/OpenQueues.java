package io.farheap.remote;

import io.farheap.lifetime.CloseStack;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.thread.ThreadJoiner;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The queues that are open on a process's remote memory. A change that concerns all of them is made to one after the
 * other, with its gate claimed. Any thread may call, except an owner inside its gate.
 */
final class OpenQueues {

    private final List<OwnedQueue> queues = new CopyOnWriteArrayList<>();

    void add(OwnedQueue queue) {
        queues.add(queue);
    }

    /** @return whether it was open */
    boolean remove(OwnedQueue queue) {
        return queues.remove(queue);
    }

    /** Connects the queues of one-sided operations to a server, except those that have a connection. */
    void join(RemoteServer server) {
        for (OwnedQueue queue : queues) {
            if (queue instanceof RemoteQueue) {
                queue.join(server);
            }
        }
    }

    /**
     * Fails the connections to a server: operations in flight end, and later ones are refused. Each queue has a thread
     * of its own here, so that a queue whose owner is long in a handler does not delay the others.
     */
    void lose(RemoteServer server) {
        List<Thread> losing = queues.stream()
                .map(queue -> Thread.ofVirtual().start(() -> queue.lose(server.index())))
                .toList();
        losing.forEach(ThreadJoiner::join);
    }

    /** Destroys the connections to a server that is no longer used. */
    void forget(RemoteServer server) {
        queues.forEach(queue -> queue.forget(server));
    }

    /**
     * Makes regions unusable: no operation on them begins any more.
     *
     * @throws IllegalStateException if an operation on one has not ended; the regions then stay usable
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
     * Makes a buffer unusable: no operation with it begins any more.
     *
     * @throws IllegalStateException if an operation with it has not ended; the buffer then stays usable
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

    /** Shuts all queues now, and adds the freeing of each to a stack. */
    void closeWith(CloseStack stack) {
        queues.forEach(queue -> stack.add(queue::free));
        queues.forEach(OwnedQueue::shut);
    }
}
