package io.farheap.server;

import io.farheap.control.ControlClient;
import io.farheap.control.ControlException;
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

    private PreparedPull(byte[] token, String sourceAddress, ControlClient source, RegionCopy copy, PullSource opened) {
        this.token = token;
        this.sourceAddress = sourceAddress;
        this.source = source;
        this.copy = copy;
        this.opened = opened;
    }

    /** @param source which {@link #abandon} closes, and {@link #finish} gives back */
    static PreparedPull open(ControlClient source, String sourceAddress, byte[] token, Context context, MemorySegment into) {
        RegionCopy copy = new RegionCopy(context, into);
        PullSource opened = null;
        try {
            opened = source.openPull(token, copy.endpoint());
            copy.connect(opened);
            return new PreparedPull(token.clone(), sourceAddress, source, copy, opened);
        } catch (Throwable e) {
            copy.close();
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

    PullResult run() {
        return copy.run(opened);
    }

    /** Ends both ends, and gives the connection back. */
    void finish(SourceServers sources) {
        copy.close();
        closeQuietly(source, opened);
        sources.giveBack(source);
    }

    /** Ends this end at once; the other goes when its region is given back. */
    void abandon() {
        copy.close();
        source.close();
    }

    private static void closeQuietly(ControlClient source, PullSource opened) {
        try {
            source.closePull(opened.pullId());
        } catch (ControlException e) {
            // It ends with the exporting lease, or with the source.
        }
    }
}
