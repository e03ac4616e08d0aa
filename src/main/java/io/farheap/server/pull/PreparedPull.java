package io.farheap.server.pull;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.plane.PullResult;
import io.farheap.control.plane.PullSource;
import io.farheap.control.plane.WatermarkEndpoint;
import io.farheap.lifetime.Closeables;
import io.farheap.server.budget.Budget;
import io.farheap.thread.ParallelCalls;
import io.farheap.verbs.VerbsException;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The new server's end of a pull, connected and mapped: only the reads are left to do. One owner; two threads may end
 * it.
 */
public final class PreparedPull {

    /** The sources; the first one identifies the pull. */
    private final List<SourceLink> links;

    private final SourceConnectionPool sources;
    private final RegionFill fill;
    /** Null for a pull that copies at once. */
    private final @Nullable CopyPace pace;

    private final Budget.Loan loan;
    private final long openedAt = System.nanoTime();
    /** The sources' ends have been ended, or are being ended. */
    private boolean left;

    private PreparedPull(
            List<SourceLink> links,
            SourceConnectionPool sources,
            RegionFill fill,
            @Nullable CopyPace pace,
            Budget.Loan loan) {
        this.links = links;
        this.sources = sources;
        this.fill = fill;
        this.pace = pace;
        this.loan = loan;
    }

    /**
     * Connects a pull. The arguments belong to it from now on; but if this throws, the loan stays the caller's.
     *
     * @param links which {@link #abandon} closes, and whose connections {@link #finish} gives back
     * @param loan which is given back when this end is closed
     */
    public static PreparedPull open(
            List<SourceLink> links,
            SourceConnectionPool sources,
            RegionFill fill,
            @Nullable CopyPace pace,
            Budget.Loan loan) {
        PullSource[] opened = new PullSource[links.size()];
        try {
            ParallelCalls.run(opened.length, i -> opened[i] = links.get(i).open(sources, fill.endpoint(i)));
            for (int i = 0; i < opened.length; i++) {
                connect(fill, i, opened[i]);
            }
            return new PreparedPull(links, sources, fill, pace, loan);
        } catch (Throwable e) {
            Closeables.after(e, fill, pace);
            links.forEach(link -> link.abandon(sources));
            throw e;
        }
    }

    private static void connect(RegionFill fill, int source, PullSource opened) {
        try {
            fill.connect(source, opened);
        } catch (VerbsException e) {
            throw failed(e);
        }
    }

    public boolean isFor(String otherAddress, byte[] otherToken) {
        return links.getFirst().isFor(otherAddress, otherToken);
    }

    public RegionFill fill() {
        return fill;
    }

    /** The word in which the client stores its pace. Not for a pull that copies at once. */
    public WatermarkEndpoint mark() {
        return Objects.requireNonNull(pace).described();
    }

    public PullResult run() {
        try {
            return fill.run(pace);
        } catch (VerbsException e) {
            throw failed(e);
        }
    }

    private static ControlException failed(VerbsException e) {
        return new ControlException(Code.PULL_FAILED, e.getMessage(), e);
    }

    /** Nanoseconds since it was opened. */
    public long age() {
        return System.nanoTime() - openedAt;
    }

    /** Ends both ends, and gives the connections back. To be called again if the device is busy. */
    public synchronized void finish() {
        Closeables.all(fill, pace);
        loan.close();
        if (!left) {
            left = true;
            ParallelCalls.run(links.size(), i -> links.get(i).finish(sources));
        }
    }

    /** Ends this end at once, and the sources' ends without waiting. To be called again if the device is busy. */
    public synchronized void abandon() {
        try {
            Closeables.all(fill, pace);
            loan.close();
        } finally {
            if (!left) {
                left = true;
                links.forEach(link -> link.abandon(sources));
            }
        }
    }
}
