package io.farheap.soak;

import io.farheap.cache.contract.Status;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedSet;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * What a worker does after a request was lost, as an application would: it opens another client and looks what is there
 * now. One thread.
 */
final class WorkerRecovery {

    /** What cannot be read in so many is lost for good, where its server was killed. */
    private static final int ROUNDS = 3;

    private static final long PAUSE_NANOS = 20_000_000L;

    private final InFlightRequests inFlight;
    private final Predicate<CachePart> mayBeLost;
    private final SplittableRandom random;
    private final Consumer<String> problem;
    private final SequencedSet<CachePart> doubtful = new LinkedHashSet<>();

    /** @param mayBeLost whether a part, or some of it, may be lost for good */
    WorkerRecovery(
            InFlightRequests inFlight,
            Predicate<CachePart> mayBeLost,
            SplittableRandom random,
            Consumer<String> problem) {
        this.inFlight = inFlight;
        this.mayBeLost = mayBeLost;
        this.random = random;
        this.problem = problem;
    }

    /** What is in this part must be looked at. */
    void add(CachePart part) {
        if (!part.lost()) {
            doubtful.add(part);
        }
    }

    boolean isNeeded() {
        return !doubtful.isEmpty();
    }

    /**
     * With nothing in flight: reads all parts that are in doubt, in rounds, each with another client than the one
     * before; from now on they hold what was found, where they may hold it.
     */
    void run() {
        long deadline = System.nanoTime() + Worker.PATIENCE_NANOS;
        for (int round = 1; isNeeded(); round++) {
            if (round > 1) {
                LockSupport.parkNanos(PAUSE_NANOS);
                inFlight.reopen(deadline);
            }
            if (look(round >= ROUNDS)) {
                deadline = System.nanoTime() + Worker.PATIENCE_NANOS;
            } else if (System.nanoTime() - deadline > 0) {
                problem.accept(doubtful.size() + " parts, such as that at address "
                        + doubtful.getFirst().address()
                        + ", cannot be read again and again, and no server of them was killed");
                doubtful.clear();
            }
        }
    }

    /** @return whether fewer are in doubt now */
    private boolean look(boolean giveUp) {
        boolean fewer = false;
        for (CachePart part : List.copyOf(doubtful)) {
            SoakRequest read = readAll(part);
            boolean found = read.status == Status.OK;
            if (found) {
                String wrong = part.settle(read);
                if (wrong != null) {
                    problem.accept(wrong);
                }
            } else if (giveUp && mayBeLost.test(part)) {
                part.lose();
            }
            if (found || part.lost()) {
                doubtful.remove(part);
                fewer = true;
            }
        }
        return fewer;
    }

    private SoakRequest readAll(CachePart part) {
        SoakRequest read = inFlight.free(random);
        read.all(part, false);
        read.onHeap = true;
        part.issuing(read);
        while (!inFlight.issue(read)) {
            inFlight.client().progress();
        }
        inFlight.drain();
        return read;
    }
}
