package io.farheap.kv.format;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Which region of which server each number of a map means. The numbers that a map was made with go round its servers,
 * so that neighbours in the table are on different ones; the regions of each growth have the numbers that follow. What
 * a number means never changes, and neither does a server's: one that joins has the next, and one that has left keeps
 * its own, with regions that nobody uses any more. Immutable.
 */
public final class RegionDirectory {

    /** How often a map grows at most, counted by server; one that leaves counts too. */
    public static final int MOST_GROWTHS = 4096;

    /**
     * Regions of one server that a map has grown by. The first of a server that the map was not made on, which is its
     * joining, has the number that follows. With a count of 0 the server has left the map.
     *
     * @param server its number among the map's
     * @param first of them in the server's space; of a server that has left, how many it had
     * @param count of them
     */
    public record Growth(int server, int first, int count) {

        /** Of a server that leaves. */
        public static Growth leaving(int server, int regions) {
            return new Growth(server, regions, 0);
        }

        /** Whether it says that the server has left. */
        public boolean leaves() {
            return count == 0;
        }
    }

    /** That the map was made on: they have its table. */
    private final int madeOn;

    private final int servers;
    private final int regionsOfEach;
    private final int mostRegions;
    private final List<Growth> growths;
    /** The number of each growth's first region, and behind them how many regions there are. */
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

    /** Of a map that has not grown. */
    public static RegionDirectory of(MapDescriptor map) {
        return of(map.servers(), map.regionsOfEach(), map.shape());
    }

    public static RegionDirectory of(int servers, int regionsOfEach, SpaceShape shape) {
        return new RegionDirectory(servers, servers, regionsOfEach, shape.mostRegions(), List.of());
    }

    /**
     * The same with one growth more.
     *
     * @throws IllegalArgumentException where it is not what follows there, the server has left or cannot leave, or it
     *     is too much
     */
    public RegionDirectory with(Growth more) {
        boolean joins = more.server == servers && servers < MapDescriptor.MOST_SERVERS && more.count > 0;
        if (more.server < 0
                || more.server >= servers && !joins
                || more.first != regionsOf(more.server)
                || more.count < 0
                || more.leaves() && more.server < madeOn
                || hasLeft(more.server)
                || more.count > mostRegions - regions()
                || growths.size() == MOST_GROWTHS) {
            throw new IllegalArgumentException(more + " is not what follows in a map of " + servers + " servers and "
                    + regions() + " regions, " + regionsOf(Math.clamp(more.server, 0, servers - 1))
                    + " of these on that server; it has at most " + mostRegions + " regions and " + MOST_GROWTHS
                    + " growths");
        }
        List<Growth> all = new ArrayList<>(growths);
        all.add(more);
        return new RegionDirectory(madeOn, joins ? servers + 1 : servers, regionsOfEach, mostRegions, List.copyOf(all));
    }

    public boolean has(Growth growth) {
        return growths.contains(growth);
    }

    public int growths() {
        return growths.size();
    }

    public Growth growth(int number) {
        return growths.get(number);
    }

    /** The number of the first region of a growth. */
    public int firstNumber(int growth) {
        return numbers[growth];
    }

    /** How many servers there have been: their numbers are below. */
    public int servers() {
        return servers;
    }

    /** How many the map was made on: their numbers are below, and they have the table. */
    public int madeOn() {
        return madeOn;
    }

    /** Whether a server has left the map. */
    public boolean hasLeft(int server) {
        return growths.stream().anyMatch(growth -> growth.server == server && growth.leaves());
    }

    /** How many there are. */
    public int regions() {
        return numbers[growths.size()];
    }

    /** How many of them a server has. */
    public int regionsOf(int server) {
        int sum = server < madeOn ? regionsOfEach : 0;
        for (Growth growth : growths) {
            sum += growth.server == server ? growth.count : 0;
        }
        return sum;
    }

    /** The server that has a region; for a number that there is not the first. */
    public int serverOf(long number) {
        if (number < numbers[0]) {
            return (int) (number % madeOn);
        }
        return number >= regions() ? 0 : growths.get(growthOf((int) number)).server;
    }

    /** Where a region is in its server's space. */
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
        // What has left has no regions: the number is of the growth behind it.
        while (numbers[found + 1] == number) {
            found++;
        }
        return found;
    }
}
