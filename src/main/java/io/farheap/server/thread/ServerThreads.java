package io.farheap.server.thread;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.lifetime.Closeables;
import io.farheap.server.service.ServerService;
import io.farheap.thread.Cores;
import io.farheap.thread.ThreadAffinity;
import io.farheap.thread.idle.Idle;
import io.farheap.verbs.Context;
import java.util.ArrayList;
import java.util.List;

/**
 * The server's threads that serve message rings; each starts with its first ring, or when a service wants all of them.
 * Thread-safe.
 */
public final class ServerThreads implements AutoCloseable {

    private final Context context;
    private final int most;
    private final Idle idle;
    private final List<Integer> cores;
    private final Iterable<ServerService> services;
    private final List<ServerThread> threads = new ArrayList<>();
    private boolean closed;

    /**
     * @param most how many there may be
     * @param pinned whether each runs on a core of its own, if there are more cores than threads
     * @param services the services whose work they do besides their rings
     */
    public ServerThreads(Context context, int most, Idle idle, boolean pinned, Iterable<ServerService> services) {
        this.services = services;
        this.context = context;
        this.most = most;
        this.idle = idle;
        this.cores = pinned ? Cores.near(context.device().name()) : List.of();
    }

    public int most() {
        return most;
    }

    /**
     * The thread of a number, modulo the number of threads, or the next one that is alive.
     *
     * @throws ControlException INTERNAL if none is
     */
    public synchronized ServerThread thread(int number) {
        for (int i = 0; i < most; i++) {
            ServerThread thread = at(Math.floorMod(number + i, most));
            if (thread.alive()) {
                return thread;
            }
        }
        throw new ControlException(
                Code.INTERNAL,
                "all " + most + " server threads have ended with errors, which are "
                        + "in the server's log; restart the server, or use configurations without server threads");
    }

    /** Starts all threads; those without rings sleep. */
    public synchronized void startAll() {
        if (!closed) {
            at(most - 1);
        }
    }

    private ServerThread at(int index) {
        while (threads.size() <= index) {
            threads.add(new ServerThread(context, threads.size(), idle, core(threads.size()), services));
        }
        return threads.get(index);
    }

    /**
     * The cores from the last one down, so that the first one, which applications and interrupts tend to use, is taken
     * last.
     */
    private int core(int thread) {
        return cores.size() > thread + 1 ? cores.get(cores.size() - 1 - thread) : ThreadAffinity.ANY;
    }

    /** When it returns, no thread is executing a batch that it had begun before. */
    public void barrier() {
        List<ServerThread> running;
        synchronized (this) {
            running = List.copyOf(threads);
        }
        running.forEach(ServerThread::barrier);
    }

    /** Ends the threads, and keeps resources with which the device may still be busy. */
    public synchronized void stop() {
        closed = true;
        threads.forEach(ServerThread::stop);
    }

    @Override
    public synchronized void close() {
        closed = true;
        try {
            Closeables.all(threads);
        } finally {
            threads.clear();
        }
    }
}
