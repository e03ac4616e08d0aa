package io.farheap.migration.region;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.migration.MigrationOptions;
import io.farheap.migration.PauseScope;
import io.farheap.posix.TimerSlack;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.server.PacedPull;
import io.farheap.time.TimeLimit;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Moves one extent of a region; the region's table entry marks it as moving. It drains window after window, lets the
 * new server copy them, and makes chunks new as they arrive. One thread; used once.
 */
final class ExtentMigration {

    private static final long STALL_NANOS = TimeLimit.of(10_000_000_000L);

    private record HeldRange(long end, long since) {}

    private final SplitRegion split;
    private final RemoteRegion old;
    private final long end;
    private final PacedPull pull;
    private final Participants participants;
    /** Null if all of the extent is held at once. */
    private final @Nullable CopyWindow window;
    /** Windows whose writes wait, the oldest first. */
    private final ArrayDeque<HeldRange> waiting = new ArrayDeque<>();

    private long longestPause;
    private final PollPacer pacer;

    /**
     * A move that is ready to run.
     *
     * @param split the split region in which the extent is about to move
     * @param old its copy
     */
    ExtentMigration(
            SplitRegion split,
            RemoteRegion old,
            long end,
            PacedPull pull,
            Participants participants,
            MigrationOptions options) {
        this.split = split;
        this.old = old;
        this.end = end;
        this.pull = pull;
        this.participants = participants;
        this.window = options.pause() != PauseScope.CHUNK
                ? null
                : new CopyWindow(options.chunkBytes(), options.windowBytes());
        this.pacer = new PollPacer(window != null);
    }

    /**
     * Moves the extent; returns when all of it is new.
     *
     * @throws ControlException if that fails; the marks then show how far it has come
     */
    void run() {
        try (TimerSlack _ = new TimerSlack()) {
            move();
        }
    }

    private void move() {
        hold(window == null ? end : split.moved() + window.bytes());
        long seen = split.moved();
        long progressAt = System.nanoTime();
        while (split.moved() < end) {
            pacer.sleep();
            participants.requireGoing();
            pull.check();
            long copied = pull.copied();
            if (copied != seen) {
                seen = copied;
                progressAt = System.nanoTime();
                if (window != null || copied == end) {
                    goOn(copied);
                }
            } else if (System.nanoTime() - progressAt > STALL_NANOS) {
                throw new ControlException(
                        Code.DEADLINE_EXCEEDED, "nothing has been copied for " + STALL_NANOS / 1_000_000_000L + " s");
            }
        }
    }

    private void goOn(long copied) {
        split.moved(copied);
        // First the copier's next work, then the writers that wait.
        if (window != null && split.held() < end) {
            window.adapt(split.held() - copied);
            hold(copied + window.bytes());
        } else {
            participants.publish();
        }
        participants.resume();
        long now = System.nanoTime();
        while (!waiting.isEmpty() && waiting.getFirst().end() <= copied) {
            longestPause = Math.max(longestPause, now - waiting.removeFirst().since());
        }
    }

    private void hold(long wanted) {
        long held = Math.min(wanted, end);
        boolean more = held > split.held();
        if (more) {
            waiting.addLast(new HeldRange(held, System.nanoTime()));
            split.held(held);
        }
        participants.publish();
        if (more) {
            participants.drain(old);
            pull.clear(held);
        }
    }

    /** The longest time that writes to a chunk waited for it. */
    long longestPauseNanos() {
        return longestPause;
    }
}
