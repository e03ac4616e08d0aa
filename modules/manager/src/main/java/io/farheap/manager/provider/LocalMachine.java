package io.farheap.manager.provider;

import io.farheap.command.ServerProcess;
import io.farheap.verbs.Devices;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A memory server in a process of its own. It notifies the listener on the clock's thread, in order. */
final class LocalMachine implements Machine {

    private final MachineOffer lot;
    private final double lifeMillis;
    private final String device;
    private final ScheduledExecutorService clock;
    private final ExecutorService waits;
    private final ServerProvider.Listener listener;
    private final Consumer<LocalMachine> gone;
    private final CompletableFuture<String> address = new CompletableFuture<>();
    /** Null until it serves. Guarded by this, as are the fields below. */
    private @Nullable ServerProcess process;
    /** The server was asked to leave, will be asked as soon as it serves, or has ended. */
    private boolean leaving;

    private boolean closed;

    /**
     * @param lifeMillis time from when it serves, after which the machine is taken back; infinite if it never is
     * @param clock runs notifications of the listener, and timers
     * @param waits runs tasks that may wait for the process
     * @param gone called when nothing of the machine is left
     */
    LocalMachine(
            MachineOffer lot,
            double lifeMillis,
            String device,
            ScheduledExecutorService clock,
            ExecutorService waits,
            ServerProvider.Listener listener,
            Consumer<LocalMachine> gone) {
        this.lot = lot;
        this.lifeMillis = lifeMillis;
        this.device = device;
        this.clock = clock;
        this.waits = waits;
        this.listener = listener;
        this.gone = gone;
    }

    @Override
    public MachineOffer lot() {
        return lot;
    }

    @Override
    public CompletionStage<String> address() {
        return address.minimalCompletionStage();
    }

    /** The machine does not start: fails {@link #address}. */
    void refuse(String why) {
        address.completeExceptionally(new IllegalStateException(why));
    }

    /** @param options of the {@code server} command, beside those that every process gets */
    void start(List<String> options) {
        waits.execute(() -> run(options));
    }

    private void run(List<String> options) {
        ServerProcess started;
        try {
            synchronized (this) {
                if (leaving) {
                    throw new IllegalStateException("it was to stop before it had started");
                }
            }
            started = ServerProcess.start(
                    Devices.library(),
                    device,
                    lot.regionBytes() * lot.regions(),
                    lot.regionBytes(),
                    Map.of(),
                    options.toArray(String[]::new));
        } catch (Throwable e) {
            gone.accept(this);
            refuse(
                    e.getCause() == null
                            ? e.toString()
                            : e.getMessage() + ": " + e.getCause().getMessage());
            return;
        }
        boolean stopped;
        boolean over;
        synchronized (this) {
            process = started;
            stopped = leaving;
            over = closed;
        }
        if (over) {
            started.close();
            refuse("the local servers were closed while it started");
            return;
        }
        address.complete(started.address());
        started.onExit().thenAccept(this::exited);
        if (stopped) {
            leave(started);
        } else if (lifeMillis < Long.MAX_VALUE) {
            later(this::reclaim, lifeMillis);
        }
    }

    /** Takes the machine back at the end of its life. */
    private void reclaim() {
        ServerProcess left;
        synchronized (this) {
            left = process;
            if (left == null || leaving) {
                return;
            }
            leaving = true;
        }
        leave(left);
        listener.reclaimed(this, Duration.ofMillis(lot.noticeMillis()));
    }

    private void leave(ServerProcess left) {
        left.leave();
        later(() -> waits.execute(left::kill), (double) lot.noticeMillis());
    }

    @Override
    public void stop() {
        ServerProcess left;
        synchronized (this) {
            if (leaving) {
                return;
            }
            leaving = true;
            left = process;
        }
        if (left != null) {
            leave(left);
        }
    }

    private void exited(int status) {
        boolean expected;
        synchronized (this) {
            expected = leaving;
            leaving = true;
            if (closed) {
                return;
            }
        }
        gone.accept(this);
        later(
                () -> {
                    if (expected) {
                        listener.ended(this);
                    } else {
                        listener.failed(this, "its process has ended with status " + status);
                    }
                },
                0);
    }

    private void later(Runnable action, double millis) {
        try {
            clock.schedule(action, (long) millis, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            // The provider is being closed.
        }
    }

    /** Ends the process and waits for that. A process that is still starting is ended as soon as it has started. */
    void close() {
        ServerProcess last;
        synchronized (this) {
            closed = true;
            leaving = true;
            last = process;
        }
        if (last != null) {
            last.close();
        }
    }
}
