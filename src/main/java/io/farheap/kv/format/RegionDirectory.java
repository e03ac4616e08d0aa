package io.farheap.kv.format;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Maps the region numbers of a map to regions of its servers. The numbers that a map was made with go round its
 * servers, so that neighbours in the table lie on different ones; the regions of each growth have the numbers that
 * follow. The meaning of a number never changes, and neither does a server's number: a server that joins gets the next
 * one, and a server that has left keeps its number, with regions that are not used any more. The regions that the map
 * was made with have its table. If one of their servers is lost for good, regions of others take over its part of the
 * table, empty; blocks in the lost regions keep their numbers, and so can never be mistaken for others. Immutable.
 */
public final class RegionDirectory {

    /** How often a map grows at most, counted by server; a server that leaves counts as one growth. */
    public static final int MOST_GROWTHS = 4096;

    /**
     * The regions of one server that a map has grown by. A server that the map was not made on joins it by its first
     * growth, and then has the next server number. A growth with a count of 0 says that the server has left the map.
     *
     * @param server its number among the map's servers
     * @param first index of the first region in the server's space; if the server leaves, how many it had
     * @param count of the regions
     * @param part the first region of the table whose place these take; the others take those of the regions that
     *     follow on the same server. {@link #NO_PART} if they have no part of the table
     */
    public record Growth(int server, int first, int count, int part) {

        /** The part of regions that have no part of the table. */
        public static final int NO_PART = -1;

        /** Regions without a part of the table. */
        public Growth(int server, int first, int count) {
            this(server, first, count, NO_PART);
        }

        /** The growth by which a server leaves the map. */
        public static Growth leaving(int server, int regions) {
            return new Growth(server, regions, 0);
        }

        /** Whether the server leaves the map by this growth. */
        public boolean leaves() {
            return count == 0;
        }
    }

    /** How many servers the map was made on; these have its table. */
    private final int madeOn;

    private final int servers;
    private final int regionsOfEach;
    private final int mostRegions;
    private final List<Growth> growths;
    /** The number of each growth's first region, and after these the number of regions. */
    private final int[] numbers;

    private RegionDirectory(int madeOn, int servers, int regionsOfEach, int mostRegions, List<Growth> growths) {
        this.madeOn = madeOn;
        this.servers = servers;
        this.regionsOfEach = regionsOfEach;
        this.mostRegions = mostRegions;
        this.growths = growths;
        numbers = new int[growths.size() + 1];
        numbers[0] = madeOn * regionsOfEach;
        for (int i = 0; i < growths.size(); i++) {
            numbers[i + 1] = numbers[i] + growths.get(i).count;
        }
    }

    /** The directory of a map that has not grown. */
    public static RegionDirectory of(MapDescriptor map) {
        return of(map.servers(), map.regionsOfEach(), map.shape());
    }

    /** The directory of a map that has not grown, made on so many servers. */
    public static RegionDirectory of(int servers, int regionsOfEach, SpaceShape shape) {
        return new RegionDirectory(servers, servers, regionsOfEach, shape.mostRegions(), List.of());
    }

    /**
     * This directory with one growth more.
     *
     * @throws IllegalArgumentException if the growth does not follow on these, its server has left or must not leave,
     *     or the map would be too large
     */
    public RegionDirectory with(Growth more) {
        boolean joins = more.server == servers && servers < MapDescriptor.MOST_SERVERS && more.count > 0;
        if (more.server < 0
                || more.server >= servers && !joins
                || more.first != regionsOf(more.server)
                || more.count < 0
                || more.leaves() && more.server < madeOn && hasTable(more.server)
                || more.part < Growth.NO_PART
                || more.part >= 0 && more.part + (more.count - 1L) * madeOn >= numbers[0]
                || more.part >= 0 && (more.leaves() || more.server >= madeOn)
                || hasLeft(more.server)
                || more.count > mostRegions - regions()
                || growths.size() == MOST_GROWTHS) {
            throw new IllegalArgumentException(more + " cannot follow in a map of " + servers + " servers and "
                    + regions() + " regions, " + regionsOf(Math.clamp(more.server, 0, servers - 1))
                    + " of these on that server; it has at most " + mostRegions + " regions and " + MOST_GROWTHS
                    + " growths");
        }
        List<Growth> all = new ArrayList<>(growths);
        all.add(more);
        return new RegionDirectory(madeOn, joins ? servers + 1 : servers, regionsOfEach, mostRegions, List.copyOf(all));
    }

    /** Whether the map has grown by this growth. */
    public boolean has(Growth growth) {
        return growths.contains(growth);
    }

    /** How many growths there are. */
    public int growths() {
        return growths.size();
    }

    /** A growth, by its number from 0. */
    public Growth growth(int number) {
        return growths.get(number);
    }

    /** The number of the first region of a growth. */
    public int firstNumber(int growth) {
        return numbers[growth];
    }

    /** How many servers there have been; server numbers are below. */
    public int servers() {
        return servers;
    }

    /** This directory with its first growths alone. */
    public RegionDirectory first(int count) {
        RegionDirectory made = new RegionDirectory(madeOn, madeOn, regionsOfEach, mostRegions, List.of());
        for (int i = 0; i < count; i++) {
            made = made.with(growths.get(i));
        }
        return made;
    }

    /** How many regions the table has. */
    public int tableRegions() {
        return numbers[0];
    }

    /** The number of the region that has a region of the table: its own number, unless its server was lost. */
    public int tableAt(int region) {
        for (int i = growths.size() - 1; i >= 0; i--) {
            Growth each = growths.get(i);
            int behind = region - each.part;
            if (each.part >= 0 && behind >= 0 && behind % madeOn == 0 && behind / madeOn < each.count) {
                return numbers[i] + behind / madeOn;
            }
        }
        return region;
    }

    /** The server that has a region of the table: another one than {@link #serverOf} says if its own was lost. */
    public int serverOfTable(int region) {
        return serverOf(tableAt(region));
    }

    /** Whether a region of this number has, or had, a part of the table. */
    public boolean hadTable(int number) {
        return number < numbers[0] || number < regions() && growths.get(growthOf(number)).part >= 0;
    }

    private boolean hasTable(int server) {
        for (int region = 0; region < numbers[0]; region++) {
            if (serverOfTable(region) == server) {
                return true;
            }
        }
        return false;
    }

    /** The servers that the map was made on and that have left, a bit for each of the first 64. */
    public long retired() {
        long bits = 0;
        for (Growth each : growths) {
            bits |= each.leaves() && each.server < Math.min(madeOn, Long.SIZE) ? 1L << each.server : 0;
        }
        return bits;
    }

    /** How many servers there had been after so many growths. */
    public int servers(int after) {
        int most = madeOn;
        for (int i = 0; i < after; i++) {
            most = Math.max(most, growths.get(i).server + 1);
        }
        return most;
    }

    /** How many servers the map was made on; their numbers are below, and they have the table but for lost ones. */
    public int madeOn() {
        return madeOn;
    }

    /** Whether a server has left the map. */
    public boolean hasLeft(int server) {
        return growths.stream().anyMatch(growth -> growth.server == server && growth.leaves());
    }

    /** How many regions there are. */
    public int regions() {
        return numbers[growths.size()];
    }

    /** How many regions a server has. */
    public int regionsOf(int server) {
        int sum = server < madeOn ? regionsOfEach : 0;
        for (Growth growth : growths) {
            sum += growth.server == server ? growth.count : 0;
        }
        return sum;
    }

    /** The server that has a region; 0 for a number that no region has. */
    public int serverOf(long number) {
        if (number < numbers[0]) {
            return (int) (number % madeOn);
        }
        return number >= regions() ? 0 : growths.get(growthOf((int) number)).server;
    }

    /** The index of a region in its server's space. */
    public int indexOf(int number) {
        if (number < numbers[0]) {
            return number / madeOn;
        }
        int growth = growthOf(number);
        return growths.get(growth).first + number - numbers[growth];
    }

    private int growthOf(int number) {
        int found = Arrays.binarySearch(numbers, number);
        if (found < 0) {
            return -2 - found;
        }
        // A growth by which a server has left has no regions: the number belongs to the growth after it.
        while (numbers[found + 1] == number) {
            found++;
        }
        return found;
    }
}
