package io.farheap.kv.space;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.kv.format.SpaceShape;
import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.remote.QueueOptions;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.contract.CompletionHandler;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;

/** The words with the number of the last session on a map's servers. One thread. */
final class SessionWords implements CounterWords, AutoCloseable {

    private final SpaceMemory space;
    private final RemoteServer first;
    private final RemoteQueue queue;
    /** The old word of each server. */
    private final KeptBuffer kept;

    SessionWords(RemoteMemory memory, SpaceMemory space) {
        this.space = space;
        first = space.region(0).server();
        try (CloseStack stack = new CloseStack()) {
            kept = stack.add(
                    new KeptBuffer(memory, (long) Long.BYTES * space.layout().madeOn()));
            queue = stack.add(memory.openQueue(QueueOptions.DEFAULT.withDepth(1)));
            stack.keep();
        }
    }

    @Override
    public int first() {
        return space.layout().serverOfTable(0);
    }

    @Override
    public int servers() {
        return space.layout().madeOn();
    }

    @Override
    public boolean reaches(int server) {
        return !space.layout().hasLeft(server) && region(server).server().lost() == null;
    }

    /** Whether the process has held the first server's lease until now, by its clock. */
    boolean holdsFirst() {
        return first.lost() == null && first.heldUntil() - System.nanoTime() > 0;
    }

    @Override
    public int add() {
        return queue.fetchAndAdd(space.region(0), SpaceShape.SESSION_COUNTER, 1, kept.buffer(), at(first()), first());
    }

    @Override
    public int swap(int server, long compare, long value) {
        return queue.compareAndSwap(
                region(server), SpaceShape.SESSION_COUNTER, compare, value, kept.buffer(), at(server), server);
    }

    @Override
    public void reconnect(int server) {
        queue.reconnect(region(server).server(), RECONNECTS | server);
    }

    @Override
    public long old(int server) {
        return kept.buffer().segment().get(JAVA_LONG, at(server));
    }

    @Override
    public int poll(CompletionHandler handler) {
        return queue.poll(handler);
    }

    @Override
    public void await(long nanos) {
        queue.await(nanos);
    }

    /** The first region that a server has had. */
    private RemoteRegion region(int server) {
        return server == first() ? space.region(0) : space.region(server);
    }

    private static long at(int server) {
        return (long) server * Long.BYTES;
    }

    @Override
    public void close() {
        Closeables.all(queue, kept);
    }
}
