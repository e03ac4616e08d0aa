package io.farheap.kv;

import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

/** What other threads ask of a map's keeper, whose thread makes all calls. Any thread, but for {@link #run}. */
final class KeeperTasks implements AutoCloseable {

    private static final long ASK_NANOS = TimeUnit.SECONDS.toNanos(30) * Integer.getInteger("farheap.slowness", 1);
    private static final long ASK_AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final Bell keeper;
    private final Queue<Runnable> asked = new ConcurrentLinkedQueue<>();
    private volatile boolean closed;

    KeeperTasks(Bell keeper) {
        this.keeper = keeper;
    }

    /** Does what was asked for. The keeper's thread. @return whether there was anything */
    boolean run() {
        boolean any = false;
        for (Runnable task = asked.poll(); task != null; task = asked.poll()) {
            task.run();
            any = true;
        }
        return any;
    }

    /** Asks for something, and does not wait. */
    void add(Runnable task) {
        asked.add(task);
        keeper.ring();
    }

    /** Lets the keeper do something, and waits for it. */
    <T> T ask(Callable<T> what) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        add(() -> {
            try {
                answer.complete(what.call());
            } catch (Throwable e) {
                answer.completeExceptionally(e);
            }
        });
        try {
            return answer.get(ASK_NANOS, TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            throw new IllegalStateException("a map's keeper failed", e);
        } catch (TimeoutException e) {
            throw MapException.of(KvStatus.LOST);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw MapException.of(KvStatus.LOST);
        }
    }

    /**
     * Calls a server, again and again until it answers what is wanted.
     *
     * @param call says nothing where there is no such answer
     */
    <T> T ask(ServiceLine line, Callable<Optional<T>> call) {
        long deadline = System.nanoTime() + ASK_NANOS;
        for (Optional<T> answer = ask(call); ; answer = ask(call)) {
            if (answer.isPresent()) {
                return answer.get();
            }
            if (line.lost() || closed) {
                throw MapException.of(KvStatus.LOST);
            }
            if (System.nanoTime() - deadline > 0) {
                throw new MapException(line.space.server() + " has not answered within "
                        + TimeUnit.NANOSECONDS.toSeconds(ASK_NANOS) + " s, or a process that has the map open has not; "
                        + "try again later");
            }
            LockSupport.parkNanos(ASK_AGAIN_NANOS);
        }
    }

    /** The keeper is about to end. */
    @Override
    public void close() {
        closed = true;
        keeper.ring();
    }
}
