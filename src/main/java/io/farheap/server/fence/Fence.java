package io.farheap.server.fence;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;

/**
 * Closes the resources through which some memory can be reached, in stages: a stage begins when all of the stage before
 * is closed. The device may be in the middle of an operation of a client that is stopped (SIGSTOP, a debugger). Then
 * closing fails with EBUSY, the resource accepts no new operation, and the next {@link #close} tries again. Each
 * resource must therefore allow being closed twice. Thread-safe.
 */
public final class Fence {

    private static final System.Logger LOG = System.getLogger(Fence.class.getName());

    private record Piece(String what, AutoCloseable resource) {}

    private final String owner;
    private final Deque<Deque<Piece>> stages = new ArrayDeque<>();
    private boolean tried;
    private boolean failed;

    /**
     * A fence without resources.
     *
     * @param owner for the log
     */
    public Fence(String owner) {
        this.owner = owner;
        stages.add(new ArrayDeque<>());
    }

    /** Adds a resource to the current stage. */
    public synchronized void add(String what, AutoCloseable resource) {
        stages.getLast().add(new Piece(what, resource));
    }

    /** Begins a stage: resources that are added from now on are closed when all earlier ones are. */
    public synchronized void nextStage() {
        stages.add(new ArrayDeque<>());
    }

    /**
     * Tries to close all; takes bounded time. The first try of a stage tries all its resources, so that all of them
     * refuse new operations; a later try ends at the first resource that is still busy.
     *
     * @return whether all is closed; if false, the device is busy, and the caller tries again
     */
    public synchronized boolean close() {
        while (!stages.isEmpty()) {
            if (!close(stages.getFirst())) {
                tried = true;
                return false;
            }
            stages.removeFirst();
            tried = false;
        }
        return true;
    }

    private boolean close(Deque<Piece> stage) {
        for (Iterator<Piece> pieces = stage.iterator(); pieces.hasNext(); ) {
            if (closed(pieces.next())) {
                pieces.remove();
            } else if (tried) {
                return false;
            }
        }
        return stage.isEmpty();
    }

    private boolean closed(Piece piece) {
        try {
            return RetiredResources.closed(piece.resource);
        } catch (Exception e) {
            failed = true;
            LOG.log(
                    System.Logger.Level.ERROR,
                    "cannot close " + piece.what + " of " + owner + "; the regions it reaches are withdrawn",
                    e);
            return true;
        }
    }

    /** Whether a resource could not be closed for good: the memory that it reaches must not be granted again. */
    public synchronized boolean failed() {
        return failed;
    }
}
