package io.farheap.kv.keeper;

import io.farheap.kv.blocks.KeeperWakeup;
import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.contract.MapException;
import io.farheap.thread.Uninterruptibles;
import io.farheap.time.TimeLimit;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Tasks of other threads for a map's keeper, whose thread makes all calls. Any thread, except {@link #run}. */
public final class MapKeeperTasks implements AutoCloseable {

    private static final long ASK_NANOS = TimeLimit.of(TimeUnit.SECONDS.toNanos(30));
    private static final long ASK_AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final KeeperWakeup keeper;
    private final Queue<Task> asked = new ConcurrentLinkedQueue<>();
    private volatile boolean closed;

    /** @param answer is completed when the task has run, and cancelled if it never will */
    private record Task(Runnable what, CompletableFuture<?> answer) {}

    MapKeeperTasks(KeeperWakeup keeper) {
        this.keeper = keeper;
    }

    /** Runs the tasks. The keeper's thread. @return whether there were any */
    boolean run() {
        boolean any = false;
        for (Task task = asked.poll(); task != null; task = asked.poll()) {
            task.what.run();
            any = true;
        }
        return any;
    }

    /** Adds a task, and does not wait for it. */
    void add(Runnable what) {
        add(new Task(what, new CompletableFuture<>()));
    }

    private void add(Task task) {
        asked.add(task);
        keeper.ring();
    }

    /**
     * Lets the keeper run a task, and waits for its result.
     *
     * @throws IllegalStateException if the map is closed, or the task failed
     */
    public <T> T ask(Callable<T> what) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        Runnable call = () -> {
            try {
                answer.complete(what.call());
            } catch (Throwable e) {
                answer.completeExceptionally(e);
            }
        };
        Task task = new Task(call, answer);
        add(task);
        // A thread that closes looks at the queue after setting closed, so either it or this thread sees the other's
        // store.
        if (closed && asked.remove(task)) {
            throw isClosed();
        }
        try {
            return answer.get(ASK_NANOS, TimeUnit.NANOSECONDS);
        } catch (CancellationException e) {
            throw isClosed();
        } catch (ExecutionException e) {
            throw new IllegalStateException("a map's keeper failed", e);
        } catch (TimeoutException e) {
            throw MapException.of(KvStatus.LOST);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new MapException(
                    "this thread was interrupted while a server was asked: whether it took effect is not known");
        }
    }

    /**
     * Lets the keeper call a server, repeatedly until it gives the result that is wanted.
     *
     * @param call is empty if there is no such result yet
     */
    public <T> T ask(MapServiceClient line, Callable<Optional<T>> call) {
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
            Uninterruptibles.parkNanos(this, ASK_AGAIN_NANOS);
        }
    }

    private static IllegalStateException isClosed() {
        return new IllegalStateException("the map is closed");
    }

    /** Cancels the remaining tasks. After {@link #close}. */
    void abandon() {
        for (Task task = asked.poll(); task != null; task = asked.poll()) {
            task.answer.cancel(false);
        }
    }

    /** Accepts no more tasks, since the keeper is about to end. */
    @Override
    public void close() {
        closed = true;
        keeper.ring();
    }
}
