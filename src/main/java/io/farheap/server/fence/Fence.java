package io.farheap.server.fence;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;

/**
 * Closes what reaches some memory, in stages: a stage begins when all of the one before is closed. The device may be in
 * the middle of an operation of a client that is stopped (SIGSTOP, a debugger): then closing says EBUSY, what is closed
 * takes no new operation, and the next {@link #close} tries again. Every resource must therefore be one that may be
 * closed twice. Thread-safe.
 */
public final class Fence {

    private static final System.Logger LOG = System.getLogger(Fence.class.getName());

    private record Piece(String what, AutoCloseable resource) {}

    private final String owner;
    private final Deque<Deque<Piece>> stages = new ArrayDeque<>();
    private boolean tried;
    private boolean failed;

    /** @param owner for the log */
    public Fence(String owner) {
        this.owner = owner;
        stages.add(new ArrayDeque<>());
    }

    public synchronized void add(String what, AutoCloseable resource) {
        stages.getLast().add(new Piece(what, resource));
    }

    /** What is added from now on is closed when all that is there already is. */
    public synchronized void nextStage() {
        stages.add(new ArrayDeque<>());
    }

    /**
     * Bounded: the first try of a stage tries all of it, so that all of it refuses new operations; a later one ends at
     * the first resource that is still busy.
     *
     * @return whether all is closed; false where the device is busy, then call again
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

    /** Whether something could not be closed, for good: what it reaches must not be given to anybody. */
    public synchronized boolean failed() {
        return failed;
    }
}
