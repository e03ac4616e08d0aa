package io.farheap.server;

import io.farheap.control.ControlClient;
import io.farheap.control.ControlException;
import io.farheap.control.Mark;
import io.farheap.control.PullPace;
import io.farheap.control.PullResult;
import io.farheap.control.PullSource;
import io.farheap.verbs.Context;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** The new server's end of a pull, connected and mapped: what is left is to read. Guarded by its owner. */
final class PreparedPull {

    private final byte[] token;
    private final String sourceAddress;
    private final ControlClient source;
    private final RegionCopy copy;
    private final PullSource opened;
    /** Null for a pull that goes at once. */
    private final CopyPace pace;

    private PreparedPull(byte[] token, String sourceAddress, ControlClient source, RegionCopy copy, PullSource opened, CopyPace pace) {
        this.token = token;
        this.sourceAddress = sourceAddress;
        this.source = source;
        this.copy = copy;
        this.opened = opened;
        this.pace = pace;
    }

    /**
     * @param source which {@link #abandon} closes, and {@link #finish} gives back
     * @param led    the client's pace, or null
     */
    static PreparedPull open(ControlClient source, String sourceAddress, byte[] token, Context context, MemorySegment into, PullPace led) {
        CopyPace pace = led == null ? null : new CopyPace(context, led, into.byteSize());
        RegionCopy copy = null;
        PullSource opened = null;
        try {
            copy = new RegionCopy(context, into);
            opened = source.openPull(token, copy.endpoint());
            copy.connect(opened);
            return new PreparedPull(token.clone(), sourceAddress, source, copy, opened, pace);
        } catch (Throwable e) {
            close(copy, pace);
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

    /** Where the client tells its pace. */
    Mark mark() {
        return pace.described();
    }

    PullResult run() {
        return pace == null ? copy.run(opened) : copy.run(opened, pace);
    }

    /** Ends both ends, and gives the connection back. */
    void finish(SourceServers sources) {
        close(copy, pace);
        closeQuietly(source, opened);
        sources.giveBack(source);
    }

    /** Ends this end at once; the other goes when its region is given back. */
    void abandon() {
        close(copy, pace);
        source.close();
    }

    private static void close(RegionCopy copy, CopyPace pace) {
        try {
            if (copy != null) {
                copy.close();
            }
        } finally {
            if (pace != null) {
                pace.close();
            }
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
