package io.farheap.remote.server;

import io.farheap.verbs.VerbsException;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Closes resources that a silent server may be in the middle of writing to. A device releases such memory only when the
 * server's process continues or dies, so a daemon thread retries until then; it lives as long as there is something to
 * close. Thread-safe.
 */
final class DeferredCloser {

    private static final System.Logger LOG = System.getLogger(DeferredCloser.class.getName());
    private static final long PAUSE_NANOS = 50_000_000;

    private record UnclosedResource(AutoCloseable resource, CompletableFuture<Void> closed) {}

    private final Queue<UnclosedResource> waiting = new ArrayDeque<>();
    private boolean running;

    /** @return completes, on that thread, when the resource is closed, or closing it has failed */
    synchronized CompletableFuture<Void> close(AutoCloseable resource) {
        UnclosedResource remains = new UnclosedResource(resource, new CompletableFuture<>());
        waiting.add(remains);
        if (!running) {
            running = true;
            Thread.ofPlatform().daemon().name("farheap-late-close").start(this::run);
        }
        return remains.closed();
    }

    private synchronized @Nullable UnclosedResource next() {
        UnclosedResource remains = waiting.poll();
        running = remains != null;
        return remains;
    }

    private void run() {
        for (UnclosedResource remains = next(); remains != null; remains = next()) {
            try {
                close(remains);
            } catch (Throwable e) {
                LOG.log(
                        System.Logger.Level.ERROR,
                        "memory that a silent server may write to cannot be closed, and leaks",
                        e);
            } finally {
                remains.closed().complete(null);
            }
        }
    }

    private static void close(UnclosedResource remains) throws Exception {
        while (true) {
            try {
                remains.resource().close();
                return;
            } catch (VerbsException e) {
                if (!e.busy()) {
                    throw e;
                }
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }
}
