package io.farheap.server;

import io.farheap.control.ControlClient;
import io.farheap.control.ControlException;
import io.farheap.control.Mark;
import io.farheap.control.PullPace;
import io.farheap.control.PullResult;
import io.farheap.control.PullSource;
import io.farheap.lifetime.Closing;
import io.farheap.verbs.Context;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The new server's end of a pull, connected and mapped: what is left is to read. One owner; two may end it. */
final class PreparedPull {

    private final byte[] token;
    private final String sourceAddress;
    private final ControlClient source;
    private final RegionCopy copy;
    private final PullSource opened;
    /** Null for a pull that goes at once. */
    private final @Nullable CopyPace pace;

    private final Budget.Loan loan;
    private final long openedAt = System.nanoTime();

    private PreparedPull(
            byte[] token,
            String sourceAddress,
            ControlClient source,
            RegionCopy copy,
            PullSource opened,
            @Nullable CopyPace pace,
            Budget.Loan loan) {
        this.token = token;
        this.sourceAddress = sourceAddress;
        this.source = source;
        this.copy = copy;
        this.opened = opened;
        this.pace = pace;
        this.loan = loan;
    }

    /**
     * @param source which {@link #abandon} closes, and {@link #finish} gives back
     * @param led the client's pace, or null
     * @param loan which goes back when this end is closed, and stays the caller's where this throws
     */
    static PreparedPull open(
            ControlClient source,
            String sourceAddress,
            byte[] token,
            Context context,
            MemorySegment into,
            @Nullable PullPace led,
            Budget.Loan loan) {
        CopyPace pace = led == null ? null : new CopyPace(context, led, into.byteSize());
        RegionCopy copy = null;
        PullSource opened = null;
        try {
            copy = new RegionCopy(context, into);
            opened = source.openPull(token, copy.endpoint());
            copy.connect(opened);
            return new PreparedPull(token.clone(), sourceAddress, source, copy, opened, pace, loan);
        } catch (Throwable e) {
            Closing.after(e, copy, pace);
            if (opened != null) {
                closeQuietly(source, opened);
            }
            throw e;
        }
    }

    boolean isFor(String otherAddress, byte[] otherToken) {
        return sourceAddress.equals(otherAddress) && Arrays.equals(token, otherToken);
    }

    RegionCopy copy() {
        return copy;
    }

    /** Where the client tells its pace. Not for a pull that goes at once. */
    Mark mark() {
        return Objects.requireNonNull(pace).described();
    }

    PullResult run() {
        return pace == null ? copy.run(opened) : copy.run(opened, pace);
    }

    /** Nanoseconds since it was opened. */
    long age() {
        return System.nanoTime() - openedAt;
    }

    /** Ends both ends, and gives the connection back. May be called again where the device is busy. */
    synchronized void finish(SourceServers sources) {
        Closing.all(copy, pace);
        loan.close();
        closeQuietly(source, opened);
        sources.giveBack(source);
    }

    /**
     * Ends this end at once; the other goes when its region is given back. May be called again where the device is
     * busy.
     */
    synchronized void abandon() {
        try {
            Closing.all(copy, pace);
            loan.close();
        } finally {
            source.close();
        }
    }

    private static void closeQuietly(ControlClient source, PullSource opened) {
        try {
            source.closePull(opened.pullId());
        } catch (ControlException e) {
            // It ends with the exporting lease, or with the source.
        }
    }
}
