package io.farheap.kv.leased.client;

import io.farheap.kv.leased.client.ClientAreas.AreaPart;
import io.farheap.kv.leased.format.LeasedCalls;
import io.farheap.kv.leased.format.ReportRing;
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

    /** After so many looks at a ring that is full, the server is told of it again: the thread that knew may be gone. */
    private static final int MOST_LOOKS = 64;

    private static final int NUMBER_SHIFT = 32;

    private final ClientAreas areas;
    private final int session;
    private final int[] state;
    /** By server: the number of the last report, and of the last one that is known to be merged. */
    private final long[] written;

    private final long[] merged;
    private final int[] looks;

    /** @param name of the session, as {@link LeasedCalls#session(int, long)} has it */
    ReportWriter(ClientAreas areas, long name, int servers) {
        this.areas = areas;
        session = LeasedCalls.sessionNumber(name);
        state = new int[servers];
        written = new long[servers];
        merged = new long[servers];
        looks = new int[servers];
        // A later session of this number has the same rings, and higher numbers.
        long first = LeasedCalls.nth(name) << NUMBER_SHIFT;
        for (int server = 0; server < servers; server++) {
            written[server] = first;
            merged[server] = first;
        }
    }

    /** Whether reports to a server are sent. */
    boolean sends(int server) {
        return !areas.writesReports() || state[server] == REFUSED;
    }

    /** Whether the server is to be told of the ring. */
    boolean isNew(int server) {
        return state[server] == NEW;
    }

    /** Whether the next report has a place. */
    boolean hasPlace(int server) {
        return state[server] == MERGES && written[server] - merged[server] < ReportRing.REPORTS;
    }

    /** The part of the area that has the ring, or null: then reports are sent. */
    @Nullable
    AreaPart ring(int server) {
        AreaPart ring = areas.ring(server, session);
        if (ring == null) {
            state[server] = REFUSED;
        }
        return ring;
    }

    int session() {
        return session;
    }

    /** The number of the last report. */
    long written(int server) {
        return written[server];
    }

    /** The server has answered the call that told it of the ring. */
    void answered(int server, boolean accepted) {
        state[server] = accepted ? MERGES : REFUSED;
        looks[server] = 0;
        merged[server] = written[server];
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
