package io.farheap.cache.calls;

import java.util.Arrays;

/**
 * The pieces of a range for which no call has been made yet. The range is cut at the ends of regions, and each of these
 * parts from its first address on into pieces of one length, of which the last may be shorter.
 *
 * <p><b>Which piece is next.</b> Regions that follow one another may be on one server, and in the order of addresses
 * one server would then have all calls that are under way. So the regions of each server make a <i>lane</i>, lanes take
 * turns, and no lane has more than its share of the calls under way. A server that refuses calls, since its client has
 * as many there as it may have, lowers its lane's share to those that it has taken; the share grows again as calls end.
 * Each region has its own next address. A region's lane is determined when the range begins; if the region moves then,
 * its calls go to the right server nevertheless, and only the shares are no longer exact.
 *
 * <p>One thread at a time. Nothing here allocates but {@link #begin}, for a range with more regions than those before.
 */
final class PieceSchedule {

    /** Tells which server has a region. */
    interface RegionLocator {

        /** The server of a region, by identity. */
        Object server(int region);
    }

    /** A lane's lowered share grows by one for so many calls that end, times the share. */
    private static final int ENDS_TO_GROW = 4;

    private long end;
    private long piece;
    private int shift;
    /** The number of the range's first region. Below, regions are counted from it. */
    private int first;
    /** By region: the first address for which no call has been made, and its lane. */
    private long[] next = {};

    private int[] laneOf = {};
    /** The regions lane by lane. */
    private int[] order = {};

    private int lanes;
    /** By lane: its server while the lanes are made, the section of {@code order} that is left of it, and its end. */
    private Object[] servers = {};

    private int[] at = {};
    private int[] stop = {};
    /** By lane: how many of its regions have a piece left, and how many of its calls are under way. */
    private int[] left = {};

    private int[] underWay = {};
    /** By lane: its share at most, since a server has refused calls, and how many have ended since it last changed. */
    private int[] limit = {};

    private int[] endedSince = {};
    /** How many regions, and how many lanes, have a piece left. */
    private int regionsLeft;

    private int lanesLeft;
    private int turn;
    /** No region before this one has a piece left. */
    private int lowest;

    private long takenAt;
    private long takenEnd;
    private int takenLane;

    /**
     * Begins with a range, of which all pieces are left.
     *
     * @param bytes of the range, at least 1
     * @param pieceBytes the length of a piece, at least 1
     * @param regionBytes a power of two
     */
    void begin(long from, long bytes, long pieceBytes, long regionBytes, RegionLocator locator) {
        shift = Long.numberOfTrailingZeros(regionBytes);
        end = from + bytes;
        piece = pieceBytes;
        first = (int) (from >>> shift);
        int regions = (int) (end - 1 >>> shift) - first + 1;
        reserve(regions);
        lanes = 0;
        int lane = 0;
        for (int region = 0; region < regions; region++) {
            next[region] = Math.max(from, ((long) first + region) << shift);
            lane = lane(locator.server(first + region), lane);
            laneOf[region] = lane;
            left[lane]++;
        }
        int begun = 0;
        for (int each = 0; each < lanes; each++) {
            at[each] = begun;
            stop[each] = begun;
            begun += left[each];
        }
        for (int region = 0; region < regions; region++) {
            order[stop[laneOf[region]]++] = region;
        }
        Arrays.fill(servers, 0, lanes, "");
        regionsLeft = regions;
        lanesLeft = lanes;
        turn = 0;
        lowest = 0;
    }

    private void reserve(int regions) {
        if (next.length < regions) {
            long[] addresses = new long[regions];
            int[] ofRegions = new int[regions];
            order = new int[regions];
            laneOf = ofRegions;
            next = addresses;
        }
    }

    /** The lane of a server; it is made if there is none. Regions often take turns, or follow on one server. */
    private int lane(Object server, int before) {
        for (int i = 0; i < lanes; i++) {
            int each = (before + i) % lanes;
            if (servers[each] == server) {
                return each;
            }
        }
        if (lanes == servers.length) {
            int more = Math.max(4, 2 * lanes);
            at = Arrays.copyOf(at, more);
            stop = Arrays.copyOf(stop, more);
            left = Arrays.copyOf(left, more);
            underWay = Arrays.copyOf(underWay, more);
            limit = Arrays.copyOf(limit, more);
            endedSince = Arrays.copyOf(endedSince, more);
            servers = Arrays.copyOf(servers, more);
        }
        servers[lanes] = server;
        left[lanes] = 0;
        underWay[lanes] = 0;
        limit[lanes] = Integer.MAX_VALUE;
        endedSince[lanes] = 0;
        return lanes++;
    }

    /**
     * Takes the next piece, which is then at {@link #address}.
     *
     * @param moving the region that moves, of which no piece is taken, or -1
     * @param lowestOnly takes the piece of the lowest address or none
     * @param mostUnderWay the most calls of the range that may be under way now, of which lanes have equal shares; the
     *     caller keeps to it
     * @return false if there is none now
     */
    boolean take(int moving, boolean lowestOnly, int mostUnderWay) {
        if (regionsLeft == 0) {
            return false;
        }
        if (lowestOnly) {
            int region = lowestLeft();
            return first + region != moving && taken(region);
        }
        int most = (mostUnderWay + lanesLeft - 1) / lanesLeft;
        for (int i = 0; i < lanes; i++) {
            int lane = turn;
            turn = lane + 1 == lanes ? 0 : lane + 1;
            if (underWay[lane] < Math.min(most, limit[lane])) {
                int region = regionOf(lane, moving);
                if (region >= 0) {
                    return taken(region);
                }
            }
        }
        return false;
    }

    /** The region of a lane's next piece; -1 if there is none now. */
    private int regionOf(int lane, int moving) {
        while (at[lane] < stop[lane] && isTaken(order[at[lane]])) {
            at[lane]++;
        }
        for (int place = at[lane]; place < stop[lane]; place++) {
            int region = order[place];
            if (first + region != moving && !isTaken(region)) {
                // The region that moves changes places with this one, so that the next search is short.
                order[place] = order[at[lane]];
                order[at[lane]] = region;
                return region;
            }
        }
        return -1;
    }

    private boolean taken(int region) {
        long regionEnd = endOf(region);
        takenAt = next[region];
        takenEnd = piece < regionEnd - takenAt ? takenAt + piece : regionEnd;
        takenLane = laneOf[region];
        next[region] = takenEnd;
        underWay[takenLane]++;
        if (takenEnd == regionEnd) {
            regionsLeft--;
            if (--left[takenLane] == 0) {
                lanesLeft--;
            }
        }
        return true;
    }

    private boolean isTaken(int region) {
        return next[region] == endOf(region);
    }

    private long endOf(int region) {
        return Math.min(end, ((long) first + region + 1) << shift);
    }

    private int lowestLeft() {
        while (isTaken(lowest)) {
            lowest++;
        }
        return lowest;
    }

    /** The first address of the piece that was taken last. */
    long address() {
        return takenAt;
    }

    /** The address behind that piece. */
    long addressEnd() {
        return takenEnd;
    }

    /** The lane of that piece. */
    int lane() {
        return takenLane;
    }

    /** A call of a lane is not under way any more. */
    void ended(int lane) {
        underWay[lane]--;
        if (limit[lane] < Integer.MAX_VALUE && ++endedSince[lane] >= ENDS_TO_GROW * limit[lane]) {
            endedSince[lane] = 0;
            limit[lane]++;
        }
    }

    /** The server of a lane has no place for a call, which stays under way: the lane's share becomes smaller by one. */
    void refused(int lane) {
        limit[lane] = Math.max(1, Math.min(limit[lane], underWay[lane]) - 1);
        endedSince[lane] = 0;
    }

    /**
     * Whether a piece is left that cannot be taken since its region moves.
     *
     * @param moving as in {@link #take}
     */
    boolean hasLeftIn(int moving) {
        return regionsLeft > 0 && moving >= first && moving <= (int) (end - 1 >>> shift) && !isTaken(moving - first);
    }

    /**
     * Whether no piece can be taken before a region has moved.
     *
     * @param moving as in {@link #take}
     * @param lowestOnly as in {@link #take}
     */
    boolean waitsFor(int moving, boolean lowestOnly) {
        return hasLeftIn(moving) && (regionsLeft == 1 || lowestOnly && first + lowestLeft() == moving);
    }

    /** Whether no piece is left. */
    boolean isEmpty() {
        return regionsLeft == 0;
    }

    /** The lowest address for which no call has been made; some piece must be left. */
    long lowestAddress() {
        return next[lowestLeft()];
    }
}
