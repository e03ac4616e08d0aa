package io.farheap.kv.keeper;

import io.farheap.kv.contract.MapException;
import io.farheap.kv.format.MapDescriptor;
import io.farheap.memory.Plurals;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What those servers that a map was made on, and that answer, say of the edition that they are in; and what follows for
 * the next one. Immutable.
 */
public final class KnownEditions {

    /**
     * What a server says of the edition that it is in.
     *
     * @param number one more than that of an edition which it follows
     * @param id random, as two editions may have one number
     * @param retired the servers that have left by it, a bit for each of the first 64
     * @param began how many growths it began with
     * @param growths how many it has now
     * @param gone servers of it that are gone for good
     * @param drained those of the servers that have left that were drained: some process that has not heard of that may
     *     still count them, so they count among those of which more than half must answer
     */
    public record Edition(long number, long id, long retired, int began, int growths, long gone, long drained) {

        /** Whether a server is one of this edition's. */
        public boolean has(int server) {
            return server >= Long.SIZE || (retired >>> server & 1) == 0;
        }

        /** Of how many of the servers that the map was made on more than half must answer. */
        int servers(int made) {
            long ofMade = made >= Long.SIZE ? -1L : (1L << made) - 1;
            return made - Long.bitCount(retired & ofMade & ~drained);
        }

        boolean isSame(Edition other) {
            return number == other.number && id == other.id;
        }
    }

    private final int made;
    private final SortedMap<Integer, Edition> editions;

    /**
     * @param made how many servers the map was made on
     * @param editions by the numbers of the servers that answer
     */
    public KnownEditions(int made, SortedMap<Integer, Edition> editions) {
        this.made = made;
        this.editions = editions;
    }

    /** The numbers of the servers that answer. */
    public Set<Integer> servers() {
        return editions.keySet();
    }

    /** What a server that answers says. */
    public Edition of(int server) {
        Edition found = editions.get(server);
        if (found == null) {
            throw new IllegalStateException("server " + server + " does not answer");
        }
        return found;
    }

    /** The edition that all of its servers are in; null if there is none. */
    public @Nullable Edition established() {
        for (Edition each : editions.values()) {
            boolean all = true;
            for (int server = 0; server < made; server++) {
                Edition there = editions.get(server);
                all &= !each.has(server) || there != null && there.isSame(each);
            }
            if (all) {
                return each;
            }
        }
        return null;
    }

    /** Whether a server of the edition is gone for good, though it may answer by now, and others can have its part. */
    boolean mustReplace(Edition present) {
        return present.servers(made) >= MapDescriptor.LEAST_REPLACING
                && editions.entrySet().stream()
                        .anyMatch(each -> present.has(each.getKey()) && (each.getValue().gone & ~present.retired) != 0);
    }

    /** The highest number of an edition. */
    public long newest() {
        return newestFirst().getFirst().number;
    }

    private List<Edition> newestFirst() {
        return editions.values().stream()
                .sorted(Comparator.comparingLong(Edition::number).reversed())
                .toList();
    }

    /** The latest edition that may be in use; null if there is none. */
    private @Nullable Edition used() {
        for (Edition each : newestFirst()) {
            // If a server of an edition is in another one, that edition was never used, or is not used any more.
            boolean used = editions.entrySet().stream()
                    .allMatch(there ->
                            !each.has(there.getKey()) || there.getValue().isSame(each));
            if (used) {
                return each;
            }
        }
        return null;
    }

    /**
     * The servers of which another one says that they have left, or that it uses them no more: they stay out, though
     * they may answer. A server that has left itself is not asked, as it may have missed what came since.
     */
    public long decided() {
        Edition used = used();
        long decided = 0;
        for (Map.Entry<Integer, Edition> each : editions.entrySet()) {
            Edition there = each.getValue();
            boolean counts = used != null
                    ? used.has(each.getKey())
                    : editions.values().stream()
                            .allMatch(other -> other.number <= there.number || other.has(each.getKey()));
            decided |= counts ? there.retired | there.gone : 0;
        }
        return decided;
    }

    /**
     * The others alone.
     *
     * @param decided servers that stay out
     * @throws MapException if there is none
     */
    public KnownEditions without(long decided) {
        TreeMap<Integer, Edition> left = new TreeMap<>(editions);
        left.keySet().removeIf(number -> number < Long.SIZE && (decided >>> number & 1) != 0);
        if (left.isEmpty()) {
            throw allHaveLeft();
        }
        return new KnownEditions(made, left);
    }

    private static MapException allHaveLeft() {
        return new MapException("all servers of the map that answer have left it; name the others");
    }

    /** The edition that the next one follows, but for the servers that leave: no process has used a later one. */
    public Edition base() {
        Edition used = used();
        if (used != null) {
            return used;
        }
        List<Edition> newestFirst = newestFirst();
        Edition oldest = newestFirst.getLast();
        if (newestFirst.stream().anyMatch(each -> each.number == oldest.number && each.id != oldest.id)) {
            throw new MapException(
                    "the map's servers that answer do not agree on which of them have the table: try again"
                            + " when the others answer");
        }
        return oldest;
    }

    /**
     * The servers that are to have left by the next edition, a bit for each: all but these.
     *
     * @param base {@linkplain #base of these}
     * @param decided servers that stay out
     * @param told those of the servers that stay out that answer, and take the next edition with the others: they are
     *     not lost
     * @param reached the numbers of all servers that answer
     * @param unreached how many others were named
     * @throws MapException if others are missing, or too many
     */
    public long lost(Edition base, long decided, long told, Set<Integer> reached, int unreached) {
        if (editions.keySet().stream().noneMatch(base::has)) {
            throw allHaveLeft();
        }
        int of = base.servers(made);
        long lost = 0;
        int missing = 0;
        for (int server = 0; server < made; server++) {
            if (editions.containsKey(server)) {
                continue;
            }
            if (server >= Long.SIZE) {
                throw new MapException("server " + server + " of the map is missing, and only the first " + Long.SIZE
                        + " of a map can be replaced");
            }
            lost |= 1L << server;
            boolean hasLeft = !base.has(server) || (decided >>> server & 1) != 0;
            missing += hasLeft || reached.contains(server) ? 0 : 1;
        }
        if (missing > unreached) {
            throw new MapException("the map was made on " + Plurals.of(made, "server") + ", and "
                    + (missing - unreached) + " of these were not named; name all of them");
        }
        boolean more = (lost & ~base.retired & ~told) != 0;
        if (more && (of < MapDescriptor.LEAST_REPLACING || 2 * editions.size() <= of)) {
            throw new MapException("of " + of + " servers that have the map's table " + editions.size()
                    + " answer; a lost one is replaced if there were at least " + MapDescriptor.LEAST_REPLACING
                    + " and more than half of them answer");
        }
        return lost;
    }
}
