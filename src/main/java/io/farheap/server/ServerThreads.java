package io.farheap.server;

import io.farheap.verbs.Context;
import io.farheap.thread.Idle;
import io.farheap.thread.Cores;
import io.farheap.thread.Pinning;

import java.util.ArrayList;
import java.util.List;

/** The server's threads that serve message rings; each starts with its first ring. Thread-safe. */
final class ServerThreads implements AutoCloseable {

    private final Context context;
    private final int most;
    private final Idle idle;
    private final List<Integer> cores;
    private final List<ServerThread> threads = new ArrayList<>();

    /**
     * @param most   how many there may be
     * @param pinned whether each has a core of its own, where there are more cores than threads
     */
    ServerThreads(Context context, int most, Idle idle, boolean pinned) {
        this.context = context;
        this.most = most;
        this.idle = idle;
        this.cores = pinned ? Cores.near(context.device().name()) : List.of();
    }

    int most() {
        return most;
    }

    /** The thread of a number, which wraps around. */
    synchronized ServerThread thread(int number) {
        int index = Math.floorMod(number, most);
        while (threads.size() <= index) {
            threads.add(new ServerThread(context, threads.size(), idle, core(threads.size())));
        }
        return threads.get(index);
    }

    /** From the last core down, so that the first, where applications and interrupts tend to be, is taken last. */
    private int core(int thread) {
        return cores.size() > thread + 1 ? cores.get(cores.size() - 1 - thread) : Pinning.ANY;
    }

    /** When it returns, no thread is in the middle of a batch that it had begun before. */
    void barrier() {
        List<ServerThread> running;
        synchronized (this) {
            running = List.copyOf(threads);
        }
        running.forEach(ServerThread::barrier);
    }

    @Override
    public synchronized void close() {
        threads.forEach(ServerThread::close);
        threads.clear();
    }
}
