package io.farheap.kv.leased.client;

import io.farheap.kv.leased.format.LeasedCalls;
import io.farheap.kv.leased.format.ReportRing;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * How far the reports of a session are that it writes into its process's areas: a ring at each server, of which the
 * server learns by a call. The session's thread.
 */
final class ReportWriter {

    // What is known of a server.
    /** It does not know the ring. */
    private static final int NEW = 0;
    /** It merges reports from the ring. */
    private static final int MERGES = 1;
    /** It has no ring: reports are sent. */
    private static final int REFUSED = 2;

    /** After so many looks at a full ring, a call announces it again: the thread that knew it may have ended. */
    private static final int MOST_LOOKS = 64;

    /** After so many reports that were sent, a server that had no ring is asked for one again. */
    private static final int MOST_SENT = 1000;

    private static final int NUMBER_SHIFT = 32;

    private final ClientAreas areas;
    private final int session;
    private int[] state;
    /** By server: the number of the last report, and of the last one that is known to be merged. */
    private long[] written;

    private long[] merged;
    /** By server: the looks at a full ring, or the reports that were sent since there was no ring. */
    private int[] looks;
    /** By server: the ring that the state is of. */
    private @Nullable AreaPart[] rings;

    private final long first;

    /** @param name of the session, as {@link LeasedCalls#session(int, long)} has it */
    ReportWriter(ClientAreas areas, long name, int servers) {
        this.areas = areas;
        session = LeasedCalls.sessionNumber(name);
        state = new int[0];
        written = new long[0];
        merged = new long[0];
        looks = new int[0];
        rings = new AreaPart[0];
        // A later session of this number has the same rings, and higher numbers.
        first = LeasedCalls.nth(name) << NUMBER_SHIFT;
        grow(servers);
    }

    /** Servers have joined: there are so many now. */
    final void grow(int servers) {
        int before = state.length;
        state = Arrays.copyOf(state, servers);
        written = Arrays.copyOf(written, servers);
        merged = Arrays.copyOf(merged, servers);
        looks = Arrays.copyOf(looks, servers);
        rings = Arrays.copyOf(rings, servers);
        Arrays.fill(written, before, servers, first);
        Arrays.fill(merged, before, servers, first);
    }

    /** Whether reports to a server are sent. */
    boolean sends(int server) {
        return !areas.writesReports() || state[server] == REFUSED;
    }

    /** Whether a call has to announce the ring to the server. */
    boolean isNew(int server) {
        return state[server] == NEW;
    }

    /** Whether the next report has a place. */
    boolean hasPlace(int server) {
        return state[server] == MERGES && written[server] - merged[server] < ReportRing.REPORTS;
    }

    /** The part of the area that has the ring, or null: then reports are sent, unless the area will be there soon. */
    @Nullable
    AreaPart ring(int server) {
        AreaPart ring = areas.ring(server, session);
        if (ring == null && !areas.isAsking(server)) {
            // The area may have come in between.
            ring = areas.ring(server, session);
        }
        if (ring == null) {
            if (!areas.isAsking(server)) {
                refused(server);
            }
        } else if (ring != rings[server]) {
            // What was not merged from another one is lost.
            rings[server] = ring;
            state[server] = NEW;
            merged[server] = written[server];
        }
        return ring;
    }

    private void refused(int server) {
        state[server] = REFUSED;
        looks[server] = 0;
    }

    /** A report was sent. */
    void sent(int server) {
        if (state[server] == REFUSED && ++looks[server] >= MOST_SENT) {
            state[server] = NEW;
        }
    }

    int session() {
        return session;
    }

    /** The number of the last report that is known to be merged: the server merges those behind it. */
    long merged(int server) {
        return merged[server];
    }

    /** The number of the last report. */
    long written(int server) {
        return written[server];
    }

    /** The server has answered the call that announces the ring. Reports that wait there are merged now. */
    void answered(int server, boolean accepted) {
        if (accepted) {
            state[server] = MERGES;
            looks[server] = 0;
        } else {
            refused(server);
        }
    }

    /** The next report was written. */
    void wrote(int server) {
        written[server]++;
    }

    /** The server has merged the reports up to a number; any. */
    void merged(int server, long number) {
        if (number > merged[server] && number <= written[server]) {
            merged[server] = number;
            looks[server] = 0;
        } else if (++looks[server] >= MOST_LOOKS) {
            state[server] = NEW;
        }
    }
}
