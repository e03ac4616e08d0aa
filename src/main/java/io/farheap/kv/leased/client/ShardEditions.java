package io.farheap.kv.leased.client;

import io.farheap.kv.contract.MapException;
import io.farheap.kv.keeper.KnownEditions;
import io.farheap.kv.keeper.KnownEditions.Edition;
import io.farheap.kv.leased.format.LeasedDescriptor;
import io.farheap.kv.leased.format.ShardDirectory;
import io.farheap.kv.leased.format.ShardDirectory.Change;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What those servers of a leased map that answer say of the edition that they are in; and what follows for a process
 * that opens the map: which edition it uses, or the next one, without the servers that do not answer. Immutable.
 */
public final class ShardEditions {

    private final int made;
    private final SortedMap<Integer, Said> said;
    private final KnownEditions editions;

    /**
     * What a server says of its edition.
     *
     * @param number of the edition, as of {@link Edition}
     * @param id of the edition
     * @param directory that it has
     * @param isReleased whether its shards have lost ranges for another one, which it is not in yet
     */
    public record Said(long number, long id, ShardDirectory directory, boolean isReleased) {

        Edition edition() {
            return new Edition(number, id, directory.retired(), 0, 0, 0, directory.drained());
        }
    }

    /**
     * The next edition.
     *
     * @param before the directory that it follows
     * @param lost the servers that are lost in it, and those that have left, a bit for each of the first 64
     * @param told the servers that answer, and leave by it since others use an edition without them
     * @param missing those of the lost ones of which no server has known that
     * @param asked the numbers of the servers that are sealed for it and take it, in their order
     * @param number that it has
     */
    public record Next(ShardDirectory before, long lost, long told, long missing, List<Integer> asked, long number) {

        /**
         * The directory of this edition.
         *
         * @throws IllegalArgumentException as {@link ShardDirectory#with}
         */
        public ShardDirectory directory() {
            ShardDirectory after = before;
            for (long more = (lost | told) & ~before.retired(); more != 0; more &= more - 1) {
                boolean isTold = (told & Long.lowestOneBit(more)) != 0;
                after = after.with(new Change(Long.numberOfTrailingZeros(more), isTold ? Change.LEFT : Change.LOST));
            }
            return after;
        }
    }

    /** @param said by the numbers of the servers that answer, those that have joined with them */
    public ShardEditions(LeasedDescriptor map, SortedMap<Integer, Said> said) {
        made = map.servers();
        this.said = said;
        TreeMap<Integer, Edition> ofMade = new TreeMap<>();
        said.headMap(made).forEach((server, each) -> ofMade.put(server, each.edition()));
        editions = new KnownEditions(made, ofMade);
    }

    /** What a server says of the edition that all of its servers are in, and none is about to leave; or null. */
    public @Nullable Said used() {
        Edition present = editions.established();
        if (present == null) {
            return null;
        }
        Said one = of(editions, present);
        for (int server = 0; server < one.directory.servers(); server++) {
            Said there = said.get(server);
            if (one.directory.isPresent(server) && (there == null || there.id != one.id || there.isReleased)) {
                return null;
            }
        }
        return one;
    }

    /** What a server says that is in an edition. */
    private Said of(KnownEditions known, Edition edition) {
        return said.headMap(made).entrySet().stream()
                .filter(each -> known.servers().contains(each.getKey()))
                .map(each -> each.getValue())
                .filter(each -> each.edition().equals(edition))
                .findFirst()
                .orElseThrow();
    }

    /**
     * The edition that is next, without the servers that do not answer.
     *
     * @param unreached how many servers were named that do not answer
     * @throws MapException if others are missing, or too many
     */
    public Next next(int unreached) {
        long decided = editions.decided();
        KnownEditions left = editions.without(decided);
        Edition base = left.base();
        ShardDirectory before = of(left, base).directory;
        // A process that has ended had some servers take an edition without these: they take the next one, and leave.
        long told = decided & reached() & ~before.retired();
        long lost = ~told
                & (before.retired()
                        | left.lost(base, decided, told, said.keySet(), unreached)
                        | lostJoined(before, decided));
        List<Integer> asked = new ArrayList<>();
        for (int server : said.keySet()) {
            boolean joined = server >= made && before.isPresent(server) && !isIn(lost, server);
            if (isIn(told, server) || left.servers().contains(server) || joined) {
                asked.add(server);
            }
        }
        long newest = said.values().stream().mapToLong(Said::number).max().orElseThrow();
        return new Next(before, lost, told, lost & ~decided & ~before.retired(), List.copyOf(asked), newest + 1);
    }

    /** Whether a server is one of these, of which each has a bit. */
    private static boolean isIn(long servers, int server) {
        return server < Long.SIZE && (servers >>> server & 1) != 0;
    }

    private long reached() {
        long bits = 0;
        for (int server : said.keySet()) {
            bits |= server < Long.SIZE ? 1L << server : 0;
        }
        return bits;
    }

    /** Those of the servers that have joined that do not answer, or are to stay out. */
    private long lostJoined(ShardDirectory before, long decided) {
        long lost = 0;
        for (int server = made; server < before.servers(); server++) {
            if (!before.isPresent(server) || said.containsKey(server) && !isIn(decided, server)) {
                continue;
            }
            if (server >= Long.SIZE) {
                throw new MapException("server " + server + " of the map is missing, and only the first " + Long.SIZE
                        + " of a map can be replaced");
            }
            lost |= 1L << server;
        }
        return lost;
    }
}
