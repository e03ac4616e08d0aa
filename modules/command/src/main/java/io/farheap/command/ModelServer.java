package io.farheap.command;

import io.farheap.measure.LateOperations;
import io.farheap.measure.MeasuredCache;
import io.farheap.thread.Idle;
import io.farheap.verbs.Devices;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The memory server that a model is measured with: one that is given or, where none is, one that is started on this
 * host when its address is wanted. One thread at a time.
 */
public final class ModelServer implements AutoCloseable {

    /** Long: where threads spin on all cores, who renews it may have to wait. */
    private static final String LEASE = "60s";

    private final @Nullable String given;
    private @Nullable ServerProcess started;

    /** @param given HOST:PORT */
    public ModelServer(@Nullable String given) {
        this.given = given;
    }

    /** HOST:PORT. */
    public String address() {
        if (given != null) {
            return given;
        }
        if (started == null) {
            started = ServerProcess.start(
                    Devices.library(),
                    "",
                    2 * MeasuredCache.CAPACITY,
                    MeasuredCache.CAPACITY,
                    LateOperations.environment(),
                    "--idle",
                    Idle.SPIN.name(),
                    "--lease",
                    LEASE);
        }
        return started.address();
    }

    /** This process and, where it has been started, the server's. */
    public List<ProcessHandle> processes() {
        return started == null
                ? List.of(ProcessHandle.current())
                : List.of(
                        ProcessHandle.current(), ProcessHandle.of(started.pid()).orElse(ProcessHandle.current()));
    }

    @Override
    public void close() {
        if (started != null) {
            started.close();
        }
    }
}
