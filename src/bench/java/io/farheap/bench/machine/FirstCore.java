package io.farheap.bench.machine;

import io.farheap.thread.Cores;
import io.farheap.thread.ThreadAffinity;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A thread on the first core, for measurements: servers' threads begin with the last core. If both spin and the
 * scheduler puts a client on the server's core, each operation takes as long as a time slice. Threads and processes
 * that this thread starts inherit its core, so they have to be started by other threads.
 */
public final class FirstCore implements AutoCloseable {

    private final ExecutorService thread;

    /** @param device near which the cores are; {@link Cores#near} */
    public FirstCore(String device) {
        List<Integer> cores = Cores.near(device);
        int core = cores.size() > 1 ? cores.getFirst() : ThreadAffinity.ANY;
        thread = Executors.newSingleThreadExecutor(
                work -> Thread.ofPlatform().daemon().name("bench").unstarted(() -> {
                    ThreadAffinity.pin(core);
                    work.run();
                }));
    }

    /** @return the result of the work; its unchecked exceptions are thrown on */
    public <T> T run(Callable<T> work) {
        try {
            return thread.submit(work).get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            if (e.getCause() instanceof Error cause) {
                throw cause;
            }
            throw new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            thread.shutdownNow();
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while it was measured", e);
        }
    }

    /** As {@link #run(Callable)}. */
    public void run(Runnable work) {
        run(Executors.callable(work));
    }

    @Override
    public void close() {
        thread.close();
    }
}
